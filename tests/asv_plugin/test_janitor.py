"""What a killed run leaves behind: nothing, however it started its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin import janitor

OWNER = """
import subprocess, sys, time
from pathlib import Path
from dcu_asv_ext.asv_plugin import janitor
folder = Path(sys.argv[1])
kept = janitor.start(folder)
child = subprocess.Popen(
    [sys.executable, "-c", "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); "
     "print(p.pid, flush=True); time.sleep(60)"],
    stdout=subprocess.PIPE, start_new_session=True, text=True,
)
(folder / "measure-1").mkdir()
(folder / "measure-1" / janitor.GROUP).write_text(str(child.pid))
print(child.pid, child.stdout.readline().strip(), kept.pid, flush=True)
time.sleep(float(sys.argv[2]))
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(pids: list[int], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_owner_takes_its_groups_and_its_folder_along(tmp_path: Path, how: signal.Signals) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder), "60"], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    pids = [int(text) for text in owner.stdout.readline().split()]
    assert all(alive(pid) for pid in pids)
    owner.send_signal(how)
    owner.wait()
    assert gone(pids), "the child, what it started, and the janitor itself"
    assert not folder.exists()


def test_a_group_that_is_not_written_down_is_left_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    keeper = janitor.start(tmp_path / "nothing")
    assert keeper.stdin is not None
    keeper.stdin.close()
    assert keeper.wait(timeout=20) == 0
    assert alive(bystander.pid)
    os.kill(bystander.pid, signal.SIGKILL)
    bystander.wait()
