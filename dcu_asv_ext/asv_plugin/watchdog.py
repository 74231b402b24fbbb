"""A wall-clock limit: asv's own limit starts again whenever the child prints, so a chatty hang would never end."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

#: asv's own inactivity limit gets this head start: it reports a silent hang itself.
GRACE = 1.0


class Watchdog:
    """Kills the process group of the child that was started with `marker` in its command line.

    Only direct children of this process are looked at. `fired` tells whether it had to.
    """

    def __init__(self, marker: str, seconds: float) -> None:
        self.fired = False
        self._marker = marker.encode()
        self._timer = threading.Timer(seconds + GRACE, self._kill)
        self._timer.daemon = True

    def __enter__(self) -> Watchdog:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def _kill(self) -> None:
        for pid in children():
            with suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if self._marker in command:
                    self.fired = True
                    os.killpg(os.getpgid(pid), signal.SIGKILL)


def children() -> list[int]:
    """Direct children of this process, from /proc; empty where there is none."""
    me = str(os.getpid())
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The command name stands in parentheses and may hold anything; the parent's number follows it.
            if status.read_text(errors="replace").rpartition(")")[2].split()[1] == me:
                found.append(int(status.parent.name))
    return found
