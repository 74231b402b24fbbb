"""What both sides of an experiment have measured so far, as a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..asv_plugin.interleaving import Function
from ..asv_plugin.results import load_file
from ..comparing.deciding import report as decide
from ..comparing.differences import differences
from ..comparing.facts import all_facts
from ..comparing.model import OK, Key, Report, ResultSet, Side
from ..stats.verdicts import EQUIVALENCE, MARGIN
from .experiment import Arm, Experiment
from .looks import spend


@dataclass(frozen=True)
class Rule:
    """How the report is made: deciding.report's own options. history: earlier results in commit order."""

    margin: float = MARGIN
    equivalence: float = EQUIVALENCE
    vary: Sequence[str] = ()
    history: Sequence[ResultSet] = ()


def compare(experiment: Experiment, rule: Rule, share: float) -> Report:
    """By a share of the level.

    Raises ResultsError where a file cannot be read, ComparisonError where nothing was measured on a side.
    """
    back = {theirs: ours for ours, theirs in experiment.partner.items()}
    before = result_sets(experiment.before, experiment.functions, lambda name: back[name])
    after = result_sets(experiment.after, experiment.functions, lambda name: name)
    vary = set(rule.vary)
    if experiment.one_tree:
        vary |= caused(before, after)
    made = decide(
        before,
        after,
        history=rule.history,
        vary=sorted(vary),
        margin=rule.margin,
        equivalence=rule.equivalence,
    )
    spend(made, share)
    commits = {one.commit for one in rule.history}
    made.settings = {**made.settings, "history": len(commits - {one.commit for one in (*before, *after)})}
    return made


def result_sets(arm: Arm, functions: dict[str, Function], called: Callable[[str], str]) -> list[ResultSet]:
    """One set an environment, of the chosen functions alone. called: what a function is called in the report."""
    found = []
    for env, place in arm.side.files:
        if not place.is_file():
            continue
        whole = load_file(place)
        keys = {key: _chosen(key, arm, functions) for key in whole.sides}
        renamed = {
            key: Key(called(function), key.metric, key.params)
            for key, function in keys.items()
            if function is not None
        }
        found.append(
            replace(
                whole,
                sides={new: _side(key, whole, arm, functions, key != new) for key, new in renamed.items()},
                series={new: whole.series[key] for key, new in renamed.items() if key in whole.series},
                env=env,
                commit=arm.commit,
                label=arm.label,
                dirty=bool(arm.side.marks.get("dirty")),
            )
        )
    return found


def _chosen(key: Key, arm: Arm, functions: dict[str, Function]) -> str | None:
    """The function that a key belongs to; None where it was not to be measured."""
    indices = arm.selection.get(key.benchmark)
    if indices is None:
        return None
    combinations = functions[key.benchmark].combinations
    return key.benchmark if any(combinations[index] == key.params for index in indices) else None


def _side(key: Key, whole: ResultSet, arm: Arm, functions: dict[str, Function], renamed: bool) -> Side:
    side = whole.sides[key]
    function = functions[key.benchmark]
    if not function.ours and side.state == OK:
        kept = arm.side.rounds[whole.env, key.benchmark, function.combinations.index(key.params)]
        side = replace(side, rounds=tuple(kept), notes=())
    # Two functions have two versions, and that they differ is the experiment.
    return replace(side, version=None) if renamed else side


def caused(before: Sequence[ResultSet], after: Sequence[ResultSet]) -> set[str]:
    """The facts that differ between two measurements of one tree in one session: what is compared made them so."""
    found = set()
    for one, other in zip(before, after, strict=False):
        for key in set(one.sides) & set(other.sides):
            left, right = one.sides[key], other.sides[key]
            if left.rounds and right.rounds:
                facts = (all_facts(one.facts, left.facts), all_facts(other.facts, right.facts))
                found |= {each.name for each in differences(*facts) if each.matters}
    return found
