"""All three gates over one comparison of two sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..comparing.deciding import report
from ..comparing.lending import Past
from ..comparing.model import Key, Report, ResultSet
from .correctness import correctness
from .model import Answer, Gate, place
from .performance import performance
from .policy import CORRECTNESS, PERFORMANCE, RESOURCES, Policy
from .resources import resources


def decide(
    before: Sequence[ResultSet],
    after: Sequence[ResultSet],
    policy: Policy,
    *,
    history: Sequence[Past] = (),
    vary: Sequence[str] = (),
    match: Callable[[Key], bool] | None = None,
    made: Report | None = None,
) -> Answer:
    """The answer for `after` against `before`.

    history, vary: as `comparing.deciding.report` takes them. match: which keys are looked at (None: all); all are
    compared, so that what is looked at does not change what is decided. made: a report of the same sides, history and
    `vary`, which serves where its margin and bound are those asked for.
    Raises ComparisonError where the sides share no environment, and for a wrong `vary`.
    """
    reports: dict[tuple[float, float], Report] = {}
    if made is not None:
        reports[made.settings["margin"], made.settings["equivalence"]] = made

    def by(margin: float, equivalence: float) -> Report:
        asked = margin, equivalence
        if asked not in reports:
            reports[asked] = report(
                before, after, history=history, vary=vary, margin=margin, equivalence=equivalence
            )
        return reports[asked]

    whole = by(policy.performance.margin, policy.performance.bound)
    rows = [row for row in whole.rows if match is None or match(row.key)]
    found = {
        CORRECTNESS: correctness(rows, before, after, policy),
        PERFORMANCE: performance(rows, before, after, by, policy),
        RESOURCES: resources(rows, before, after, policy),
    }
    gates = [Gate(name, sorted(ones, key=place)) for name, ones in found.items()]
    return Answer(
        before, after, gates, whole.differences, whole.refused, list(whole.notes), dict(whole.settings)
    )
