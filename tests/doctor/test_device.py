from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.locks import FileLock
from dcu_asv_ext.doctor import device


@pytest.mark.parametrize("value", ["gpu", "", "cpu:1", "cuda:x"])
def test_a_bad_choice(value: str) -> None:
    found = device.check_choice({"DCU_ASV_DEVICE": value})
    assert found.state == "problem" and found.finding.startswith("DCU_ASV_DEVICE is ")


@pytest.mark.parametrize("environ", [{}, {"DCU_ASV_DEVICE": "cpu"}, {"DCU_ASV_DEVICE": "dcu:1"}])
def test_a_good_choice(environ: dict[str, str]) -> None:
    assert device.check_choice(environ).state == "ok"


def visible(kind: str = "dcu", **variables: str) -> str:
    environ = {f"{name.upper()}_VISIBLE_DEVICES": value for name, value in variables.items()}
    return device.check_visibility(environ, kind).state


def test_variables_that_contradict_each_other() -> None:
    assert visible(hip="2", rocr="2") == "problem"
    assert visible(hip="0,1", rocr="5") == "problem"
    assert visible(hip="0", rocr="5") == "warning"
    assert visible(hip="0", cuda="1") == "warning"
    assert visible(hip="") == visible(cuda="-1") == visible("cuda", cuda="") == "problem"


def test_variables_that_agree() -> None:
    assert visible() == visible(hip="6") == visible(hip="1", cuda="1") == visible(rocr="3") == "ok"
    assert visible("cpu", cuda="") == visible("cuda", hip="0", cuda="1") == "ok"


HOLD = """
import fcntl, sys
stream = open(sys.argv[1], "w")
fcntl.flock(stream, fcntl.LOCK_EX)
stream.write("process 4711\\n"); stream.flush()
print("held", flush=True)
sys.stdin.read()
"""


def test_the_cards_lock(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "card-gpu-0.lock")
    assert device.check_lock(None).state == device.check_lock(lock).state == "ok"
    assert not lock.path.exists(), "looking must not make the file"
    command = [sys.executable, "-c", HOLD, str(lock.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        found = device.check_lock(lock)
        assert found.state == "warning" and "process 4711" in found.finding
        other.communicate("")
    assert device.check_lock(lock).state == "ok"


def test_a_sentence_is_split_into_finding_and_remedy() -> None:
    assert device.split("it is so; do this, or that", "Else.") == ("it is so.", "Do this, or that.")
    assert device.split("it is so.", "Else.") == ("it is so.", "Else.")
