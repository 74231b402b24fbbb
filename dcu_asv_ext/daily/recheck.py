"""Two commits measured afresh and by turns, to settle what their results left open.

The rounds are planned before the first of them and looked at once, after the last (or when the budget is spent, which
does not depend on what they show): so no stricter level is needed, as it is where one stops when one likes what one
sees. They stand for themselves, and are not added to the earlier ones, from which their session may differ too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..asv_plugin.hooks import EXISTING_RANGE
from ..asv_plugin.interleaving import Bench, Side
from ..asv_plugin.run_folders import new_folder
from ..comparing.figures import count as counted
from ..comparing.model import Key, ResultSet
from ..comparing.model import Side as Measured
from .choice import choose, count
from .experiment import Arm, Experiment, ExperimentError
from .looks import Schedule
from .loop import Limits, Loop, Outcome
from .measured import Rule, compare, result_sets
from .session import Lane


@dataclass(frozen=True)
class Wanted:
    """base, candidate: full hashes; labels: how the user calls them. names: `module.function(parameters)`.
    machine: that the earlier results are of. rounds: of each side. budget: seconds."""

    base: str
    candidate: str
    labels: tuple[str, str]
    names: Sequence[str]
    machine: str
    rounds: int
    budget: float
    config: str | None = None
    rule: Rule = field(default_factory=Rule)


@dataclass(frozen=True)
class Rechecked:
    """before, after: what was measured, one set an environment. folder: where the raw data lies."""

    before: Sequence[ResultSet]
    after: Sequence[ResultSet]
    outcome: Outcome
    folder: Path


def recheck(wanted: Wanted, tell: Callable[[str], None]) -> Rechecked:
    """tell: gets lines for the user. Changes to the configuration's folder.

    Raises ChoiceError, ComparisonError, ExperimentError, MeasuringError and ResultsError.
    """
    bench = Bench.open(wanted.config)
    here = str(bench.machine["machine"])
    if here != wanted.machine:
        raise ExperimentError(f"the results are of the machine {wanted.machine}, and this one is {here}")
    if bench.existing:
        raise ExperimentError(EXISTING_RANGE.removeprefix("dcu-asv: "))
    folder = new_folder(bench.settles_in)
    bench.settle(folder)
    found = _prepare(bench, wanted, tell)
    loop = Loop(
        Lane(found.before, found.partner),
        Lane(found.after, found.partner),
        found.partner,
        Limits(Schedule(wanted.rounds, wanted.rounds), wanted.budget),
        lambda share: compare(found, wanted.rule, share),
        tell,
    )
    outcome = loop.run()
    before, after = (result_sets(arm, found.functions, str) for arm in (found.before, found.after))
    return Rechecked(before, after, outcome, folder)


def _prepare(bench: Bench, wanted: Wanted, tell: Callable[[str], None]) -> Experiment:
    sides = []
    for commit, label in zip((wanted.base, wanted.candidate), wanted.labels, strict=True):
        environments = bench.environments()
        tell(f"Installing {label} ({commit[:8]})")
        bench.install(environments, commit)
        sides.append(Side(bench, environments, commit))
    base, candidate = sides
    functions = {one.name: one for one in bench.discover(candidate.environments, candidate.commit)}
    selection = choose(list(functions.values()), wanted.names)
    tell(
        f"{wanted.labels[1]} against {wanted.labels[0]}: {counted(len(selection), 'function')}, "
        f"{counted(count(selection), 'measurement')} a round and side"
    )
    return Experiment(
        Arm(base, selection, wanted.labels[0], wanted.base),
        Arm(candidate, selection, wanted.labels[1], wanted.candidate),
        functions,
        {name: name for name in selection},
        one_tree=False,
        title="",
    )


def renewed(sets: Sequence[ResultSet], fresh: Sequence[ResultSet]) -> list[ResultSet]:
    """The sets with what was measured afresh in place of the earlier results of the same benchmarks.

    One environment on each side is the same whatever it is called.
    """
    if len(sets) == len(fresh) == 1:
        return [_renewed(sets[0], fresh[0])]
    by_env = {one.env: one for one in fresh}
    return [_renewed(one, by_env[one.env]) if one.env in by_env else one for one in sets]


def _renewed(one: ResultSet, fresh: ResultSet) -> ResultSet:
    again = {(key.benchmark, key.params) for key in fresh.sides}
    kept = {key: side for key, side in one.sides.items() if (key.benchmark, key.params) not in again}
    sides: Mapping[Key, Measured] = {**kept, **fresh.sides}
    # A record's parameters go by name, a key's by place.
    old = [
        record
        for record in one.records
        if (record["benchmark"], tuple(record["params"].values())) not in again
    ]
    return replace(one, sides=sides, series={**one.series, **fresh.series}, records=[*old, *fresh.records])
