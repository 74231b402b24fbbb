"""The wall-clock limit: a child that keeps printing is ended, with everything it started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from asv import util

from dcu_asv_ext.asv_plugin import watchdog
from dcu_asv_ext.asv_plugin.watchdog import Watchdog, children

CHATTY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "w").write(str(child.pid))
while True:
    print("still here", flush=True)
    time.sleep(0.05)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    end = time.monotonic() + 5
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "GRACE", 0.1)


def test_a_chatty_child_is_ended_at_the_limit_and_its_group_with_it(tmp_path: Path) -> None:
    """Run by asv's own means, whose limit starts again at each line that is printed."""
    marker = str(tmp_path / "result")
    begin = time.monotonic()
    with Watchdog(marker, 1.5) as dog:
        out, _, code = util.check_output(
            [sys.executable, "-c", CHATTY, marker],
            timeout=30,
            dots=False,
            display_error=False,
            return_stderr=True,
            redirect_stderr=True,
            valid_return_codes=None,
        )
    assert dog.fired
    assert code == -9
    assert 1.5 <= time.monotonic() - begin < 20
    assert "still here" in out
    assert gone(int((tmp_path / "result").read_text()))


def test_a_child_in_time_is_left_alone(tmp_path: Path) -> None:
    with Watchdog(str(tmp_path / "result"), 0.2) as dog:
        assert subprocess.run([sys.executable, "-c", "", str(tmp_path / "result")]).returncode == 0
    time.sleep(0.5)
    assert not dog.fired


def test_only_the_child_that_was_started_for_this_result_is_ended(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)", str(tmp_path / "result-2")],
        start_new_session=True,
    )
    try:
        with Watchdog(str(tmp_path / "result"), 0.1) as dog:
            time.sleep(0.6)
        assert other.poll() is None
        assert not dog.fired
    finally:
        other.kill()
        other.wait()


def test_children_are_the_direct_ones_alone(tmp_path: Path) -> None:
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    process = subprocess.Popen([sys.executable, "-c", nested], start_new_session=True)
    try:
        end = time.monotonic() + 10
        while not _children_of(process.pid) and time.monotonic() < end:
            time.sleep(0.02)
        (grandchild,) = _children_of(process.pid)
        assert process.pid in children()
        assert grandchild not in children()
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    assert process.pid not in children()


def _children_of(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
