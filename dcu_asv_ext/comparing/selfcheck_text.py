"""A self-check for the terminal, and as plain objects for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from . import as_json, figures, showing
from .selfcheck import FEWEST_ROUNDS, POWER, Detection, Rate, SelfCheck

_GAP = "  "
#: So many series are named.
_LISTED = 5
_SHARED = (
    "The halves share their build, their machine and mostly their session: what differs between those comes on top "
    "in a comparison of two commits, unless their rounds are interleaved."
)


def render(found: SelfCheck, width: int = 100) -> str:
    blocks = [
        list(_head(found, width)),
        list(_rates(found)),
        list(_alarms(found)),
        list(_worst(found)),
        list(_foot(found, width)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(found: SelfCheck, width: int) -> Iterator[str]:
    yield f"self-check of {showing.side_name(found.sets)}"
    rounds = sorted({one.rounds for one in found.detections})
    if not rounds:
        yield from textwrap.wrap(
            f"no benchmark has the {FEWEST_ROUNDS} rounds that it takes, two a side; "
            "asv run --append-samples measures more",
            width,
        )
        return
    many = str(rounds[0]) if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
    ways = figures.count(found.splits, "way")
    if found.splits < found.possible:
        ways = f"{found.splits} of {found.possible:,} ways, drawn at random (seed {found.seed})"
    yield from textwrap.wrap(
        f"{many} rounds of each benchmark, split in halves in {ways}; nothing differs between the halves.",
        width,
    )


def _rates(found: SelfCheck) -> Iterator[str]:
    if not found.rates:
        return
    rows: list[Sequence[str]] = [
        (
            "metric",
            "benchmarks",
            "false alarms",
            "95 % interval",
            "no change",
            "inconclusive",
            "smallest change",
        )
    ]
    rows += [_cells(one) for one in found.rates]
    yield from _table(rows)


def _cells(one: Rate) -> tuple[str, ...]:
    return (
        one.metric,
        str(one.benchmarks),
        _share(one.alarms),
        f"{_share(one.low)} to {_share(one.high)}",
        _share(one.no_change),
        _share(one.inconclusive),
        _change(one.smallest),
    )


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _change(smallest: float | None) -> str:
    if smallest is None:
        return "none"
    if smallest == 0:
        return "any"
    return f"+{figures.percent(smallest)}" if smallest < 2 else f"x{1 + smallest:.3g}"


def _alarms(found: SelfCheck) -> Iterator[str]:
    """The series that cried wolf, most often first."""
    wolves = sorted((one for one in found.detections if one.alarms > 0), key=lambda one: -one.alarms)
    if wolves:
        yield "false alarms came from:"
        rows = [(_name(one), f"{_share(one.alarms)} of the splits") for one in wolves[:_LISTED]]
        yield from (f"  {line}" for line in _table(rows))
    if len(wolves) > _LISTED:
        yield f"  and {figures.count(len(wolves) - _LISTED, 'other')}"


def _worst(found: SelfCheck) -> Iterator[str]:
    worst = found.worst(_LISTED)
    if not worst:
        return
    yield f"smallest change: called in {100 * POWER:.0f} % of comparisons of one benchmark, as many rounds a side"
    yield f"  median of what varies: {_change(found.median_smallest)}; the least sensitive:"
    rows = [_detection(one) for one in worst]
    yield from (f"  {line}" for line in _table(rows))


def _name(one: Detection) -> str:
    return f"{figures.name(one.key, one.series)} {one.key.metric}" + (f" [{one.env}]" if one.env else "")


def _detection(one: Detection) -> tuple[str, ...]:
    return (
        _name(one),
        _change(one.smallest),
        f"{one.rounds} rounds that differ by {figures.percent(one.spread)}",
    )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(figures.columns(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [figures.left(row[0], widths[0])]
        cells += [figures.right(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield _GAP.join(cells).rstrip()


def _foot(found: SelfCheck, width: int) -> Iterator[str]:
    if found.too_few:
        yield from textwrap.wrap(
            f"{figures.count(found.too_few, 'series', 'series')} left out: fewer than {FEWEST_ROUNDS} rounds.",
            width,
        )
    if not found.detections:
        return
    yield from textwrap.wrap(
        f"{found.alarms:.2g} false alarms a comparison of the whole suite; the session guard refused "
        f"{figures.percent(found.refused)} of the comparisons.",
        width,
    )
    yield from textwrap.wrap(_SHARED, width)


def as_object(found: SelfCheck, exit_code: int) -> dict[str, Any]:
    """For strict JSON; shares are fractions of 1, a change is ratio - 1."""
    return {
        "commit": as_json.side(found.sets),
        "splits": found.splits,
        "possible_splits": found.possible,
        "seed": found.seed,
        "false_alarms_per_comparison": as_json.number(found.alarms),
        "refused": as_json.number(found.refused),
        "power": POWER,
        "median_smallest_change": found.median_smallest,
        "metrics": [
            {
                "metric": one.metric,
                "benchmarks": one.benchmarks,
                "false_alarms": one.alarms,
                "ci_low": one.low,
                "ci_high": one.high,
                "no_change": one.no_change,
                "inconclusive": one.inconclusive,
                "median_smallest_change": one.smallest,
            }
            for one in found.rates
        ],
        "benchmarks": [
            {
                "benchmark": one.key.benchmark,
                "metric": one.key.metric,
                "params": as_json.params(one.key, one.series),
                "env": one.env,
                "rounds": one.rounds,
                "spread": as_json.number(one.spread),
                "smallest_change": one.smallest,
                "false_alarms": as_json.number(one.alarms),
            }
            for one in found.detections
        ],
        "too_few_rounds": found.too_few,
        "settings": {"margin": found.margin, "equivalence": found.equivalence},
        "exit_code": exit_code,
    }
