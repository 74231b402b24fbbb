"""`dcu-asv matrix`: the experiment matrix, a row per benchmark, parameters and variant."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..comparing.model import Key
from ..exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from ..metrics import METRICS
from .choosing import Match, WrongUse, matcher
from .options import add_bench, add_config, add_place
from .reporting import OutputError, emit, style

if TYPE_CHECKING:
    from ..comparing.matrix import Matrix, Measured

_FILE = re.compile(r"\.(json|jsonl|jsonl\.gz)$")

_ABOUT = """\
A row holds what is known of one benchmark with one set of parameters in one variant: a commit, a
variant= name, a value of asv's matrix.env. It has the device and its software, the real arguments'
shapes and dtypes, repetitions, seed, timing boundary and cache state, the steady statistics of
every clock and memory on its own, errors, status, notes, the reason of each number that is
missing, and where the raw data lies (file below the results folder, session, round).

Rows of one benchmark with the same parameters are an experiment. Which variables differ between
them is told: the commit, the benchmark's version, the protocol, and every recorded fact by which
results may differ (device, driver, software, switches, inputs, environment variables). With more
than one it is no single-variable experiment, and no difference in it has a known cause.

WHAT is one commit or more, ranges (A..B as git takes it: what B has and A has not; A^..B includes
A), or result files (asv's .json or .evidence.jsonl). Without it: the newest commit that has
results. Results of all machines are taken; the machine is a column, and a variable.

--csv and --json lose nothing: dcu_asv_ext.read_matrix(path or text) gives their rows back as
plain dictionaries. Text and Markdown are views, and cannot be read back.

examples:
  dcu-asv matrix
  dcu-asv matrix v1.0..main --bench 'gemm\\.'
  dcu-asv matrix main~1 main --csv > experiment.csv
  dcu-asv matrix results/k100/*.json results/k100ai/*.json --json --times > all.json
  dcu-asv matrix --functions 'attention_(eager|fused)'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("what", metavar="WHAT", nargs="*", help="commits, ranges of commits, or result files")
    add_config(parser)
    add_place(parser)
    add_bench(parser)
    add(
        "--functions",
        metavar="REGEX",
        help="the functions that it is found in are variants of one another, where parameters are the same",
    )
    add("--times", action="store_true", help="with --csv or --json: every time that was taken, in order")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print the rows as CSV (RFC 4180, UTF-8)")
    form.add_argument("--json", action="store_true", help="print rows and experiments as one JSON object")
    form.add_argument("--markdown", action="store_true", help="print it for a merge request")


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, ResultsError

    try:
        _show(_matrix(options), options)
    except NoResults as error:
        return _refuse(error, NOTHING_COMPARABLE)
    except (WrongUse, ResultsError, OutputError) as error:
        return _refuse(error, WRONG_USE)
    return FINE


def _refuse(error: object, code: int) -> int:
    print(f"dcu-asv matrix: {error}", file=sys.stderr)
    return code


def _matrix(options: argparse.Namespace) -> Matrix:
    """Raises WrongUse, and ResultsError."""
    from ..asv_plugin.results import NoResults
    from ..comparing.matrix import matrix

    if options.times and not (options.csv or options.json):
        raise WrongUse("--times needs --csv or --json: the views have no room for every time")
    _check_functions(options.functions)
    match = _of_whole_rows(matcher(options.bench, ()))
    measured, notes = _measured(options, match)
    found = matrix(measured, functions=options.functions, times=options.times, notes=notes)
    if not found.rows:
        if options.bench:
            raise WrongUse(f"no benchmark of these results matches --bench {' or '.join(options.bench)}")
        raise NoResults("these results hold no benchmark")
    return found


def _check_functions(pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise WrongUse(f"--functions is no regular expression: {error}") from None


def _of_whole_rows(match: Match | None) -> Match | None:
    """A row is shown whole: where one metric of it is wanted, all are."""
    if match is None:
        return None

    def wanted(key: Key) -> bool:
        if key.metric not in METRICS:
            return match(key)
        return any(match(Key(key.benchmark, metric, key.params)) for metric in METRICS)

    return wanted


def _measured(options: argparse.Namespace, match: Match | None) -> tuple[list[Measured], list[str]]:
    from ..asv_plugin.measured import commits_of, newest, of_commits, of_files
    from ..asv_plugin.results import Project

    if _are_files(options.what):
        if options.machine or options.env:
            raise WrongUse("--machine and --env choose among the results of commits, not of files")
        return of_files(options.what, match)
    project = Project.open(options.config)
    if options.what:
        commits = [one for revision in options.what for one in commits_of(project, revision)]
    else:
        commits = [newest(project, options.machine)]
    called = ", ".join(options.what) or "any commit"
    found = of_commits(project, dict.fromkeys(commits), called, options.machine, options.env, match)
    return found, project.notes


def _are_files(what: Sequence[str]) -> bool:
    """Whether all are result files. Raises WrongUse where only some are."""
    files = [one for one in what if (os.path.exists(one) and os.sep in one) or _FILE.search(one)]
    if files and len(files) < len(what):
        other = next(one for one in what if one not in files)
        raise WrongUse(f"{files[0]} is a file, and {other} is none; name files, or commits")
    return bool(files)


def _show(found: Matrix, options: argparse.Namespace) -> None:
    from ..comparing import matrix_markdown, matrix_text
    from ..evidence.matrix import COLUMNS
    from ..evidence.matrix_files import to_csv, to_json

    if options.csv or options.json:
        rows = [row.flat() for row in found.rows]
        if options.csv:
            text = to_csv(rows, COLUMNS)
            for note in found.notes:
                print(f"dcu-asv matrix: note: {note}", file=sys.stderr)
        else:
            experiments = [one.as_object() for one in found.experiments]
            text = to_json(rows, experiments=experiments, notes=found.notes, exit_code=FINE)
        _in_utf8()
        emit(text.removesuffix("\n"))
    elif options.markdown:
        emit(matrix_markdown.render(found))
    else:
        emit(matrix_text.render(found, style()))


def _in_utf8() -> None:
    """Whatever the terminal's encoding: what is written has to be read back."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
