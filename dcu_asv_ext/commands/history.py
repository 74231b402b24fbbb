"""`dcu-asv history`: at which commits of a branch the results changed."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ..comparing import figures, history_json, history_text
from ..comparing.history import HistoryReport, Timeline, timelines
from ..comparing.history_report import files_left_out, history_report
from ..comparing.history_text import DATE, SIZE, Style
from ..comparing.model import ResultSet
from ..comparing.sparkline import ramp_for
from ..exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from .choosing import Match, WrongUse, matcher
from .options import add_bench, add_config, add_json, add_metric, add_place
from .reporting import OutputError, emit, print_json, style

if TYPE_CHECKING:
    from ..asv_plugin.results import Project

#: Changes shown at most, unless --limit says otherwise.
_LIMIT = 40
_KINDS = {"regressions": "regression", "improvements": "improvement"}
#: Names told where one does not exist, and how alike they must be.
_NAMED, _CLOSE = 5, 0.5

_ABOUT = """\
A change point is where the level of a series changed and stayed: its first commit, the ratio of
the levels with its 95 % interval, and the commits before and after it, one letter each. Where
the commit is not certain, since some were not measured or the values are too noisy, the range is
given. A pending one has too few commits behind it to be believed. What a third of the benchmarks
show at one commit is one event of the machine (or of something that all of them use).
A benchmark whose version or protocol changed begins a new series.
Exit code 4: no series is long enough.

examples:
  dcu-asv history
  dcu-asv history --only regressions --since v1.0 --sort size
  dcu-asv history --bench 'gemm\\.' --metric latency --all
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add_config(parser)
    add("--branch", metavar="NAME", help="the branch (default: the first one of the configuration)")
    add_place(parser)
    add_bench(parser)
    add_metric(parser)
    add("--since", metavar="REV", help="only changes after this commit; earlier ones still count as history")
    add("--only", choices=sorted(_KINDS), help="only regressions, or only improvements")
    add("--sort", choices=(DATE, SIZE), default=DATE, help="newest (default) or largest change first")
    add("--all", action="store_true", help="series without a change point too, a line each")
    add(
        "--limit",
        type=_limit,
        metavar="N",
        help=f"at most N changes, 0: all (default: {_LIMIT}; --json: all)",
    )
    add_json(parser)


def _limit(given: str) -> int:
    if not given.isdecimal():
        raise argparse.ArgumentTypeError(f"{given!r} is no whole number of at least 0")
    return int(given)


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, Project, ResultsError

    try:
        report = _report(Project.open(options.config), options)
        _show(report, options)
    except (WrongUse, ResultsError, OutputError) as error:
        print(f"dcu-asv history: {error}", file=sys.stderr)
        return NOTHING_COMPARABLE if isinstance(error, NoResults) else WRONG_USE
    return NOTHING_COMPARABLE if all(line.few for line in report.timelines) else FINE


def _show(report: HistoryReport, options: argparse.Namespace) -> None:
    if options.json:
        print_json(history_json.to_json(report, options.sort, options.limit or 0, options.all))
    else:
        limit = _LIMIT if options.limit is None else options.limit
        emit(history_text.render(report, _style(options, limit)))


def _style(options: argparse.Namespace, limit: int) -> Style:
    terminal = style()
    return Style(
        terminal.width, ramp_for(sys.stdout.encoding), options.sort, limit, options.all, terminal.colour
    )


def _report(project: Project, options: argparse.Namespace) -> HistoryReport:
    """Raises WrongUse and ResultsError."""
    match = matcher(options.bench, options.metric)
    commits = project.commits(options.branch)
    branch = options.branch or project.branches[0] or "the default branch"
    reader = _Reader(project, {commit.hash: place for place, commit in enumerate(commits)})
    since = None if options.since is None else reader.place(options.since, branch)
    lines = timelines(reader.sets(options.machine, options.env), reader.places)
    if not lines:
        from ..asv_plugin.results import NoResults

        raise NoResults(" ".join([f"no commit of {branch} has a result.", *reader.notes(branch)]))
    _check_chosen(lines, match, options)
    return history_report(
        branch,
        commits,
        lines,
        match=match,
        since=since,
        kind=_KINDS.get(options.only),
        notes=reader.notes(branch),
    )


