"""`dcu-asv`: one console script, a sub-command for each thing that asv's own commands do not do."""

from __future__ import annotations

import argparse
import functools
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from . import __version__
from .exit_codes import FINE, WRONG_USE

_INTERRUPTED = 130

#: Name -> (module with `add_arguments(parser)` and `run(options) -> exit code`, what it does).
#: The modules are imported when their command is named, and must themselves import nothing heavy at the top.
COMMANDS = {
    "doctor": ("doctor.command", "tell what can be measured here, and check for known traps"),
    "quickstart": (
        "quickstart",
        "write a configuration and a first benchmark into a repository",
    ),
    "run": ("commands.run", "measure the working tree beside a base, until the two can be told apart"),
    "compare": ("commands.compare", "tell what changed between two commits, and how sure that is"),
    "history": ("commands.history", "tell at which commits of a branch the results changed"),
    "gate": (
        "commands.gate",
        "let a candidate pass only if it is right, no slower end to end, and no heavier",
    ),
    "matrix": ("commands.matrix", "put all that is known of each result into one table, to be read back"),
    "memory": ("commands.memory", "tell where the memory of each function goes, and what would lower it"),
    "profile": ("commands.profile", "read a trace or profile a benchmark: what costs time, and why"),
    "merge": ("commands.merge", "bring results of several machines into one results folder"),
    "prune": ("commands.prune", "keep the results folder small: compress evidence, thin what is old"),
}

_DESCRIPTION = """\
Device benchmarks as plain decorated functions, on unmodified asv.

Measuring and publishing are asv's own commands (asv run, asv compare, asv publish, ...);
dcu-asv adds what asv does not have. dcu-asv COMMAND --help tells a command's options.
"""

_EXIT_CODES = """\
exit codes:
  0  fine
  1  a regression, or a failed gate
  2  a benchmark failed (raised, crashed, ran out of memory or time)
  3  wrong use, or a broken set-up
  4  nothing comparable was measured
  5  inconclusive
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse's own exit code, 2, means here that a benchmark failed.
        self.print_usage(sys.stderr)
        self.exit(WRONG_USE, f"{self.prog}: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command; the process's exit code. A fault of our own is 3, with its traceback."""
    _prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        options = _parser(arguments).parse_args(arguments)
    except SystemExit as ended:  # --help, --version, wrong use
        return int(ended.code or FINE)
    module = _module(options.command)
    try:
        code = int(module.run(options))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`dcu-asv doctor | head`); Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG_USE
    except Exception:
        # Python's own exit code for an uncaught exception, 1, means here that something became slower.
        traceback.print_exc()
        return WRONG_USE
    return code


def _prepare_streams() -> None:
    """A stream that the caller closed (`>&-`) leads nowhere, and a letter that the terminal's encoding lacks is
    written as its number: neither is a reason to lose a result."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    style = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=24, width=100)
    parser = _Parser(prog="dcu-asv", description=_DESCRIPTION, epilog=_EXIT_CODES, formatter_class=style)
    parser.add_argument("--version", action="version", version=f"dcu-asv {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for name, (_, summary) in COMMANDS.items():
        description = f"{summary[0].upper()}{summary[1:]}."
        one = commands.add_parser(
            name, help=summary, description=description, epilog=_EXIT_CODES, formatter_class=style
        )
        if name in arguments:
            _module(name).add_arguments(one)
    return parser


def _module(name: str) -> Any:
    return importlib.import_module(f"{__package__}.{COMMANDS[name][0]}")


if __name__ == "__main__":
    sys.exit(main())
