"""A process beside the publish: its notes come back, its faults are told, and nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin import site_worker
from dcu_asv_ext.asv_plugin.site_worker import Worker, WorkerError, at_work

GoOn = Callable[[], bool]


@pytest.fixture(params=[1, 2], ids=["one processor", "two processors"])
def processors(request: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(site_worker, "processors", lambda: request.param)
    found: int = request.param
    return found


def alive(pid: int) -> bool:
    """A child that was waited for is gone."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_notes_come_back_and_nothing_stays(processors: int) -> None:
    before = open_files()
    many = [f"note {number} {'x' * 100} 版本" for number in range(3000)]
    with at_work(lambda may_go_on: [str(os.getpid()), *many]) as worker:
        pid, *notes = worker.finish()
    assert notes == many and int(pid) != os.getpid() and not alive(int(pid))
    assert open_files() == before


def test_it_may_go_on_until_the_parent_is_done(tmp_path: Path) -> None:
    ready = tmp_path / "ready"

    def task(may_go_on: GoOn) -> list[str]:
        asked = [may_go_on()]
        ready.touch()
        while may_go_on():
            pass
        return [str([*asked, may_go_on(), may_go_on()])]

    worker = Worker(task, at_once=True)
    while not ready.exists():
        os.sched_yield()
    assert worker.finish() == ["[True, False, False]"]


def test_it_gives_way_once_it_does_what_is_optional(processors: int) -> None:
    def task(may_go_on: GoOn) -> list[str]:
        before = os.nice(0)
        for _ in range(3):
            may_go_on()
        return [str(before), str(os.nice(0))]

    with at_work(task) as worker:
        before, after = map(int, worker.finish())
    assert before == os.nice(0) and after == min(before + 10, 19)


def test_with_one_processor_it_begins_afterwards_and_has_a_share_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(site_worker, "monotonic", lambda: now)

    def task(may_go_on: GoOn) -> list[str]:
        nonlocal now
        answers = []
        for moment in (100.0, 119.0, 121.0):
            now = moment
            answers.append(may_go_on())
        return [str(answers)]

    worker = Worker(task, at_once=False)
    now = 100.0
    assert worker.finish() == ["[True, True, False]"]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (OSError(28, "No space left on device", "data.js"), "[Errno 28] No space left on device: 'data.js'"),
        (MemoryError(), "there is not enough memory"),
        (ValueError("two\nlines"), "a fault of dcu-asv: ValueError: two lines in test_site_worker.py, line "),
        (SystemExit(3), "a fault of dcu-asv: SystemExit: 3 in test_site_worker.py, line "),
    ],
)
def test_a_fault_is_one_sentence(processors: int, fault: BaseException, told: str) -> None:
    def task(may_go_on: GoOn) -> list[str]:
        raise fault

    with pytest.raises(WorkerError) as raised, at_work(task) as worker:
        worker.finish()
    assert str(raised.value).startswith(told) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "ended by SIGKILL; mostly that is a machine without"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "ended by SIGTERM"),
        (lambda: os._exit(7), "ended with status 7"),
    ],
)
def test_a_process_that_is_killed_is_told(processors: int, end: Callable[[], None], told: str) -> None:
    with pytest.raises(WorkerError, match=told), at_work(lambda may_go_on: end() or []) as worker:
        worker.finish()


def test_what_ends_the_parent_s_part_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "pid"

    def task(may_go_on: GoOn) -> list[str]:
        (tmp_path / "new").write_text(str(os.getpid()))
        (tmp_path / "new").rename(place)
        while True:
            signal.pause()

    monkeypatch.setattr(site_worker, "processors", lambda: 2)
    with pytest.raises(KeyboardInterrupt), at_work(task):
        while not place.exists():
            os.sched_yield()
        raise KeyboardInterrupt
    assert not alive(int(place.read_text()))


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere it ends when it next asks whether it may go on"
)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_does_not_outlive_a_parent_that_is_killed(number: int) -> None:
    script = textwrap.dedent(
        """
        import os, signal, sys
        from dcu_asv_ext.asv_plugin import site_worker
        site_worker.processors = lambda: 2
        def task(may_go_on):
            os.write(told, b"%d\\n" % os.getpid())
            while True:
                signal.pause()
        told = os.dup(1)
        with site_worker.at_work(task) as worker:
            worker.finish()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.send_signal(number)
        # Its end of the pipe is the child's too: both are gone when nothing more can come.
        assert parent.stdout.read() == b""
        assert parent.wait() != 0


def test_a_process_that_cannot_be_made_is_told(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise OSError(12, "Cannot allocate memory")

    before = open_files()
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(WorkerError, match="Cannot allocate memory"), at_work(lambda may_go_on: []) as worker:
        worker.finish()
    assert open_files() == before


def test_the_console_is_the_parent_s(capfd: pytest.CaptureFixture[str], processors: int) -> None:
    def task(may_go_on: GoOn) -> list[str]:
        os.write(1, b"from the worker")
        return []

    os.write(1, b"before, ")
    with at_work(task) as worker:
        assert worker.finish() == []
    os.write(1, b"after")
    assert capfd.readouterr().out == "before, after"
