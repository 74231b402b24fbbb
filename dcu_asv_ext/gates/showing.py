"""What of an answer is shown to people, and what is folded into a counted line: shared by text and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..comparing import figures
from ..comparing.showing import short
from ..stats.verdicts import IMPROVEMENT
from .model import FAILED, INCONCLUSIVE, PASSED, TOLD, Answer, Figures, Finding, Gate
from .policy import ERROR

#: So many findings of one kind are shown each, the others are counted.
MOST = 8
#: So many benchmarks are named in a line.
_NAMES = 3
#: A finding that decides nothing is shown by itself where its figures say something.
_SHOWN_WORDS = frozenset({IMPROVEMENT, "prototype", "regression", "lighter", "likely faster"})


@dataclass(frozen=True)
class Group:
    """Findings of one outcome and word. shown: each by itself; folded: in one counted line each."""

    word: str
    outcome: str
    shown: Sequence[Finding]
    folded: Sequence[str]

    @property
    def common(self) -> str:
        """The reason that all shown ones have; "" where they differ."""
        reasons = {explained(one) for one in self.shown}
        return reasons.pop() if len(reasons) == 1 else ""


def groups(gate: Gate, everything: bool = False) -> list[Group]:
    """In the order of what matters."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for one in gate.findings:
        alike.setdefault((one.outcome, one.word), []).append(one)
    return [_group(outcome, word, found, everything) for (outcome, word), found in alike.items()]


def _group(outcome: str, word: str, found: Sequence[Finding], everything: bool) -> Group:
    matters = outcome not in (PASSED, TOLD) or word in _SHOWN_WORDS
    by_size = sorted(found, key=_size, reverse=True) if matters else found
    number = len(found) if everything else MOST if matters else 0
    shown, rest = by_size[:number], by_size[number:]
    by: dict[tuple[str, str], list[Finding]] = {}
    for one in rest:
        by.setdefault((one.metric, one.reason if outcome == TOLD else ""), []).append(one)
    more = "more " if shown else ""
    return Group(word, outcome, shown, [fold(ones, more) for ones in by.values()])


def _size(one: Finding) -> float:
    found = one.figures
    if found is None or not found.ratio > 0 or math.isinf(found.ratio):
        return math.inf
    return abs(math.log(found.ratio))


def fold(found: Sequence[Finding], more: str = "") -> str:
    """`12 of latency, ratios 0.998 to 1.003`; `3 benchmarks: the reason (a, b, c)`."""
    first = found[0]
    if not first.name and len(found) == 1 and not first.metric:
        return first.reason
    of = f" of {first.metric}" if first.metric not in ("", ERROR) else ""
    text = f"{len(found):,} {more}".rstrip() + (of or (" benchmark" if len(found) == 1 else " benchmarks"))
    ratios = [one.figures.ratio for one in found if one.figures and not math.isnan(one.figures.ratio)]
    if first.outcome != TOLD and ratios:
        ends = dict.fromkeys((figures.ratio(min(ratios)), figures.ratio(max(ratios))))
        return f"{text}, {'ratio' if len(ends) == 1 else 'ratios'} {' to '.join(ends)}"
    names = list(dict.fromkeys(one.name for one in found if one.name))
    told = ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if names[_NAMES:] else "")
    reason = f": {first.reason}" if first.outcome == TOLD and first.reason else ""
    return f"{text}{reason}" + (f" ({told})" if told else "")


def explained(one: Finding) -> str:
    """The reason, and what was asked where that was not met, or not surely."""
    if one.outcome not in (FAILED, INCONCLUSIVE) or not one.rule:
        return one.reason
    return f"{one.reason}; asked: {one.rule}" if one.reason else f"asked: {one.rule}"


def called(one: Finding) -> str:
    """`gemm.matmul(n=256) latency`, with its environment where several are compared."""
    env = f" [{one.env}]" if one.env else ""
    return f"{one.name}{env} {one.metric}".strip()


def levels(found: Figures | None) -> tuple[str, str]:
    return ("", "") if found is None else figures.pair(found.before, found.after, found.unit)


def interval(found: Figures | None) -> str:
    if found is None or math.isnan(found.ratio):
        return ""
    if found.exact and found.before is not None and found.after is not None:
        return figures.exactly(found.before, found.after, found.unit)
    return figures.interval(found.ci_low, found.ci_high)


def ratio(found: Figures | None) -> str:
    return "" if found is None or math.isnan(found.ratio) else figures.ratio(found.ratio)


def rounds(found: Figures | None) -> str:
    return "" if found is None or not any(found.rounds) else f"{found.rounds[0]}+{found.rounds[1]}"


def headline(answer: Answer) -> str:
    """The one line that says it: `passed`; `stopped by correctness and resources`; `inconclusive: ...`."""
    if answer.outcome == PASSED:
        return PASSED
    if answer.outcome != INCONCLUSIVE:
        names = [
            one.name if one.outcome == FAILED else f"{one.name} ({one.outcome})" for one in answer.stopped_by
        ]
        return f"stopped by {_joined(names)}"
    how = " (--rerun measures interleaved rounds)" if answer.can_rerun else ""
    return f"{INCONCLUSIVE}: {_what_settles(answer.open_findings)}{how}"


def _what_settles(open_ones: Sequence[Finding]) -> str:
    known = [one.rounds_needed for one in open_ones if one.rounds_needed]
    names = list(dict.fromkeys(one.name for one in open_ones))
    told = names[0] if len(names) == 1 else f"{len(names)} benchmarks"
    if len(known) < len(open_ones):
        return f"more rounds of sessions apart would hardly settle {told}"
    upto = "up to " if len(set(known)) > 1 else ""
    return f"{upto}{figures.count(max(known), 'more round')} a side of {told} would settle it"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def title(answer: Answer) -> tuple[str, str]:
    """How both sides are called."""
    return short(answer.before), short(answer.after)
