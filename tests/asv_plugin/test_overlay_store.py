"""Who may use, replace and remove the commit environments of one folder."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.overlay_store import CommitStore, InUse

A, B, C = (letter * 40 for letter in "abc")


def made(store: CommitStore, commit: str, checksum: str = "x", when: float | None = None) -> None:
    lease = store.begin(commit)
    store.complete(lease, {"commit": commit, "checksum": checksum})
    lease.release()
    if when is not None:
        os.utime(lease.folder / ".lock", (when, when))


def test_an_install_counts_only_when_it_is_complete(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    assert store.lease(A, "x") is None
    begun = store.begin(A)
    assert store.lease(A, "x") is None
    store.complete(begun, {"commit": A, "checksum": "x"})
    lease = store.lease(A, "x")
    assert lease is not None
    assert lease.record["commit"] == A
    assert store.lease(A, "other configuration") is None
    assert store.lease(A[:12] + B[12:], "x") is None


def test_an_interrupted_install_is_replaced_by_an_empty_folder(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    begun = store.begin(A)
    (begun.folder / "half").write_text("")
    begun.release()
    (tmp_path / ".trash-left-over").mkdir()
    assert [p.name for p in store.begin(A).folder.iterdir()] == [".lock"]
    assert not list(tmp_path.glob(".trash-*"))


def test_an_environment_in_use_is_not_replaced(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    made(store, A)
    first, second = store.lease(A, "x"), store.lease(A, "x")
    assert first and second
    first.release()
    with pytest.raises(InUse):
        store.begin(A)
    second.release()
    store.begin(A)


def test_a_fork_that_lives_on_does_not_keep_the_lease(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    made(store, A)
    lease = store.lease(A, "x")
    assert lease
    child = multiprocessing.get_context("fork").Process(target=threading.Event().wait, args=(30,))
    child.start()
    try:
        lease.release()
        store.begin(A)
    finally:
        child.kill()
        child.join()


def test_the_least_recently_used_go_first_and_those_in_use_stay(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    (tmp_path / "project").mkdir()
    for commit, when in ((A, 1000), (B, 2000), (C, 3000)):
        made(store, commit, when=when)
    used = store.lease(A, "x")  # the oldest by making, the latest by use
    assert used
    store.prune(2)
    assert {p.name for p in tmp_path.iterdir()} == {"project", A[:12], C[:12]}
    store.prune(0)
    assert {p.name for p in tmp_path.iterdir()} == {"project", A[:12]}


def test_a_lock_on_a_removed_environment_is_worth_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is replaced between opening its lock and taking it."""
    store = CommitStore(tmp_path)
    made(store, A)
    taken = fcntl.flock

    def replace_first(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", taken)
        made(store, A)
        taken(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", replace_first)
    assert store.lease(A, "x") is None
    assert store.lease(A, "x") is not None


def test_exclusive_waits_and_says_so_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from dcu_asv_ext.asv_plugin.overlay_store import CommitStore\n"
        f"with CommitStore(Path({str(tmp_path)!r})).exclusive(lambda: None):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin and holder.stdout
    holder.stdout.readline()
    said: list[str] = []

    def waiting() -> None:
        said.append("waiting")
        assert holder.stdin
        holder.stdin.close()

    with CommitStore(tmp_path).exclusive(waiting):
        assert said == ["waiting"]
    assert holder.wait(10) == 0


def test_what_a_worker_installed_is_told_to_its_owner_once(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    store.announce(os.getpid() + 1, "env", B)
    store.announce(os.getpid(), "env", A)
    assert store.announced("other") is None
    assert store.announced("env") == A
    assert store.announced("env") is None
