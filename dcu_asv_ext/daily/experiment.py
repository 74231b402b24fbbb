"""What is compared with what: the working tree with a commit, two functions of it, two values of a variable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..asv_plugin.hooks import EXISTING_RANGE
from ..asv_plugin.interleaving import Bench, Function, Selection, Side
from ..comparing.figures import count as counted
from .choice import ChoiceError, choose, count, hint, one_function
from .snapshot import Snapshot, take_snapshot

#: They choose what is measured on, and asv's process goes by them too.
_DEVICE_CHOICE = frozenset(
    {
        *("DCU_ASV_DEVICE", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
        *("HCU_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
    }
)


class ExperimentError(Exception):
    """What was asked for cannot be compared; the text is one sentence."""


@dataclass(frozen=True)
class Variable:
    """An environment variable's two values; None: not set."""

    name: str
    before: str | None
    after: str | None

    def label(self, value: str | None) -> str:
        return f"{self.name} not set" if value is None else f"{self.name}={value}"


@dataclass(frozen=True)
class Arm:
    """One side of an experiment. label: what a report calls it. commit: what a reader knows it by."""

    side: Side
    selection: Selection
    label: str
    commit: str


@dataclass(frozen=True)
class Experiment:
    """functions: of the suite, by name. partner: function of `after` -> the function of `before` it is compared with.

    one_tree: both sides are the same code, so that whatever differs between them is the experiment.
    """

    before: Arm
    after: Arm
    functions: dict[str, Function]
    partner: dict[str, str]
    one_tree: bool
    title: str


def parse_variable(given: Sequence[str]) -> Variable:
    """`NAME=A,B`, or `NAME=A` and `NAME=B` where a value has a comma. Raises ExperimentError."""
    names = {one.partition("=")[0] for one in given}
    values = [one.partition("=")[2] for one in given]
    if not all("=" in one for one in given):
        raise ExperimentError(
            f"--variant {given[0]}: a function's variant is a label, and does not say of what it is one; compare two "
            "functions with --against FUNCTION, and two values of an environment variable with --variant NAME=A,B"
        )
    if len(given) == 1 and values[0].count(",") == 1:
        values = values[0].split(",")
    name = names.pop()
    if names or len(values) != 2:
        raise ExperimentError(
            "--variant takes two values of one variable, NAME=A,B (an empty one: not set); where a value has a "
            "comma, give it twice: --variant NAME=A --variant NAME=B"
        )
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ExperimentError(f"--variant: {name!r} is no name of an environment variable")
    if name in _DEVICE_CHOICE:
        raise ExperimentError(f"--variant {name}: it chooses the device, and both sides are measured on one")
    if values[0] == values[1]:
        raise ExperimentError(
            f"--variant {name}: both values are {values[0]!r}, so there is nothing to compare"
        )
    return Variable(name, values[0] or None, values[1] or None)


def prepare(
    bench: Bench,
    names: Sequence[str],
    against: str | None,
    variable: Variable | None,
    environ: dict[str, str],
    tell: Any,
) -> Experiment:
    """Install both sides, discover the suite and choose from it; `tell` is given lines for the user.

    Raises ExperimentError, ChoiceError, SnapshotError and MeasuringError.
    """
    tree = working_tree(bench, environ)
    for note in tree.notes:
        tell(f"note: {note}")
    revision = bench.resolve(against) if against is not None else None
    if against is None and variable is None:
        against, revision = _default_base(bench, tree)
    if revision is not None:
        _check_revision(bench, tree, str(against), revision)
    environments = bench.environments((variable.name, variable.after) if variable is not None else None)
    tell(f"Installing {tree_name(bench, tree)}")
    bench.install(environments, tree.commit)
    found = bench.discover(environments, tree.commit)
    if not found:
        raise ExperimentError(f"the suite in {bench.conf.benchmark_dir} has no benchmarks")
    functions = {one.name: one for one in found}
    marks: dict[str, Any] = {"dirty": True, "head": tree.head} if tree.dirty else {}
    selection = choose(found, names)
    if variable is not None:
        return _of_variable(bench, tree, variable, environments, marks, functions, selection)
    after = Side(bench, environments, tree.commit, marks)
    if revision is None:
        return _of_functions(bench, tree, after, functions, selection, str(against))
    tell(f"Installing {against} ({revision[:8]})")
    base = Side(bench, bench.environments(), revision)
    bench.install(base.environments, revision)
    return Experiment(
        Arm(base, selection, str(against), revision),
        Arm(after, selection, "working tree", tree.head),
        functions,
        {name: name for name in selection},
        one_tree=False,
        title=f"{tree_name(bench, tree)} against {against} ({revision[:8]}): {_amount(selection)}; the benchmarks "
        "are the working tree's on both sides",
    )


