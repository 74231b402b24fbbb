"""Where in a history the machine or its set-up became another one, and what moved with it."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .differences import of_machine, together
from .history import Change, Timeline, changes_of, series_of
from .identity import changed, told
from .model import Difference


@dataclass(frozen=True, eq=False)
class SetUpChange:
    """The first commit that was measured in another set-up than the one before.

    lines: the series that begin there; nothing is compared across. members: the change points that these and those
    before them, joined, have there: the set-up's, not the code's. beside: the set-up before goes on after it.
    """

    machine: str
    env: str
    place: int
    differences: tuple[Difference, ...]
    lines: tuple[Timeline, ...]
    members: tuple[Change, ...]
    beside: bool

    @property
    def after(self) -> int:
        return self.place - 1

    @property
    def upto(self) -> int:
        return self.place

    @property
    def ratio(self) -> float | None:
        """The middle of those of the members that have one; None for none."""
        ratios = self.ratios
        return statistics.median(ratios) if ratios else None

    @property
    def ratios(self) -> list[float]:
        """Shares, and what was 0 before, have none."""
        return [one.point.ratio for one in self.members if math.isfinite(one.point.ratio)]

    @property
    def size(self) -> float:
        return max((one.size for one in self.members), default=0.0)

    @property
    def sentence(self) -> str:
        """ "the machine changed here: device.driver was X, is Y"."""
        what = "the machine" if any(of_machine(one.name) for one in self.differences) else "the set-up"
        return f"{what} changed here: {told(self.differences)}"


def set_up_changes(
    lines: Iterable[Timeline], find: Callable[[Timeline], list[Change]] = changes_of
) -> list[SetUpChange]:
    """Oldest first, one for each commit of a machine and environment. find: finds the changes of a series."""
    pairs: dict[tuple[int, str, str], list[tuple[Timeline, Timeline]]] = defaultdict(list)
    for (machine, env, _), mine in series_of(lines).items():
        mine.sort(key=lambda line: line.places[0])
        for earlier, later in itertools.pairwise(mine):
            if (earlier.version, earlier.protocol) == (later.version, later.protocol):
                pairs[later.places[0], machine, env].append((earlier, later))
    return [_change(*where, both, find) for where, both in sorted(pairs.items(), key=lambda item: item[0])]


def _change(
    place: int,
    machine: str,
    env: str,
    pairs: list[tuple[Timeline, Timeline]],
    find: Callable[[Timeline], list[Change]],
) -> SetUpChange:
    return SetUpChange(
        machine,
        env,
        place,
        tuple(together(changed(earlier.set_up, later.set_up) for earlier, later in pairs)),
        tuple(later for _, later in pairs),
        tuple(one for pair in pairs if not _beside(*pair) for one in _moved(*pair, find)),
        any(_beside(*pair) for pair in pairs),
    )


def _beside(earlier: Timeline, later: Timeline) -> bool:
    return later.places[0] < earlier.places[-1]


def _moved(earlier: Timeline, later: Timeline, find: Callable[[Timeline], list[Change]]) -> list[Change]:
    """The change points of both together that can lie between them."""
    joined = Timeline(
        later.machine,
        later.env,
        later.key,
        later.series,
        earlier.places + later.places,
        earlier.values + later.values,
        later.version,
        later.protocol,
        later.set_up,
    )
    begin = len(earlier.values)
    return [one for one in find(joined) if one.point.first <= begin <= one.point.last]