class _Reader:
    """Reads the results of a branch one by one, and remembers what it had to leave out."""

    def __init__(self, project: Project, places: dict[str, int]) -> None:
        self.project, self.places = project, places
        self._elsewhere = self._dirty = 0
        self._unreadable: list[str] = []

    def place(self, revision: str, branch: str) -> int:
        """Of a commit on the branch. Raises WrongUse, and ResultsError where there is no such commit."""
        commit = self.project.resolve(revision)
        if commit not in self.places:
            raise WrongUse(f"{revision} ({commit[:8]}) is no commit of {branch} (first parents only)")
        return self.places[commit]

    def sets(self, machine: str | None, env: str | None) -> Iterator[ResultSet]:
        """In no order. Raises WrongUse for an unknown name, NoResults where nothing was measured."""
        from ..asv_plugin.results import ResultsError, read_file

        machines = self.project.machines() or [self.project.machine()]
        if machine is not None:
            machines = [_known("machine", machine, machines)]
        files = [file for name in machines for file in self.project.files(name)]
        benchmarks = self.project.benchmarks  # a fault of this file is not one of every result file
        envs = _environments(env, {file.env for file in files})
        prefixes = {commit[:8] for commit in self.places}
        for file in files:
            if file.env not in envs:
                continue
            if file.prefix not in prefixes:
                self._elsewhere += 1
                continue
            try:
                found = read_file(file, benchmarks, steady=False)
            except ResultsError as fault:
                self._unreadable.append(str(fault))
                continue
            self._elsewhere += found.commit not in self.places
            self._dirty += found.dirty
            if not found.dirty:
                yield found

    def notes(self, branch: str) -> list[str]:
        """Sentences on what was left out."""
        told = []
        if self.project.repo is None:
            reason = self.project.no_repo
            told.append(
                f"{reason[:1].upper()}{reason[1:]}: all commits that have results are taken, by date."
            )
        told += files_left_out(branch, self._elsewhere, self._dirty)
        if self._unreadable:
            told.append(f"{figures.count(len(self._unreadable), 'file')} passed over: {self._unreadable[0]}")
        return told


def _environments(given: str | None, known: Collection[str]) -> Collection[str]:
    """The environment of that name, else those that it is a part of; all where none is given. Raises WrongUse."""
    if given is None or given in known:
        return known if given is None else {given}
    near = {name for name in known if given.lower() in name.lower()}
    return near or {_known("environment", given, sorted(known))}


def _known(what: str, given: str, known: Sequence[str]) -> str:
    """Raises WrongUse, which names what comes close, else what there is."""
    if given in known:
        return given
    raise WrongUse(f"there are no results of {what} {given!r}; {_hint(given, known)}")


def _hint(given: str, known: Sequence[str]) -> str:
    """What comes close to a name or to the end of one, else what there is."""
    ends = {name[place:]: name for name in known for place in _starts(name)}
    close = [ends[end] for end in difflib.get_close_matches(given, ends, _NAMED, _CLOSE)]
    if close:
        return f"did you mean {' or '.join(dict.fromkeys(close))}?"
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return f"there are of {', '.join(known[:_NAMED])}{more}"


def _starts(name: str) -> list[int]:
    return [0, *(place + 1 for place, letter in enumerate(name) if letter == ".")]


def _check_chosen(lines: Sequence[Timeline], match: Match | None, options: argparse.Namespace) -> None:
    """Raises WrongUse where --bench and --metric leave nothing."""
    if match is None or any(match(line.key) for line in lines):
        return
    metrics = sorted({line.key.metric for line in lines})
    for metric in options.metric:
        _known("metric", metric, metrics)
    benchmarks = sorted({line.key.benchmark for line in lines})
    raise WrongUse(
        f"no series matches --bench {' or '.join(options.bench)}; {_hint(options.bench[0], benchmarks)}"
    )
