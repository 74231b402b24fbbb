"""Locks between runs: exclusive, gone with their process, and named after the card that is really used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.locks import (
    FileLock,
    Held,
    card_lock,
    lock_folder,
    physical_card,
    result_lock,
)

HOLDER = """
import sys, time
from pathlib import Path
from dcu_asv_ext.asv_plugin.locks import FileLock
lock = FileLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Any:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "a.lock")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_held_lock_is_refused_with_its_holder(tmp_path: Path, holder: Any) -> None:
    with pytest.raises(Held, match=f"^process {holder.pid}$"):
        FileLock(tmp_path / "a.lock").acquire()


def test_the_end_of_a_process_frees_its_lock(tmp_path: Path, holder: Any) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    lock = FileLock(tmp_path / "a.lock")
    lock.acquire()
    assert lock.holder() == f"process {os.getpid()}"
    lock.release()


def test_waiting_is_told_once_and_ends_when_the_lock_is_free(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    first.acquire()
    told: list[str] = []
    waiting = threading.Event()

    def wait(text: str) -> None:
        told.append(text)
        waiting.set()

    waiter = threading.Thread(target=second.acquire, args=(wait,))
    waiter.start()
    assert waiting.wait(10)
    waiter.join(0.1)
    assert waiter.is_alive()
    first.release()
    waiter.join(10)
    assert not waiter.is_alive()
    assert told == [f"process {os.getpid()}"]
    with pytest.raises(Held):
        first.acquire()
    second.release()


def test_a_free_lock_is_taken_without_a_word(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "deep" / "a.lock")
    lock.acquire(_never)
    lock.release()
    lock.release()
    lock.acquire(_never)
    lock.release()


def _never(text: str) -> None:
    raise AssertionError(text)


def test_a_file_replaced_between_opening_and_locking_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.lock"
    plain: Callable[[FileLock], int] = FileLock._descriptor
    opened = []

    def replaced_after_opening(self: FileLock) -> int:
        descriptor = plain(self)
        opened.append(descriptor)
        if len(opened) == 1:
            path.unlink()
            path.write_text("somebody else's")
        return descriptor

    monkeypatch.setattr(FileLock, "_descriptor", replaced_after_opening)
    lock = FileLock(path)
    lock.acquire()
    assert len(opened) == 2
    assert path.read_text() == f"process {os.getpid()}\n"
    with pytest.raises(Held):
        FileLock(path).acquire()
    lock.release()


def test_another_users_lock_file_can_be_locked_in_a_sticky_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux's fs.protected_regular refuses O_CREAT there on a file that is another's."""
    path = tmp_path / "a.lock"
    FileLock(path).acquire()
    assert path.stat().st_mode & 0o777 == 0o666, "everybody may lock it"
    plain = os.open

    def protected(name: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT and Path(name).exists():
            raise PermissionError(13, "Permission denied", str(name))
        return plain(name, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", protected)
    lock = FileLock(path)
    lock.acquire()
    lock.release()


def test_a_link_in_the_lock_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "a.lock").acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_an_unreadable_note_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert FileLock(path).holder() == "another process"
    path.write_text("process 12; rm -rf")
    assert FileLock(path).holder() == "another process"


def test_the_folder_is_everybodys(own_locks: Path) -> None:
    assert lock_folder() == own_locks / "dcu-asv-locks"
    assert lock_folder().stat().st_mode & 0o7777 == 0o1777


def test_a_result_file_has_one_lock_by_whatever_path(own_locks: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    one, other = tmp_path / "real" / "a.evidence.jsonl", tmp_path / "real" / "b.evidence.jsonl"
    assert result_lock(one).path == result_lock(tmp_path / "link" / one.name).path
    assert result_lock(one).path != result_lock(other).path


@pytest.mark.parametrize(
    ("environ", "card"),
    [
        ({}, "gpu-0"),
        ({"DCU_ASV_DEVICE": "cuda"}, "gpu-0"),
        ({"DCU_ASV_DEVICE": "cuda:3"}, "gpu-3"),
        ({"HIP_VISIBLE_DEVICES": "6"}, "gpu-6"),
        ({"HIP_VISIBLE_DEVICES": "6, 2", "DCU_ASV_DEVICE": "cuda:1"}, "gpu-2"),
        ({"CUDA_VISIBLE_DEVICES": "5,4"}, "gpu-5"),
        ({"HIP_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"}, "gpu-1"),
        ({"HIP_VISIBLE_DEVICES": "", "CUDA_VISIBLE_DEVICES": "7"}, "gpu-7"),
        ({"ROCR_VISIBLE_DEVICES": "3"}, "gpu-3"),
        ({"ROCR_VISIBLE_DEVICES": "3,5", "HIP_VISIBLE_DEVICES": "1"}, "gpu-5"),
        ({"ROCR_VISIBLE_DEVICES": "3", "HIP_VISIBLE_DEVICES": "0"}, "gpu-3"),
        ({"HIP_VISIBLE_DEVICES": "GPU-5a1c,GPU-77b0", "DCU_ASV_DEVICE": "cuda:1"}, "gpu-GPU-77b0"),
        ({"CUDA_VISIBLE_DEVICES": "MIG-9"}, "gpu-MIG-9"),
        ({"HIP_VISIBLE_DEVICES": "2", "DCU_ASV_DEVICE": "cuda:4"}, "gpu-4"),
    ],
)
def test_the_card_is_named_as_it_is_outside_this_process(environ: dict[str, str], card: str) -> None:
    assert physical_card("dcu", environ) == card


def test_a_simulated_card_is_no_real_one(own_locks: Path) -> None:
    assert physical_card("sim", {"HIP_VISIBLE_DEVICES": "3"}) == "sim-0"
    one, two = card_lock("dcu", {}), card_lock("sim", {})
    assert one is not None
    assert two is not None
    assert one.path != two.path


def test_the_cpu_is_shared_by_nature(own_locks: Path) -> None:
    assert card_lock("cpu", {"HIP_VISIBLE_DEVICES": "3"}) is None


def test_eight_runs_with_a_card_each_do_not_meet(own_locks: Path) -> None:
    held = []
    for number in range(8):
        lock = card_lock("dcu", {"HIP_VISIBLE_DEVICES": str(number)})
        assert lock is not None
        lock.acquire(_never)
        held.append(lock)
    again = card_lock("hip", {"CUDA_VISIBLE_DEVICES": "7"})
    assert again is not None
    with pytest.raises(Held):
        again.acquire()
    for lock in held:
        lock.release()
