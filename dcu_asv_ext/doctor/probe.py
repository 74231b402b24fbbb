"""The child process that touches the device: `python -m dcu_asv_ext.doctor.probe`.

Prints one JSON line a stage, as soon as it is done, so that a hang or a crash shows where it happened.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import IO, Any

#: In this order; what the doctor says of one that did not come.
STAGES = {
    "torch": "importing torch",
    "device": "opening the device",
    "metrics": "asking the device what it measures",
    "timing": "timing work on the device",
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dcu_asv_ext.doctor.probe")
    parser.add_argument("--no-timing", action="store_true", help="leave the device idle")
    options = parser.parse_args(argv)
    # Whatever torch or a driver prints goes to stderr: the lines of the answer stay whole.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        _probe(answers, timing=not options.no_timing)
    except Exception as error:
        _tell(answers, "error", {"kind": type(error).__name__, "text": str(error)})
        traceback.print_exc()
        return 1
    return 0


def _probe(answers: IO[str], timing: bool) -> None:
    from ..devices import select

    try:
        from ..measure import asynchrony  # imports torch
    except (ImportError, OSError):
        select()  # says in one sentence why torch cannot be imported
        raise
    _tell(answers, "torch", {"version": sys.modules["torch"].__version__})
    device = select()
    _tell(answers, "device", {**device.describe(), "asynchronous": device.asynchronous})
    _tell(answers, "metrics", device.metric_support())
    if timing:
        _tell(answers, "timing", dataclasses.asdict(asynchrony.time_both_ways(device)))


def _tell(answers: IO[str], stage: str, content: dict[str, Any]) -> None:
    answers.write(json.dumps({"stage": stage, "content": content}, default=str) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
