"""Seconds that `dcu-asv gate` takes over prepared results, files read and answer printed, after its imports."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

from dcu_asv_ext import cli
from tests.gates.candidates import Candidates, measured

from .report import Row

#: Six metrics each: 504 rows.
BENCHMARKS, METRICS = 84, 6
_TURNS = 3


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        seconds = _seconds(Path(folder))
    what = f"dcu-asv gate over {BENCHMARKS * METRICS} rows of 5 rounds, after import"
    return [Row(what, seconds, None, "s", 2.0)]


def _seconds(folder: Path) -> float:
    project = Candidates(folder)
    for place, commit in enumerate((project.base, project.candidate)):
        records = [
            one
            for number in range(BENCHMARKS)
            for one in measured(f"suite.step_{number}", seed=1000 * place + number, hours=place)
        ]
        project.keep(commit, records)
    here, taken = Path.cwd(), []
    os.chdir(project.suite)
    try:
        for _ in range(_TURNS + 1):
            begin = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                code = cli.main(["gate", project.base, project.candidate])
            taken.append(time.perf_counter() - begin)
            assert code == 0
    finally:
        os.chdir(here)
    return min(taken[1:])  # the first one imports; what else runs meanwhile only adds
