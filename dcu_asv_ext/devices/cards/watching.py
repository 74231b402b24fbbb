"""The process that looks at a card beside a measurement: `main` is all that it runs.

It imports nothing heavy, keeps its readings in memory, and hands them over once, when it is told to end. A library
or a tool that hangs is waited for only so long; whatever it does to this process, the measurement goes on.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import IO, Any

from ..base import NotMeasured
from .finding import open_source
from .processes import Company, look_around
from .samples import Kept, Samples
from .source import Source

#: A look takes at most this share of the time, whatever interval was asked for.
_BUSY = 0.2


class _Stop(BaseException):
    """Breaks off a look that lasts too long. No Exception, so that no source takes it for a fault of its own."""


class Watch:
    """One stretch of looking.

    order: source (its arguments), interval, process (the number of the one that measures), grace (seconds that an
    unfinished look gets when the end is told, twice: once to finish, once to give up).
    answers: where one JSON line goes for each step, and the last one with everything.
    """

    def __init__(self, order: dict[str, Any], answers: IO[str]) -> None:
        self._order, self._answers = order, answers
        self._told, self._finished = threading.Event(), threading.Event()
        self._handing = threading.Lock()
        self._kept, self._samples = Kept(), Samples()
        self._doing = "starting"
        self._orphaned = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._give_up)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._look()
        except NotMeasured as missing:
            self._samples.reason = missing.reason
        except _Stop:
            self._samples.reason = f"{self._doing} did not end in time"
        self._finished.set()
        self._hand_over()

    def _give_up(self, number: int, frame: object) -> None:
        if not self._finished.is_set():
            raise _Stop

    def _listen(self) -> None:
        """Ends the looking when the measuring process says so, or is gone: its end of the pipe is closed then."""
        os.read(0, 1)
        self._told.set()
        if self._finished.wait(self._order["grace"]):
            return
        os.kill(os.getpid(), signal.SIGTERM)
        if self._finished.wait(self._order["grace"]):
            return
        # Stuck in a library, which no signal handler interrupts.
        self._samples.reason = f"{self._doing} did not end in time"
        self._hand_over()
        os._exit(0)

    def _look(self) -> None:
        source = open_source(*self._order["source"], trying=self._step)
        self._samples.source = source.name
        self._samples.interval = interval = max(source.interval, self._order["interval"])
        self._samples.before = self._company(source)
        while True:
            took = self._read(source)
            if self._told.wait(max(interval - took, took * (1 / _BUSY - 1))):
                break
            if os.getppid() != self._order["process"]:
                # Workers that the measuring process forked may hold its end of the pipe open.
                self._orphaned = True
                return
        if took < self._order["grace"] / 4:
            self._read(source)
            self._samples.after = self._company(source)

    def _read(self, source: Source) -> float:
        begin = time.perf_counter()
        reading = source.read()
        end = time.perf_counter()
        self._kept.add((begin + end) / 2, reading)
        return end - begin

    def _company(self, source: Source) -> Company | None:
        if len(source.arguments) != 3:
            return None
        _, address, root = source.arguments
        lists = getattr(source, "processes", None)
        return look_around(address, self._order["process"], Path(root), lists)

    def _step(self, doing: str) -> None:
        self._doing = doing
        self._tell({"doing": doing})

    def _hand_over(self) -> None:
        with self._handing:
            if not self._orphaned:
                self._tell({"samples": self._kept.into(self._samples).to_plain()})

    def _tell(self, what: dict[str, Any]) -> None:
        try:
            self._answers.write(json.dumps(what) + "\n")
            self._answers.flush()
        except BrokenPipeError:
            # The measuring process is gone, and with it everybody who wants to know.
            self._orphaned = True


def main(argv: list[str]) -> None:
    """argv: the order as JSON."""
    # Ctrl-C is for the measuring process, which then tells this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a library prints must not get between the answers.
    os.dup2(2, 1)
    Watch(json.loads(argv[0]), answers).run()
