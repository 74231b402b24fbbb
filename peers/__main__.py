"""`make peers`: every claim beside a named peer's figure, both from one run."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from . import (
    asv_runs,
    card_sampling,
    change_points,
    decisions,
    evidence_size,
    gate_speed,
    loops,
    publishing,
    trace_reading,
)
from .report import Row, as_json, print_table

PARTS = (
    "asv",
    "loops",
    "card-sampling",
    "evidence-size",
    "trace-reading",
    "gate",
    "publish",
    "publish-long",
    "decisions",
    "change-points",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write the rows to FILE")
    parser.add_argument("--only", choices=PARTS, help="one part only")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("DCU_ASV_DATA"),
        metavar="DIR",
        help="folder of aa_pyperf.npz, aa_sandmark.npz and django_asv_results.tar.gz (default: DCU_ASV_DATA)",
    )
    options = parser.parse_args()
    if options.data is not None and not options.data.is_dir():
        parser.error(f"no such folder: {options.data}")
    parts = PARTS if options.only is None else (options.only,)
    rows: list[Row] = []
    if "loops" in parts:
        rows += [*loops.latency_rows(), loops.overhead_row(), loops.memory_row(), loops.import_row()]
    if "card-sampling" in parts:
        rows += card_sampling.rows()
    if "evidence-size" in parts:
        rows += evidence_size.rows()
    if "trace-reading" in parts:
        rows += trace_reading.rows()
    if "gate" in parts:
        rows += gate_speed.rows()
    if "publish" in parts:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            rows += publishing.rows(Path(folder), options.data)
    if "publish-long" in parts:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            rows += publishing.long_rows(Path(folder))
    if "asv" in parts:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            rows += asv_runs.rows(Path(folder))
    if "decisions" in parts:
        rows += decisions.timing_rows()
    if "change-points" in parts:
        rows += [*change_points.timing_rows(), *change_points.simulated_rows()]
    judged = {"decisions": decisions.rows, "change-points": change_points.rows}
    for part in parts:
        if part in judged and options.data is not None:
            rows += judged[part](options.data)
    if options.data is None and judged.keys() & set(parts):
        print("What needs real measurements is left out: name their folder by --data or DCU_ASV_DATA.")
    print_table(rows)
    if options.json:
        Path(options.json).write_text(as_json(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
