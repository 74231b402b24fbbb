"""`dcu-asv memory`: where the memory of each measured function goes, and what would lower it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..comparing import memory_json, memory_text
from ..comparing.memory_model import MemoryOf, memory_of
from ..comparing.model import Key, ResultSet
from ..exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from .choosing import NothingComparable, Wanted, WrongUse, is_file, matcher, one_commit
from .options import add_bench, add_config, add_json, add_place
from .reporting import OutputError, emit, print_json, style

if TYPE_CHECKING:
    from ..asv_plugin.results import Project

_ABOUT = """\
For every function of a commit: what its tensors asked for, what torch's allocator gave them, what
the allocator reserved, and what is in use on the whole card; before, at the peak and after a steady
call, and the same for the first call of a process (after which its result is still alive). Then
who is alive at the peak, what grows from call to call, what lies outside the allocator, and what
would lower the peak, as far as the numbers call for it. Reserved above allocated is the allocator's
cache, and no leak.
COMMIT is a commit, branch or tag, or an evidence file; by default the newest one with results.

examples:
  dcu-asv memory
  dcu-asv memory HEAD~3 --bench 'attention' --all
  dcu-asv memory v1.0 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("commit", metavar="COMMIT", nargs="?", help="whose results (default: the newest that has some)")
    add_config(parser)
    add_place(parser, machine="")
    add_bench(parser, "only functions", "function")
    add("--all", action="store_true", help="every function one by one, and every holder of memory")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, ResultsError

    try:
        found = _found(options)
        if options.json:
            print_json({"results": [memory_json.to_json(one, functions) for one, functions in found]})
        else:
            pages = [memory_text.render(_page(*each), style(options.all)) for each in found]
            emit("\n\n\n".join(pages))
    except (WrongUse, NothingComparable, ResultsError, OutputError) as error:
        print(f"dcu-asv memory: {error}", file=sys.stderr)
        nothing = isinstance(error, (NothingComparable, NoResults))
        return NOTHING_COMPARABLE if nothing else WRONG_USE
    measured = any(function.measured for _, functions in found for function in functions)
    return FINE if measured else NOTHING_COMPARABLE


def _found(options: argparse.Namespace) -> list[tuple[ResultSet, list[MemoryOf]]]:
    """Each environment's results. Raises WrongUse, NothingComparable and ResultsError."""
    match = matcher(options.bench, ())
    sets = [one for one in _sets(options) if one.records]
    if not sets:
        raise NothingComparable(
            "these results have no evidence beside asv's file, which has one figure a metric"
        )
    known = [(one, memory_of(one.records)) for one in sets]
    if match is None:
        return known
    chosen = [(one, [each for each in functions if match(_key(each))]) for one, functions in known]
    if not any(functions for _, functions in chosen):
        names = sorted({each.benchmark for _, functions in known for each in functions})
        raise WrongUse(
            f"no function matches --bench {' or '.join(options.bench)}; there are {', '.join(names)}"
        )
    return [(one, functions) for one, functions in chosen if functions]


def _key(one: MemoryOf) -> Key:
    return Key(one.benchmark, "", tuple(one.params.values()))


def _sets(options: argparse.Namespace) -> Sequence[ResultSet]:
    from ..asv_plugin.results import Project, load_file

    commit, machine, env = options.commit, options.machine, options.env
    if commit is not None and is_file(commit):
        if machine is not None or env is not None:
            raise WrongUse("--machine and --env choose among the results of commits, not of files")
        return [load_file(os.fspath(commit))]
    project = Project.open(options.config)
    if commit is None:
        return _newest(project, machine, env)
    machines, envs = ([] if one is None else [one] for one in (machine, env))
    return one_commit(project, Wanted(commit, None, machines, envs, history=False)).before


def _newest(project: Project, machine: str | None, env: str | None) -> Sequence[ResultSet]:
    name = project.machine(machine)
    found = project.history(name, env, newest=1)
    if not found:
        raise NothingComparable(f"no commit of the branch has results on {name}; name a commit")
    return found


def _page(one: ResultSet, functions: Sequence[MemoryOf]) -> memory_text.Page:
    changed = " with uncommitted changes" if one.dirty else ""
    label = one.commit[:8] if one.commit.startswith(one.label) else f"{one.label} ({one.commit[:8]})"
    title = f"{label}{changed}  {one.machine}, {one.env}"
    return memory_text.Page(title, functions, tuple(one.notes))