def working_tree(bench: Bench, environ: dict[str, str]) -> Snapshot:
    """What is measured where no commit is named. Raises ExperimentError and SnapshotError."""
    if not bench.existing:
        return take_snapshot(bench.working_tree, bench.made_by_asv, environ)
    head = bench.resolve("HEAD")
    if head is None:
        raise ExperimentError(f"{bench.working_tree} has no commit yet: commit something first")
    return Snapshot(head, head)


def tree_name(bench: Bench, tree: Snapshot) -> str:
    """What a reader calls it."""
    if bench.existing:
        return "what is installed beside asv"
    return f"the working tree ({'changed since' if tree.dirty else 'as in'} {tree.head[:8]})"


def _amount(selection: Selection) -> str:
    return (
        f"{counted(len(selection), 'function')}, {counted(count(selection), 'measurement')} a round and side"
    )


def _default_base(bench: Bench, tree: Snapshot) -> tuple[str, str | None]:
    """HEAD for a changed tree, HEAD's parent for an unchanged one."""
    base = "HEAD" if tree.dirty else "HEAD~1"
    found = bench.resolve(base)
    if found is None:
        raise ExperimentError(
            "nothing was changed since the first commit (a shallow clone has only the newest), so there is nothing "
            "to compare with; change something, fetch more commits, or use --against or --variant"
        )
    return base, found


def _check_revision(bench: Bench, tree: Snapshot, name: str, commit: str) -> None:
    if bench.existing:
        raise ExperimentError(EXISTING_RANGE.removeprefix("dcu-asv: "))
    if commit == tree.commit:
        raise ExperimentError(
            f"the working tree is just what {name} ({commit[:8]}) is, so there is nothing to compare; change "
            "something, or name another commit"
        )


def _of_variable(
    bench: Bench,
    tree: Snapshot,
    variable: Variable,
    environments: Sequence[Any],
    marks: dict[str, Any],
    functions: dict[str, Function],
    selection: Selection,
) -> Experiment:
    names = [variable.label(value) for value in (variable.before, variable.after)]
    # Both sides' environments share one install: they differ in the variable alone.
    theirs = bench.environments((variable.name, variable.before))
    plain = [one.name for one in bench.environments((variable.name, None))]
    before = Side(bench, theirs, tree.commit, {**marks, "variant": names[0]}, plain)
    after = Side(bench, environments, tree.commit, {**marks, "variant": names[1]}, plain)
    return Experiment(
        Arm(before, selection, names[0], tree.head),
        Arm(after, selection, names[1], tree.head),
        functions,
        {name: name for name in selection},
        one_tree=True,
        title=f"{tree_name(bench, tree)}, {names[1]} against {names[0]}: {_amount(selection)}",
    )


def _of_functions(
    bench: Bench,
    tree: Snapshot,
    side: Side,
    functions: dict[str, Function],
    selection: Selection,
    against: str,
) -> Experiment:
    """The same parameters of two functions; both are measured as parts of one side."""
    other = one_function(list(functions.values()), against)
    if other is None:
        raise ExperimentError(
            f"--against {against}: no commit, branch or tag of the repository and no function of the suite is "
            f"called that{hint(list(functions.values()), against)}"
        )
    if len(selection) != 1:
        raise ChoiceError(
            f"--against {against} compares one function with another: name just one (now {len(selection)})"
        )
    (name,) = selection
    one = functions[name]
    if one.name == other.name:
        raise ExperimentError(f"--against {against}: that is the function itself")
    if one.ours != other.ours or one.param_names != other.param_names:
        raise ExperimentError(
            f"{one.name} and {other.name} do not have the same parameters "
            f"({', '.join(one.param_names) or 'none'}; {', '.join(other.param_names) or 'none'})"
        )
    common = [index for index in selection[name] if one.combinations[index] in other.combinations]
    if not common:
        raise ExperimentError(f"{one.name} and {other.name} have no values of their parameters in common")
    theirs = [other.combinations.index(one.combinations[index]) for index in common]
    return Experiment(
        Arm(side, {other.name: theirs}, other.name, tree.head),
        Arm(side, {one.name: common}, one.name, tree.head),
        functions,
        {one.name: other.name},
        one_tree=True,
        title=f"{tree_name(bench, tree)}, {one.name} against {other.name}: {_amount({name: common})}",
    )
