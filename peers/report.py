"""One line of the table: ours, the peer's, their ratio, and what is to be reached."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """reach: the bound; `ratio` (or `ours`, where there is no peer) must be at most that, or within 1 +- reach."""

    what: str
    ours: float
    peer: float | None
    unit: str
    reach: float
    peer_name: str = ""
    both_sides: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.peer else self.ours

    @property
    def reached(self) -> bool:
        return abs(self.ratio - 1.0) <= self.reach if self.both_sides else self.ratio <= self.reach


def print_table(rows: list[Row]) -> None:
    print(f"{'what':58} {'ours':>12} {'peer':>12} {'ratio':>8} {'reach':>9}")
    for row in rows:
        peer = "" if row.peer is None else f"{row.peer:.4g} {row.unit}"
        ratio = "" if row.peer is None else f"{row.ratio:.3f}"
        bound = f"1 +- {row.reach:g}" if row.both_sides else f"<= {row.reach:g}"
        mark = "" if row.reached else "  not reached"
        print(f"{row.what:58} {f'{row.ours:.4g} {row.unit}':>12} {peer:>12} {ratio:>8} {bound:>9}{mark}")
        if row.peer_name:
            print(f"    against {row.peer_name}")


def as_json(rows: list[Row]) -> str:
    return json.dumps([{**asdict(row), "ratio": row.ratio, "reached": row.reached} for row in rows], indent=1)
