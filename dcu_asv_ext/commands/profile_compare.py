"""`dcu-asv profile --compare A B`: what changed from one profile to the other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..comparing.model import Key
from ..exit_codes import FINE
from .choosing import Match, NothingComparable, Wanted, WrongUse, from_project, matcher
from .profile_inputs import Inputs, is_trace
from .reporting import emit, print_json, style

if TYPE_CHECKING:
    from ..comparing.profile_model import ProfileChange
    from ..comparing.profile_reading import Profiles
    from .profile_output import Output


def compare(options: argparse.Namespace, found: Inputs, output: Output) -> int:
    """Raises WrongUse, NothingComparable and OutputError."""
    before, after = options.compare
    if is_trace(before):
        return _told(options, [_of_files(before, after)])
    name = found.benches[0] if found.benches else None
    profiles, why = _kept(options, name)
    if profiles is not None and profiles.changes:
        return _told(options, profiles.changes, profiles.left_out)
    if name is not None:
        change = _now(options, name, output)
        return output.code if change is None else _told(options, [change])
    left_out = profiles.left_out if profiles is not None else {}
    reasons = "; ".join(f"{one}: {reason}" for one, reason in left_out.items())
    raise NothingComparable(
        f"the results have no profiles of both ({reasons or why or 'nothing was measured'}); asv run {before}^! and "
        f'asv run {after}^! make them for benchmarks with "profile" among their metrics, and '
        f"dcu-asv profile BENCH --compare {before} {after} profiles one on both now"
    )


def _kept(options: argparse.Namespace, name: str | None) -> tuple[Profiles | None, str]:
    """What the results hold, and why they hold nothing; the latencies are those of `dcu-asv compare`, of the whole
    suite. Raises WrongUse."""
    from ..asv_plugin.results import NoResults, Project, ResultsError
    from ..comparing.deciding import report
    from ..comparing.profile_reading import compared_profiles

    before, after = options.compare
    machines, envs = ([] if one is None else [one] for one in (options.machine, options.env))
    wanted = Wanted(before, after, machines, envs)
    try:
        chosen = from_project(Project.open(options.config), wanted)
    except (NoResults, NothingComparable) as fault:
        return None, str(fault)
    except ResultsError as fault:
        raise WrongUse(str(fault)) from fault
    match = None if name is None else _matching(name)
    rows = report(chosen.before, chosen.after, history=chosen.history).rows
    return compared_profiles(chosen.before, chosen.after, match, rows), ""


def _matching(name: str) -> Match:
    """Of `module.function` or `function`, with parameters or without; else as --bench. Raises WrongUse."""
    head, bracket, rest = name.partition("(")
    wanted = re.sub(r"[\s'\"]", "", (bracket + rest).strip("()"))

    def named(key: Key) -> bool:
        called = head in (key.benchmark, key.benchmark.rpartition(".")[2])
        return called and (not wanted or re.sub(r"[\s'\"]", "", ", ".join(key.params)) == wanted)

    searched = matcher([re.escape(name) if bracket else name], ())
    assert searched is not None
    return lambda key: named(key) or searched(key)


def _of_files(before: str, after: str) -> ProfileChange:
    """Raises WrongUse for what is no trace, NothingComparable for an empty one."""
    from ..comparing.profile_changes import ProfilesDiffer, compare_profiles
    from ..comparing.profile_page import page_of_file
    from ..comparing.profile_reading import as_record
    from ..trace.digest import digest
    from ..trace.errors import EmptyTrace, TraceError

    records = []
    for path in (before, after):
        try:
            page = page_of_file(path)
        except EmptyTrace as fault:
            raise NothingComparable(str(fault)) from fault
        except TraceError as fault:
            raise WrongUse(str(fault)) from fault
        if page.nothing:
            raise NothingComparable(page.nothing)
        steps = max(page.steps, 1)
        records.append(as_record(digest(page.analysis, steps), steps, path))
    try:
        return compare_profiles(records[:1], records[1:])
    except ProfilesDiffer as fault:
        raise WrongUse(f"the two traces cannot be compared: {fault}") from fault


def _now(options: argparse.Namespace, name: str, output: Output) -> ProfileChange | None:
    """Both commits profiled one after the other; None where one failed, which is told. Raises WrongUse."""
    from ..comparing.profile_changes import ProfilesDiffer, compare_profiles
    from .profile_bench import profile_now, told_failure

    records: list[Mapping[str, Any]] = []
    for commit in options.compare:
        found = profile_now(options, name, commit)
        if told_failure(found, output):
            return None
        assert found.record is not None
        records.append(found.record)
    try:
        return compare_profiles(records[:1], records[1:])
    except ProfilesDiffer as fault:
        raise NothingComparable(f"{name}: {fault}") from fault


def _told(
    options: argparse.Namespace, changes: Sequence[ProfileChange], left_out: Mapping[str, str] | None = None
) -> int:
    from ..comparing.profile_changes_json import to_json
    from ..comparing.profile_changes_text import render

    before, after = options.compare
    if options.json:
        print_json(
            {
                "before": before,
                "after": after,
                "changes": [to_json(one) for one in changes],
                "left_out": dict(left_out or {}),
            }
        )
        return FINE
    shown = style(options.all)
    pages = [f"{before} {shown.arrow} {after}", *(render(one, shown) for one in changes)]
    lines = [
        line
        for name, reason in (left_out or {}).items()
        for line in shown.wrapped(f"{name}: {reason}", "left out: ")
    ]
    emit("\n\n".join([*pages, *(["\n".join(lines)] if lines else [])]))
    return FINE
