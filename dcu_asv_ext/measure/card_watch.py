"""The card beside a measurement: looked at before, during and after its passes. Nothing here can fail it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..devices.base import Device, NotMeasured
from ..devices.cards.finding import files_of
from ..devices.cards.processes import Company, look_around
from ..devices.cards.sampler import Sampler
from ..devices.cards.samples import Samples
from ..devices.cards.source import Reading
from ..devices.cards.sysfs import SysfsCard
from ..evidence.record import Measurement
from .passes import Run
from .sampled import contention, describe_state, summarise


class CardWatch:
    """One measurement's looks at its card, and when its passes began and ended.

    Made when the measurement begins, started when the device is known. A card with files in sysfs is looked at by
    this process too, before and after; any other only by the sampler's, whose first and last reading count.
    """

    def __init__(self, record: Measurement, quick: bool) -> None:
        self._record, self._quick = record, quick
        self._began = time.perf_counter()
        self._load = round(os.getloadavg()[0], 2)
        self._sampler: Sampler | None = None
        self._card: SysfsCard | None = None
        self._before: tuple[Reading, Company] | None = None
        self._started = False

    def start(self, device: Device) -> None:
        """A quick measurement is no evidence of speed: nothing is sampled then."""
        self._started = True
        try:
            arguments = device.card_arguments()
        except NotMeasured as missing:
            if not self._quick:
                self._record.sampled = {"missing": missing.reason}
            return
        # What torch itself tells is not asked: asking would make the device's context early.
        self._card = files_of(arguments)
        self._before = self._look()
        if not self._quick:
            self._sampler = Sampler(arguments)

    def during(self, name: str, part: Callable[[Run], Any], run: Run) -> Any:
        """Runs a part of the measurement, and keeps when. One that has nothing to do never says its stage."""
        stage, run.stage = run.stage, ""
        begin = time.perf_counter()
        try:
            return part(run)
        finally:
            if run.stage:
                end = time.perf_counter()
                self._record.spans[name] = [round(one - self._began, 4) for one in (begin, end)]
            else:
                run.stage = stage

    def finish(self) -> None:
        """Fills the record's `sampled` and `state`, and says in its notes what speaks against its figures."""
        if not self._started:
            return
        record, after = self._record, self._look()
        samples = Samples() if self._sampler is None else self._sampler.stop()
        if self._sampler is not None:
            record.sampled = summarise(samples, record.spans, self._began)
        if self._before is not None and after is not None:
            record.state = describe_state(self._before[0], after[0], [self._before[1], after[1]], self._load)
        else:
            record.state = describe_state(
                *_first_and_last(samples), [samples.before, samples.after], self._load
            )
        record.notes += record.sampled.get("marks", [])
        note = contention(record.state)
        if note is not None:
            record.notes.append(note)

    def _look(self) -> tuple[Reading, Company] | None:
        if self._card is None:
            return None
        _, address, root = self._card.arguments
        return self._card.read(), look_around(address, os.getpid(), Path(root))


def _first_and_last(samples: Samples) -> tuple[Reading | None, Reading | None]:
    return (samples.readings[0], samples.readings[-1]) if samples.readings else (None, None)
