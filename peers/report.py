"""One line of the table: ours, the peer's, their ratio, and what is to be reached."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """reach: the bound. `ratio` (or `ours`, where there is no peer) must be at most that, or within 1 +- reach.

    absolute: `ours` itself must be at most that, and the peer's figure stands beside it; at_least: at least that.
    Without a reach the figure is told, and nothing is to be reached.
    """

    what: str
    ours: float
    peer: float | None
    unit: str
    reach: float | None
    peer_name: str = ""
    both_sides: bool = False
    absolute: bool = False
    at_least: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.peer else self.ours

    @property
    def reached(self) -> bool:
        if self.reach is None:
            return True
        if self.at_least:
            return self.ours >= self.reach
        if self.both_sides:
            return abs(self.ratio - 1.0) <= self.reach
        return (self.ours if self.absolute else self.ratio) <= self.reach

    @property
    def bound(self) -> str:
        if self.reach is None:
            return ""
        if self.at_least or self.absolute:
            return f"{'>=' if self.at_least else '<='} {self.reach:g} {self.unit}".rstrip()
        return f"1 +- {self.reach:g}" if self.both_sides else f"<= {self.reach:g}"


def print_table(rows: list[Row]) -> None:
    width = max([len(row.what) for row in rows], default=0)
    print(f"{'what':{width}} {'ours':>12} {'peer':>12} {'ratio':>8} {'reach':>12}")
    for row in rows:
        peer = "" if row.peer is None else f"{row.peer:.4g} {row.unit}"
        ratio = "" if not row.peer else f"{row.ratio:.3f}"
        mark = "" if row.reached else "  not reached"
        print(
            f"{row.what:{width}} {f'{row.ours:.4g} {row.unit}':>12} {peer:>12} {ratio:>8} {row.bound:>12}{mark}"
        )
        if row.peer_name:
            print(f"    against {row.peer_name}")


def as_json(rows: list[Row]) -> str:
    return json.dumps([{**asdict(row), "ratio": row.ratio, "reached": row.reached} for row in rows], indent=1)
