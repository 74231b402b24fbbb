"""One benchmark profiled now: of the working tree or of a commit, in the environment that asv measures it in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..asv_plugin.hooks import EXISTING_RANGE
from ..asv_plugin.interleaving import Bench, Function, Side
from ..asv_plugin.run_folders import new_folder
from ..evidence.store import evidence_path, read
from .choice import choose
from .experiment import tree_name, working_tree

#: So many candidates are named where a name means several.
_NAMED = 12


class ProfilingError(Exception):
    """What was asked for cannot be profiled; the text is one sentence."""


@dataclass(frozen=True)
class Request:
    """name: a function's, with parameters or without. params: name -> value, as asv writes it. commit: None: the
    working tree. env: an environment's name or a part of it. stacks, first: see `measure.request`."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    config: str | None = None
    env: str | None = None
    stacks: bool = False
    first: bool = False


@dataclass(frozen=True)
class Profiled:
    """record: the measurement's evidence; None where asv's child left none. code: what was profiled, for a reader.
    trace, first_trace: where the traces lie if they were written."""

    benchmark: str
    record: Mapping[str, Any] | None
    code: str
    trace: Path
    first_trace: Path | None


def profile(request: Request, tell: Callable[[str], None]) -> Profiled:
    """tell: gets lines for the user. Changes to the configuration's folder.

    Raises ProfilingError, ChoiceError, ExperimentError, MeasuringError, ResultsError and SnapshotError.
    """
    bench = Bench.open(request.config)
    folder = new_folder(bench.settles_in)
    bench.settle(folder)
    commit, code, marks = _commit(bench, request.commit, tell)
    env = _environment(bench, request.env)
    tell(f"Installing {code}")
    bench.install([env], commit)
    function, index = _chosen(bench.discover([env], commit), request)
    name = f"{function.name}-{index}"
    place = folder / f"{name}.trace.json.gz"
    first = folder / f"{name}.first.trace.json.gz" if request.first else None
    ask = {
        "only": True,
        "stacks": request.stacks,
        "first": request.first,
        "trace": str(place),
        "first_trace": None if first is None else str(first),
    }
    values = function.combinations[index]
    tell(f"Profiling {_called(function.name, values)} of {code}")
    side = Side(bench, [env], commit, marks, profile=ask)
    side.measure({function.name: [index]})
    return Profiled(_called(function.name, values), _record(side, function, index), code, place, first)


def _commit(
    bench: Bench, revision: str | None, tell: Callable[[str], None]
) -> tuple[str, str, dict[str, Any]]:
    """The commit to install, what a reader calls it, and the evidence's marks."""
    if revision is None:
        tree = working_tree(bench, dict(os.environ))
        for note in tree.notes:
            tell(f"note: {note}")
        marks = {"dirty": True, "head": tree.head} if tree.dirty else {}
        return tree.commit, tree_name(bench, tree), marks
    commit = bench.resolve(revision)
    if commit is None:
        raise ProfilingError(f"there is no commit, branch or tag {revision} in the repository")
    if bench.existing:
        raise ProfilingError(EXISTING_RANGE.removeprefix("dcu-asv: "))
    return commit, commit[:8] if commit.startswith(revision) else f"{revision} ({commit[:8]})", {}


def _environment(bench: Bench, wanted: str | None) -> Any:
    found = bench.environments()
    if wanted is not None:
        exact = [one for one in found if one.name == wanted]
        chosen = exact or [one for one in found if wanted.lower() in one.name.lower()]
        if not chosen:
            known = ", ".join(one.name for one in found)
            raise ProfilingError(f"the configuration gives no environment {wanted!r}; it gives {known}")
        found = chosen
    if len(found) > 1:
        raise ProfilingError(
            f"there are several environments ({', '.join(one.name for one in found)}); choose one with --env"
        )
    return found[0]


def _chosen(functions: Sequence[Function], request: Request) -> tuple[Function, int]:
    """The one function and combination that are meant. Raises ProfilingError where there are several or none."""
    by_name = {one.name: one for one in functions}
    hits = [
        (by_name[name], index)
        for name, indices in choose(functions, [request.name]).items()
        for index in indices
    ]
    of_params = [one for one in hits if _has(*one, request.params)]
    if not of_params:
        wanted = ", ".join(f"{name}={value}" for name, value in request.params.items())
        raise ProfilingError(f"{request.name} has no parameters {wanted}; there are {_list(hits)}")
    if len(of_params) > 1:
        raise ProfilingError(f"{request.name} means several: name one of {_list(of_params)}, or use --params")
    ((function, index),) = of_params
    if not function.ours:
        raise ProfilingError(
            f"{function.name} is a benchmark of asv's own, and has no profile pass: asv profile {function.name} runs "
            "asv's; decorate its function with @dcu.benchmark for this one"
        )
    return function, index


def _has(function: Function, index: int, params: Mapping[str, str]) -> bool:
    values = dict(zip(function.param_names, function.combinations[index], strict=True))
    return all(name in values and _plain(values[name]) == _plain(value) for name, value in params.items())


def _plain(value: str) -> str:
    return re.sub(r"[\s'\"]", "", value)


def _called(name: str, values: Sequence[str]) -> str:
    return f"{name}({', '.join(values)})" if values else name


def _list(hits: Sequence[tuple[Function, int]]) -> str:
    names = [_called(one.name, one.combinations[index]) for one, index in hits]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _record(side: Side, function: Function, index: int) -> Mapping[str, Any] | None:
    """The newest evidence of it; without parameters there is no index."""
    wanted = index if function.param_names else None
    found: Mapping[str, Any] | None = None
    for _, file in side.files:
        evidence = evidence_path(file)
        if evidence.exists():
            mine = [
                one
                for one in read(evidence).records
                if one["benchmark"] == function.name and one["param_index"] == wanted
            ]
            found = mine[-1] if mine else found
    return found
