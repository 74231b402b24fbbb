"""What an asv process holds while it measures: its card, its scratch folder, its children's environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from asv import util

from dcu_asv_ext.asv_plugin import running
from dcu_asv_ext.asv_plugin.locks import card_lock
from dcu_asv_ext.asv_plugin.running import Runs
from dcu_asv_ext.asv_plugin.settings import Settings

from .fakes import Desk

pytestmark = pytest.mark.usefixtures("own_locks")

SCRATCH = """
import os, signal, sys
from dcu_asv_ext.asv_plugin.running import Runs
runs = Runs()
folder = runs.folder()
(folder / "file").write_text("")
print(folder, flush=True)
sys.stdin.readline()
"""


def scratch_of_a_run(ended: bool) -> tuple[subprocess.Popen[str], Path]:
    code = SCRATCH + ("os.kill(os.getpid(), signal.SIGKILL)\n" if ended else "sys.stdin.readline()\n")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    if ended:
        process.stdin.write("\n")
        process.stdin.flush()
        process.wait()
    return process, folder


def test_scratch_of_a_killed_run_is_swept_and_that_of_a_living_one_is_not(own_locks: Path) -> None:
    killed, left = scratch_of_a_run(ended=True)
    living, used = scratch_of_a_run(ended=False)
    (own_locks / "dcu-asv-run-being-made").mkdir()
    try:
        assert left.parent == own_locks
        assert killed.returncode == -9
        runs = Runs()
        folder = runs.folder()
        assert not left.exists()
        assert (used / "file").exists()
        assert (own_locks / "dcu-asv-run-being-made").exists()
        assert folder.is_dir()
    finally:
        living.communicate("\n\n")
    assert not used.exists(), "a run that ends clears away itself"


def test_the_card_is_taken_once_and_refused_with_its_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "6")
    first, second = Runs(), Runs()
    refuse = Settings(card="refuse")
    first._take_card("dcu", refuse)
    first._take_card("dcu", refuse)
    with pytest.raises(
        util.UserError, match=rf"held by process {os.getpid()}; .*HIP_VISIBLE_DEVICES.*share_card"
    ):
        second._take_card("dcu", refuse)
    second._take_card("dcu", Settings(share_card=True))
    second._take_card("cpu", refuse)
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "5")
    second._take_card("dcu", refuse)


def test_waiting_for_a_card_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    holder = card_lock("dcu", {})
    assert holder is not None
    holder.acquire()

    def info(text: str) -> None:
        said.append(text)
        holder.release()

    monkeypatch.setattr(running.log, "info", info)
    monkeypatch.delenv("DCU_ASV_DEVICE", raising=False)
    for name in ("HIP", "CUDA", "ROCR"):
        monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
    Runs()._take_card("dcu", Settings())
    assert said == [f"dcu-asv: the card is held by process {os.getpid()}; waiting for it to be free"]


def test_the_environment_of_children_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/the/users/own")
    monkeypatch.delenv("MIOPEN_USER_DB_PATH", raising=False)
    before = dict(os.environ)
    runs, desk = Runs(), Desk(tmp_path)
    with pytest.raises(KeyboardInterrupt), runs.entered(desk.sharing, {"quick": True}):
        assert runs.active
        assert runs.quick
        assert runs.current() is desk.sharing
        assert os.environ["TRITON_CACHE_DIR"].startswith(str(desk.sharing.cache_root))
        assert os.environ["DCU_ASV_PARENT_PID"] == str(os.getpid())
        raise KeyboardInterrupt
    assert not runs.active
    assert dict(os.environ) == before
