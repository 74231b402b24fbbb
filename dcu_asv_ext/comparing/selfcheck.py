"""One commit compared with itself: how often this suite on this machine cries wolf, and what it can detect.

The rounds of a commit are split in halves, which differ in nothing; what the decision calls a change between them is
a false alarm. (Conbench, Criterion and others are checked so by hand: an A/A test.)
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..stats.verdicts import EQUIVALENCE, IMPROVEMENT, INCONCLUSIVE, MARGIN, NO_CHANGE, REGRESSION
from .deciding import report
from .model import OK, Key, ResultSet, Row, Series, Side
from .outcome import COMPARED

#: Fewest rounds: two a side, as one has no spread.
FEWEST_ROUNDS = 4
#: More splits than this tell hardly more: they share their rounds.
MOST_SPLITS = 60
POWER = 0.8
#: Rounds that differ by less (log) do not differ: most memory and error figures.
_NO_SPREAD = 1e-6
#: Level of the interval of a false-alarm rate.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Detection:
    """What one series can show. rounds: of the commit, and so of each side of a comparison with another one.

    spread: standard deviation between rounds, of the log. smallest: the ratio - 1 of the smallest slowdown that is
    called in 80 % of comparisons of so many rounds a side; 0 for exact metrics, None where none can be told, and for
    shares, whose changes are no ratios.
    alarms: share of the splits.
    """

    key: Key
    series: Series
    env: str
    rounds: int
    spread: float
    smallest: float | None
    alarms: float

    @property
    def varies(self) -> bool:
        return not self.series.exact and not self.series.points and self.spread > _NO_SPREAD


@dataclass(frozen=True)
class Rate:
    """A metric's decisions over all splits, as shares. alarms: regressions and improvements together, none of which
    is true, with a 95 % interval; benchmarks: how many series it rests on."""

    metric: str
    benchmarks: int
    alarms: float
    low: float
    high: float
    no_change: float
    inconclusive: float
    smallest: float | None


@dataclass
class SelfCheck:
    """splits: how many were compared, of `possible`. alarms: false alarms a comparison of the whole suite.
    refused: share of the splits that the session guard did not let pass. too_few: series with fewer than 4 rounds."""

    sets: Sequence[ResultSet]
    splits: int = 0
    possible: int = 0
    rates: list[Rate] = field(default_factory=list)
    detections: list[Detection] = field(default_factory=list)
    alarms: float = math.nan
    refused: float = math.nan
    too_few: int = 0
    margin: float = MARGIN
    equivalence: float = EQUIVALENCE
    seed: int = 0

    @property
    def median_smallest(self) -> float | None:
        return _median(one.smallest for one in self.detections if one.varies)

    def worst(self, number: int = 5) -> list[Detection]:
        """The least sensitive, where nothing can be detected first."""
        noisy = [one for one in self.detections if one.varies]
        return sorted(noisy, key=lambda one: -math.inf if one.smallest is None else -one.smallest)[:number]


def selfcheck(
    sets: Sequence[ResultSet],
    *,
    history: Sequence[ResultSet] = (),
    margin: float = MARGIN,
    equivalence: float = EQUIVALENCE,
    match: Callable[[Key], bool] | None = None,
    most: int = MOST_SPLITS,
    seed: int = 0,
) -> SelfCheck:
    """Decide on every split (or `most` random ones) of the rounds of `sets`, as if the halves were two commits.

    history: as in `deciding.report`. match: what is told of; all is decided on. A series needs 4 rounds; the others
    are counted in `too_few`.
    """
    made = SelfCheck(sets, margin=margin, equivalence=equivalence, seed=seed)
    sizes = {
        (one.env, key): len(one.sides[key].rounds) for one in sets for key in one.sides if _wanted(one, key)
    }
    usable = {place: size for place, size in sizes.items() if size >= FEWEST_ROUNDS}
    made.too_few = sum(match is None or match(key) for _, key in sizes.keys() - usable.keys())
    if not usable:
        return made
    orders, made.possible = splits(max(usable.values()), most, seed)
    made.splits = len(orders)
    reports = [
        report(
            [_half(one, usable, order, first=True) for one in sets],
            [_half(one, usable, order, first=False) for one in sets],
            history=history,
            margin=margin,
            equivalence=equivalence,
        )
        for order in orders
    ]
    rows: dict[tuple[str, Key], list[Row]] = {}
    for found in reports:
        found.rows = [row for row in found.rows if match is None or match(row.key)]
        for row in found.rows:
            rows.setdefault((row.env, row.key), []).append(row)
    made.detections = [_detection(key, env, same, made) for (env, key), same in sorted(rows.items())]
    made.rates = list(_rates(rows, made.detections))
    made.refused = statistics.fmean(bool(found.refused) for found in reports)
    made.alarms = statistics.fmean(sum(_alarm(row) for row in found.rows) for found in reports)
    return made


def _wanted(one: ResultSet, key: Key) -> bool:
    return one.sides[key].state == OK and not one.sides[key].conflict


def splits(rounds: int, most: int, seed: int) -> tuple[list[tuple[int, ...]], int]:
    """Orders of the rounds' places whose first half is one side: each way to halve them once, or `most` random ones;
    and how many ways there are."""
    half = rounds // 2
    # Of even numbers each split is there twice, sides swapped: keep the one with the first round in front.
    fixed = (0,) if rounds % 2 == 0 else ()
    others = range(len(fixed), rounds)
    possible = math.comb(len(others), half - len(fixed))
    if possible <= most:
        chosen = list(itertools.combinations(others, half - len(fixed)))
    else:
        draw = random.Random(seed)
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < most:
            drawn.add(tuple(sorted(draw.sample(others, half - len(fixed)))))
        chosen = sorted(drawn)
    orders = []
    for one in chosen:
        front = (*fixed, *one)
        orders.append((*front, *(place for place in range(rounds) if place not in front)))
    return orders, possible


def _half(
    one: ResultSet, usable: dict[tuple[str, Key], int], order: Sequence[int], *, first: bool
) -> ResultSet:
    sides = {key: _half_side(one.sides[key], order, first) for env, key in usable if env == one.env}
    return replace(one, sides=sides)


def _half_side(side: Side, order: Sequence[int], first: bool) -> Side:
    places = [place for place in order if place < len(side.rounds)]
    cut = len(places) // 2
    kept = sorted(places[:cut] if first else places[cut:])
    return replace(side, rounds=tuple(side.rounds[place] for place in kept))


def _alarm(row: Row) -> bool:
    return row.verdict in (REGRESSION, IMPROVEMENT)


def _detection(key: Key, env: str, rows: Sequence[Row], made: SelfCheck) -> Detection:
    one = rows[0]
    assert one.before is not None and one.after is not None
    rounds = len(one.before.rounds) + len(one.after.rounds)
    found = [row.comparison for row in rows if row.comparison is not None]
    # Halves that differ by chance have less spread within them: the mean of their variances is that of all rounds.
    spread = math.sqrt(statistics.fmean(each.spread**2 for each in found)) if found else math.nan
    lent = statistics.fmean(each.prior_df for each in found) if found else 0.0
    compared = [row for row in rows if row.verdict in COMPARED]
    alarms = statistics.fmean(_alarm(row) for row in compared) if compared else math.nan
    if one.series.points:
        smallest = None
    else:
        smallest = 0.0 if one.series.exact else _smallest(spread, lent, rounds, made.margin)
    return Detection(key, one.series, env, rounds, spread, smallest, alarms)


def _smallest(spread: float, lent: float, rounds: int, margin: float) -> float | None:
    from ..stats.power import smallest_change

    if not math.isfinite(spread):
        return None
    found = smallest_change(spread, rounds, margin=margin, lent=lent, assurance=POWER)
    return found if math.isfinite(found) else None


def _rates(rows: dict[tuple[str, Key], list[Row]], detections: Sequence[Detection]) -> Iterator[Rate]:
    for metric in dict.fromkeys(key.metric for _, key in rows):
        series = [
            compared
            for (_, key), same in rows.items()
            if key.metric == metric
            for compared in [[row.verdict for row in same if row.verdict in COMPARED]]
            if compared
        ]
        if not series:
            continue
        alarms = statistics.fmean(_share(one, REGRESSION, IMPROVEMENT) for one in series)
        low, high = rate_interval(alarms, len(series))
        yield Rate(
            metric,
            len(series),
            alarms,
            low,
            high,
            statistics.fmean(_share(one, NO_CHANGE) for one in series),
            statistics.fmean(_share(one, INCONCLUSIVE) for one in series),
            _median(one.smallest for one in detections if one.key.metric == metric),
        )


def _share(verdicts: Sequence[str], *counted: str) -> float:
    return statistics.fmean(one in counted for one in verdicts)


def rate_interval(rate: float, trials: int) -> tuple[float, float]:
    """95 % interval of a rate over so many independent series (Clopper and Pearson 1934).

    The splits of one series share its rounds, so a series counts as one trial, whatever the number of its splits;
    `rate * trials` need not be whole.
    """
    from scipy.special import betaincinv

    hits = rate * trials
    tail = (1 - _CONFIDENCE) / 2
    low = 0.0 if hits <= 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits >= trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def _median(values: Iterable[float | None]) -> float | None:
    """Of all, where "none can be told" is larger than any; None where that is the median."""
    known = [math.inf if value is None else value for value in values]
    middle = statistics.median(known) if known else math.inf
    return middle if math.isfinite(middle) else None
