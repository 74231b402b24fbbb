"""`dcu-asv profile`: a trace, or a benchmark profiled now, read for the user; or two profiles held side by side."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..exit_codes import NOTHING_COMPARABLE, WRONG_USE
from .choosing import NothingComparable, WrongUse
from .options import add_config, add_json, add_place, add_repeated
from .profile_inputs import Inputs, inputs_of
from .reporting import OutputError
from .run import count

if TYPE_CHECKING:
    from .profile_output import Output

#: Those of trace/table_rows.py, which imports numpy.
SORT_KEYS = ("self_device", "device", "self_cpu", "cpu", "calls", "mean", "memory", "name")

_ABOUT = """\
TRACE is a Chrome trace of torch's profiler, .json or .json.gz, or a folder of such; several are
told one by one, ranks of a distributed run by their number. It takes neither torch nor asv.

BENCH is a function of the suite, as module.function or function, with (parameters) where it has
several sets of them. It is profiled now, of the working tree as it is or of --commit, in the
environment that asv measures it in: set-up, first call, warm-up, a short latency pass (which tells
what the profiler costs), and then the profiled calls. Nothing is written to results/.

Printed are what was profiled and what that cost, faults of the trace, totals, findings with their
next steps (the largest first), the operator table, the questions to answer before a kernel is
written, and the kernels. Every time is a profiled one: compare it with others of the same profile,
and with a latency only by the factor that stands beside it.

examples:
  dcu-asv profile trace.json.gz
  dcu-asv profile log/ --json                a folder of traces, a rank each
  dcu-asv profile gemm                       a function of the suite, on the working tree
  dcu-asv profile 'gemm(256, float32)' --commit v1.2 --stacks --html gemm.html
  dcu-asv profile gemm --params n=256 --first --trace gemm.trace.json.gz
  dcu-asv profile trace.json --sort self_cpu --filter aten:: --top 30 --csv -
  dcu-asv profile --compare HEAD~1 HEAD      the profiles in both commits' results
  dcu-asv profile gemm --compare v1.2 HEAD   both profiled now, where a result has none
  dcu-asv profile --compare old.json.gz new.json.gz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("names", nargs="*", metavar="TRACE|BENCH", help="trace files and folders of them, or one benchmark")
    add(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="what changed from one profile to the other: of two commits, branches or tags, or two trace files",
    )
    measuring = parser.add_argument_group("profiling a benchmark")
    measuring.add_argument("--commit", metavar="REV", help="of this commit, not of the working tree")
    add_repeated(
        measuring, "--params", "NAME=VALUE", "the set of parameters, with commas between; repeatable"
    )
    measuring.add_argument(
        "--first", action="store_true", help="profile the first call of the process too, as a page of its own"
    )
    measuring.add_argument(
        "--stacks", action="store_true", help="record Python stacks: findings name lines (and cost more)"
    )
    measuring.add_argument(
        "--trace", metavar="FILE", help="keep the trace there (default: beside the raw data of dcu-asv run)"
    )
    tables = parser.add_argument_group("tables")
    tables.add_argument(
        "--sort",
        choices=SORT_KEYS,
        metavar="KEY",
        help=f"by {', '.join(SORT_KEYS)} (default: the device's own time, else the host's)",
    )
    tables.add_argument(
        "--top", type=count, metavar="N", help="rows of a table (default: 15; of --json and --csv: all)"
    )
    tables.add_argument(
        "--filter",
        metavar="REGEX",
        help="only operators with it in their name, their kernels, and kernels with it in theirs",
    )
    tables.add_argument(
        "--by-shape", action="store_true", help="a row for each operator and its input shapes"
    )
    tables.add_argument(
        "--kernels", action="store_true", help="of the tables that of kernels alone (also of --csv)"
    )
    tables.add_argument("--all", action="store_true", help="every row, and every finding")
    output = parser.add_argument_group("output")
    add_json(output)
    output.add_argument("--csv", metavar="FILE", help="write the table; - prints it, and nothing else")
    output.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with a timeline, which needs no network; a folder for several",
    )
    place = parser.add_argument_group("place")
    add_config(place)
    add_place(place, machine=" (with --compare)")


def run(options: argparse.Namespace) -> int:
    try:
        found = inputs_of(options)
        return _told(options, found)
    except (WrongUse, OutputError) as fault:
        return refuse(fault)
    except NothingComparable as fault:
        refuse(fault)
        return NOTHING_COMPARABLE


def _told(options: argparse.Namespace, found: Inputs) -> int:
    from .profile_output import Output

    output = Output(options, len(found.traces) or 1 + options.first)
    if options.compare is not None:
        from .profile_compare import compare

        return compare(options, found, output)
    if found.traces:
        return _traces(output, found)
    from .profile_bench import profile_bench

    return profile_bench(options, found.benches[0], output)


def _traces(output: Output, found: Inputs) -> int:
    """One by one: a trace is forgotten before the next is read."""
    from ..comparing.profile_page import page_of_file
    from ..trace.errors import EmptyTrace, TraceError

    for path in found.traces:
        try:
            output.add(page_of_file(path))
        except EmptyTrace as fault:
            output.refuse(str(fault), NOTHING_COMPARABLE)
        except TraceError as fault:
            output.refuse(str(fault))
    return output.finish()


def refuse(fault: object) -> int:
    print(f"dcu-asv profile: {fault}", file=sys.stderr, flush=True)
    return WRONG_USE
