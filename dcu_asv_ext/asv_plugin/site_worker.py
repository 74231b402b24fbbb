"""A process that works beside the one that forked it, and leaves nothing behind whatever ends either of them.

It has no use for what the parent makes meanwhile, and takes its memory and its faults to itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

#: Told by the parent once its own part is done.
_DONE = b"."
#: Of the parent's own part, what the worker may take beyond what it must where there is one processor for both.
_SHARE = 0.2
#: Steps by which it then gives way to others.
_LOW = 10

#: Makes something, asking now and then whether it may go on with what is optional; its notes.
Task = Callable[[Callable[[], bool]], list[str]]


class WorkerError(Exception):
    """The task was not done; the text says why, in one sentence without a full stop."""


class Worker:
    """at_once: begin when it is made, beside the parent; else when the parent waits for it."""

    def __init__(self, task: Task, at_once: bool) -> None:
        self._task = task
        self._began = monotonic()
        self._pid: int | None = None
        self._ends: list[int] = []
        if at_once:
            self._fork(None)

    def finish(self) -> list[str]:
        """The notes of the task, which is waited for. Raises WorkerError."""
        if self._pid is None:
            self._fork(monotonic() + _SHARE * (monotonic() - self._began))
        control, answers = self._ends
        with suppress(BrokenPipeError):
            os.write(control, _DONE)
        told = b"".join(iter(lambda: os.read(answers, 1 << 16), b""))
        status = self._reap()
        try:
            answer = json.loads(told)
        except ValueError:
            raise WorkerError(_ended(status)) from None
        if answer["fault"]:
            raise WorkerError(answer["fault"])
        return [str(one) for one in answer["notes"]]

    def stop(self) -> None:
        """End it at once, if it is still there."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._reap()

    def _fork(self, deadline: float | None) -> None:
        """deadline: moment up to which the worker may go on with what is optional, None: until the parent is done."""
        their_control, control = os.pipe()
        answers, their_answers = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as fault:
            _close(control, answers, their_control, their_answers)
            raise WorkerError(_told(fault)) from None
        if not pid:
            _close(control, answers)
            _work(self._task, _Control(their_control, deadline), their_answers, parent)
        _close(their_control, their_answers)
        self._pid, self._ends = pid, [control, answers]

    def _reap(self) -> int:
        assert self._pid is not None
        _, status = os.waitpid(self._pid, 0)
        self._pid = None
        _close(*self._ends)
        return status


@contextmanager
def at_work(task: Task) -> Iterator[Worker]:
    """A worker, which is no more when the block ends, however it ends."""
    worker = Worker(task, at_once=processors() > 1)
    try:
        yield worker
    finally:
        worker.stop()


def processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _close(*ends: int) -> None:
    for end in ends:
        os.close(end)


class _Control:
    """The parent's end of the pipe, as the worker sees it."""

    def __init__(self, end: int, deadline: float | None) -> None:
        self._end, self._deadline = end, deadline
        self._asked = self._done = False

    def may_go_on(self) -> bool:
        if not self._asked:
            # From here on it does what nobody waits for.
            self._asked = True
            os.nice(_LOW)
        if not self._done and select.select([self._end], [], [], 0)[0]:
            if os.read(self._end, 1) != _DONE:
                os._exit(1)  # the parent is gone
            self._done = True
        return not self._done if self._deadline is None else monotonic() < self._deadline


def _work(task: Task, control: _Control, answers: int, parent: int) -> NoReturn:
    """In the forked process, which must never return into what its parent was about to do."""
    try:
        _die_with(parent)
        # A terminal interrupts both; the parent then ends this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(nowhere, stream)
        answer: dict[str, Any] = {"notes": [], "fault": ""}
        try:
            answer["notes"] = task(control.may_go_on)
        except BaseException as fault:
            answer["fault"] = _told(fault)
        left = memoryview(json.dumps(answer).encode())
        while left:
            left = left[os.write(answers, left) :]
    finally:
        os._exit(0)


def _die_with(parent: int) -> None:
    """Let the kernel end this process when its parent is gone, on systems that can; elsewhere it ends when it next
    asks whether it may go on."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _told(fault: BaseException) -> str:
    if isinstance(fault, MemoryError):
        return "there is not enough memory"
    if isinstance(fault, OSError):
        return " ".join(str(fault).split())
    place = traceback.extract_tb(fault.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"a fault of dcu-asv: {type(fault).__name__}: {' '.join(str(fault).split())} in {where}"


def _ended(status: int) -> str:
    """Of a process that ended without an answer."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(ValueError):
            why = "; mostly that is a machine without enough memory" if number == signal.SIGKILL else ""
            return f"the process that made them was ended by {signal.Signals(number).name}{why}"
        return f"the process that made them was ended by signal {number}"
    return f"the process that made them ended with status {os.waitstatus_to_exitcode(status)}"
