"""`make peers`: every speed claim as a ratio, ours and the peer's in one run."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from . import asv_runs, loops
from .report import Row, as_json, print_table


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write the rows to FILE")
    parser.add_argument("--only", choices=("asv", "loops"), help="one part only")
    options = parser.parse_args()
    rows: list[Row] = []
    if options.only in (None, "loops"):
        rows += [*loops.latency_rows(), loops.overhead_row(), loops.memory_row(), loops.import_row()]
    if options.only in (None, "asv"):
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            rows += asv_runs.rows(Path(folder))
    print_table(rows)
    if options.json:
        Path(options.json).write_text(as_json(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
