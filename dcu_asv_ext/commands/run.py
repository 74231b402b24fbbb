"""`dcu-asv run`: the working tree measured beside a base, with more rounds while the comparison is inconclusive."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from ..comparing import figures
from ..comparing.outcome import exit_code, refusal
from ..exit_codes import NOTHING_COMPARABLE, WRONG_USE
from .options import add_config
from .reporting import OutputError, add_decision_arguments, margins_fault, show

if TYPE_CHECKING:
    from ..daily.session import Found, Request

ROUNDS, MOST_ROUNDS, BUDGET = 5, 20, "10m"
INTERRUPTED = 130
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}

_ABOUT = """\
Measures the working tree as it is, changed and untracked files included, and the base beside it,
in rounds by turns. The suite is the working tree's on both sides, and so is what measures: the
base brings only its installed project. Nothing is written to results/, and nothing is left in git
but objects that its garbage collection takes.

The comparison is looked at after --rounds, and again each time there are 1.6 times as many, until
every row is settled or the rounds or the budget are spent. An early look needs ten times stronger
evidence (p), so that looking often finds no more changes than are there. Rows that far more
rounds would be needed for are left inconclusive. Ctrl-C ends the rounds, prints the comparison of
what was measured so far, and exits with 130.

examples:
  dcu-asv run gemm                     the working tree against HEAD (HEAD~1 if nothing was changed)
  dcu-asv run 'attention(8, 4096)' --against v1.2
  dcu-asv run fused --against eager    two functions of the suite, with the same parameters
  dcu-asv run gemm --variant OMP_NUM_THREADS=8,16
  dcu-asv run --budget 1h              the whole suite
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add(
        "names",
        nargs="*",
        metavar="NAME",
        help="a function, as module.function or function, with (parameters) or without, or a regular expression "
        "(default: the whole suite)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--against",
        metavar="REV|FUNCTION",
        help="the base: a commit, branch or tag, else a function of the suite (default: HEAD for a changed "
        "working tree, HEAD~1 for an unchanged one)",
    )
    what.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="NAME=A,B",
        help="compare two values of an environment variable on the working tree; A is the base, an empty value "
        "means not set; give it twice (NAME=A, NAME=B) where a value has a comma",
    )
    add(
        "--rounds",
        type=count,
        default=ROUNDS,
        metavar="N",
        help="rounds before the first look (default: %(default)s)",
    )
    add(
        "--max-rounds",
        type=count,
        metavar="N",
        help=f"no more rounds than these (default: {MOST_ROUNDS}, or --rounds where that is more)",
    )
    add(
        "--budget",
        type=seconds,
        default=BUDGET,
        metavar="TIME",
        help="wall time for the rounds, as 90s, 10m or 1h: none begins that would end later, but for the first; "
        "installing is not counted (default: %(default)s)",
    )
    add_decision_arguments(parser)
    add_config(parser)
    add("--json", action="store_true", help="print the comparison as one JSON object")
    add("--verbose", "-v", action="store_true", help="asv's own lines too")


def count(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    """`90`, `90s`, `10m` or `1.5h`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)", text.strip())
    if found is None or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.interleaving import MeasuringError
    from ..asv_plugin.results import ResultsError
    from ..comparing.model import ComparisonError
    from ..daily.choice import ChoiceError
    from ..daily.experiment import ExperimentError
    from ..daily.session import measure
    from ..daily.snapshot import SnapshotError

    if fault := margins_fault(options.margin, options.equivalence):
        return _refuse(fault)
    try:
        # asv prints as it goes; standard output is for the comparison.
        with asv_on_stderr(options.verbose), redirect_stdout(sys.stderr):
            found = measure(_request(options), _tell)
    except (
        *(ChoiceError, ComparisonError, ExperimentError, MeasuringError, ResultsError, SnapshotError),
        OSError,
    ) as fault:
        return _refuse(fault)
    return _finish(found, options)


def _refuse(fault: object) -> int:
    _tell(f"dcu-asv run: {fault}")
    return WRONG_USE


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _request(options: argparse.Namespace) -> Request:
    from ..daily.looks import Schedule
    from ..daily.session import Request

    most = options.max_rounds or max(MOST_ROUNDS, options.rounds)
    return Request(
        options.names,
        options.against,
        options.variant,
        options.config,
        Schedule(min(options.rounds, most), most),
        options.budget,
        options.margin,
        options.equivalence,
        options.vary,
    )


@contextmanager
def asv_on_stderr(verbose: bool) -> Iterator[None]:
    """asv speaks through the root logger: warnings and errors are shown, the rest where it is asked for."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _finish(found: Found, options: argparse.Namespace) -> int:
    from ..daily import loop

    outcome, report = found.outcome, found.outcome.report
    interrupted = outcome.ended == loop.INTERRUPTED
    if report is None:
        _tell("dcu-asv run: interrupted before there was anything to compare")
        return INTERRUPTED
    verdict = exit_code(report, options.fail_on)
    code = INTERRUPTED if interrupted else WRONG_USE if outcome.fault else verdict
    try:
        show(report, code, options)
    except OutputError as fault:
        code = _refuse(fault)
    why = {
        loop.BUDGET: f" (the budget of {loop.duration(options.budget)} does not allow another)",
        loop.INTERRUPTED: " (interrupted)",
        loop.FAULT: " (the next could not be measured)",
    }.get(outcome.ended, "")
    _tell(
        f"{figures.count(outcome.rounds, 'round')} in {loop.duration(outcome.seconds)}{why}; raw data: {found.folder}"
    )
    if outcome.fault:
        return _refuse(outcome.fault)
    if verdict == NOTHING_COMPARABLE:
        _tell(f"dcu-asv run: {refusal(report)}")
    return code
