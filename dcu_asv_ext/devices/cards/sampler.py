"""Looking at a card while something else runs: by a process of its own, or by a thread where only this one can look.

Neither disturbs or breaks a measurement: nothing is waited for at the start, and at the end only so long.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .samples import Kept, Samples
from .source import Source

#: Seconds between two looks.
INTERVAL = 0.05
#: Seconds that an unfinished look gets at the end.
GRACE = 0.5
#: Beyond twice the grace, for handing over.
_HANDING = 2.0

#: Isolated and without site: it starts in a few hundredths of a second, whatever is installed. Low in priority first.
_PROGRAM = (
    "import os, sys; os.nice(5); sys.path.insert(0, sys.argv[1]); "
    "from dcu_asv_ext.devices.cards.watching import main; main(sys.argv[2:])"
)
_PACKAGE = Path(__file__).resolve().parents[3]


class Sampler:
    """A process that looks at a card until `stop`. Also whatever may crash or hang happens there.

    source: arguments of `finding.open_source`. interval: seconds; the source's own minimum where that is longer.
    grace: see GRACE; longer where one look is all that is wanted of a slow source.
    """

    def __init__(self, source: Sequence[str], interval: float = INTERVAL, grace: float = GRACE) -> None:
        self._grace = grace
        self._process: subprocess.Popen[bytes] | None = None
        self._failure = ""
        order = {
            "source": list(source),
            "interval": interval,
            "grace": grace,
            "process": os.getpid(),
        }
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGE), json.dumps(order)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError) as error:
            self._failure = f"the process that looks at the card could not be started ({error})"

    @property
    def pid(self) -> int | None:
        """The process's number, None where it could not be started."""
        return None if self._process is None else self._process.pid

    def stop(self) -> Samples:
        """What was seen; where the process failed, `reason` says how and when. Waits about 3 s at most."""
        process = self._process
        if process is None:
            return Samples(reason=self._failure)
        try:
            out, _ = process.communicate(b".", timeout=2 * self._grace + _HANDING)
        except subprocess.TimeoutExpired as late:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._grace)
            return _failed("did not answer", late.output or b"")
        return _understood(out, process.returncode)


def _understood(out: bytes, code: int) -> Samples:
    try:
        return Samples.from_plain(json.loads(out.splitlines()[-1])["samples"])
    except (IndexError, ValueError, KeyError, TypeError):
        return _failed(
            f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}", out
        )


def _failed(how: str, out: bytes) -> Samples:
    doing = ""
    for line in out.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            doing = f" while it asked {json.loads(line)['doing']}"
    return Samples(reason=f"the process that looks at the card {how}{doing}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ThreadSampler:
    """A thread of this process that looks at a card until `stop`: for passes in which nothing is timed."""

    def __init__(self, source: Source, interval: float = INTERVAL) -> None:
        self._source = source
        self._interval = max(interval, source.interval)
        self._kept = Kept()
        self._told = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            while True:
                begin = time.perf_counter()
                reading = self._source.read()
                end = time.perf_counter()
                self._kept.add((begin + end) / 2, reading)
                if self._told.wait(max(0.0, self._interval - (end - begin))):
                    return
        except Exception as fault:
            # Told with the samples: what was read before it stands.
            self._fault = f"{self._source.name} failed: {type(fault).__name__}: {fault}"

    def stop(self) -> Samples:
        self._told.set()
        self._thread.join(GRACE)
        reason = self._fault or (
            f"{self._source.name} did not end in time" if self._thread.is_alive() else ""
        )
        return self._kept.into(Samples(self._source.name, self._interval, reason=reason))
