"""Small trace files for the tests of `dcu-asv profile`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.trace.building import Building

#: Microseconds of a step.
STEP = 100


def hip(steps: int = 4, **header: Any) -> Building:
    """Steps with three kernels of 20 us, of which the last two wait for an `.item()` between them."""
    made = Building(**header)
    for number in range(steps):
        begin = 10 + number * STEP
        made.span(f"ProfilerStep#{number}", begin, begin + 98)
        made.operator("aten::mm", begin, begin + 6)
        made.launch(begin + 1, begin + 7, begin + 27, took=4)
        made.operator("aten::item", begin + 8, begin + 40)
        made.copies("CopyDeviceToHost", (begin + 9, begin + 38), (begin + 30, begin + 34), size=4)
        for first in (begin + 45, begin + 70):
            made.operator("aten::add", first, first + 6)
            made.launch(first + 1, first + 7, first + 27 - 7, took=4)
    return made


def cpu(steps: int = 4) -> Building:
    """No row of a device, and no call of a runtime."""
    made = Building()
    made.header = {"schemaVersion": 1}
    for number in range(steps):
        begin = 10 + number * STEP
        made.span(f"ProfilerStep#{number}", begin, begin + 98)
        made.operator("aten::mm", begin, begin + 60)
    return made


def device_only() -> Building:
    """Kernels alone, as of a profile of activities of the device."""
    made = Building(deviceProperties=[{"id": 0, "name": "Some Card"}])
    made.events.clear()
    for number in range(3):
        made.kernel(10 + 20 * number, 20 + 20 * number)
    return made


def written(made: Building, path: Path) -> Path:
    """Compressed where the name ends so."""
    text = json.dumps({**made.header, "traceEvents": made.events})
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path
