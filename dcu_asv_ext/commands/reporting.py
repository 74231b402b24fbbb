"""What the commands that end in a comparison share: the options of its decision, and how it is printed."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys

from ..comparing import as_json, markdown, text
from ..comparing.model import Report
from ..comparing.outcome import DEFAULT_FAIL_ON, FAIL_ON, NONE
from ..comparing.table import Style
from ..stats.verdicts import EQUIVALENCE, MARGIN
from .options import add_vary


class OutputError(Exception):
    """Standard output takes nothing; the text is one sentence."""


def add_decision_arguments(parser: argparse.ArgumentParser) -> None:
    """margin, equivalence, vary, fail_on, all."""
    add = parser.add_argument
    add(
        "--margin",
        metavar="PERCENT",
        type=percent,
        default=MARGIN,
        help=f"a change up to this does not count (default: {100 * MARGIN:g}%%)",
    )
    add(
        "--equivalence",
        metavar="PERCENT",
        type=percent,
        default=EQUIVALENCE,
        help=f"what is surely within this is called no change (default: {100 * EQUIVALENCE:g}%%)",
    )
    add_vary(parser)
    add(
        "--fail-on",
        metavar="WHAT",
        type=fail_on,
        default=DEFAULT_FAIL_ON,
        help=f"exit codes other than 0 for these, with commas between: {', '.join(FAIL_ON)} "
        f"(default: {','.join(DEFAULT_FAIL_ON)}; nothing comparable is always 4)",
    )
    add("--all", action="store_true", help="every row, also the many without a change")


def percent(given: str) -> float:
    """`1%`, `1 %` and `1` are 0.01."""
    try:
        share = float(given.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{given!r} is no percentage from 0% to below 100%, such as 2%")
    return share


def fail_on(given: str) -> tuple[str, ...]:
    words = [word.strip() for word in given.split(",")]
    wrong = [word for word in words if word not in FAIL_ON]
    if wrong:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(FAIL_ON)}")
    if NONE in words and len(words) > 1:
        raise argparse.ArgumentTypeError("none stands alone")
    return tuple(words)


def margins_fault(margin: float, equivalence: float) -> str:
    """Why the two cannot go together, as a sentence; "" where they can."""
    if equivalence > 0 and margin <= equivalence:
        return ""
    return (
        f"--equivalence ({100 * equivalence:g}%) has to be above 0%, "
        f"and no smaller than --margin ({100 * margin:g}%)"
    )


def show(report: Report, exit_code: int, options: argparse.Namespace) -> None:
    """On standard output, as `options.json`, `options.markdown` and `options.all` say."""
    if options.json:
        print_json(as_json.as_json(report, exit_code))
    elif getattr(options, "markdown", False):
        emit(markdown.render(report))
    else:
        emit(text.render(report, style(options.all)))


def print_json(found: object) -> None:
    emit(json.dumps(found, indent=1, allow_nan=False))


def emit(told: str) -> None:
    """On standard output. A reader that has left (`| head`) does not change the verdict, nor its exit code; any
    other fault (a full disk) raises OutputError."""
    try:
        print(told, flush=True)
    except BrokenPipeError:
        _discard()
    except OSError as fault:
        _discard()
        raise OutputError(f"the result cannot be written: {fault.strerror or fault}") from None


def _discard() -> None:
    """What is left in the buffer goes nowhere; Python would try, and complain, once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def style(everything: bool = False) -> Style:
    """As the terminal is."""
    return Style.of_terminal(everything)
