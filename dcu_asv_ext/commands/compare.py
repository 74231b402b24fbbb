"""`dcu-asv compare`: what changed between two commits, and how sure that is."""

from __future__ import annotations

import argparse
import sys

from ..comparing import selfcheck_text
from ..comparing.model import ComparisonError
from ..comparing.outcome import exit_code, refusal
from ..exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from .choosing import (
    Chosen,
    NothingComparable,
    Wanted,
    WrongUse,
    check_selected,
    from_files,
    from_project,
    matcher,
    one_commit,
)
from .options import add_bench, add_config, add_forms, add_metric, add_no_history, add_repeated
from .reporting import OutputError, add_decision_arguments, emit, margins_fault, print_json, show, style

_ABOUT = """\
A and B are commits, branches or tags, of the repository or of the results alone; or two result
files (asv's .json or .evidence.jsonl), which need no repository. Without B, A is compared with
the newest commit of the configuration's first branch that has results on the same machine.

verdicts:
  regression, improvement   the ratio is beyond the margin (--margin); false discoveries are
                            held down over the whole suite
  no change                 the ratio is within the equivalence bound (--equivalence)
  inconclusive              neither; the reason says how many more rounds would settle it
  not comparable            another version of the benchmark, another machine, or more than the
                            code changed; what is the experiment is declared with --vary
  failed, fixed, missing, only before, only after
                            there is no number on one side

examples:
  dcu-asv compare main HEAD
  dcu-asv compare v1.0 v1.1 --bench 'gemm\\.' --metric latency --margin 2%
  dcu-asv compare HEAD HEAD --machine k100 --machine k100ai --vary machine
  dcu-asv compare old/ab12cd34-env.json new/ab12cd34-env.json
  dcu-asv compare main HEAD --markdown --fail-on regression,failed,inconclusive
  dcu-asv compare --self HEAD
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("before", metavar="A", nargs="?", help="the commit or result file to compare against")
    add("after", metavar="B", nargs="?", help="the commit or result file that is judged")
    add(
        "--self",
        dest="itself",
        metavar="COMMIT",
        help="compare the rounds of one commit with each other: "
        "the false alarms of this suite on this machine, and the smallest change that it can detect",
    )
    add_config(parser)
    add_repeated(parser, "--machine", "NAME", "results of this machine; twice: of A's and of B's")
    add_repeated(
        parser,
        "--env",
        "NAME",
        "results of this environment (its name, or a part that only it has); twice: A's and B's",
    )
    add_bench(parser, "show only benchmarks", more=" (what is shown does not change what is decided)")
    add_metric(parser, "show only this metric")
    add_no_history(parser)
    add_decision_arguments(parser)
    add_forms(parser)


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, ResultsError

    try:
        wanted = _wanted(options)
        return _self_check(wanted, options) if options.itself else _compare(wanted, options)
    except (NothingComparable, NoResults) as error:
        return _refuse(error, NOTHING_COMPARABLE)
    except (WrongUse, ResultsError, ComparisonError, OutputError) as error:
        return _refuse(error, WRONG_USE)


def _refuse(error: Exception, code: int) -> int:
    print(f"dcu-asv compare: {error}", file=sys.stderr)
    return code


def _wanted(options: argparse.Namespace) -> Wanted:
    """Raises WrongUse for options that contradict each other."""
    if options.itself and options.before:
        raise WrongUse("--self takes the one commit; leave out A and B")
    if not options.itself and not options.before:
        raise WrongUse("name the commit to compare against: dcu-asv compare A [B], or --self COMMIT")
    if options.itself and options.markdown:
        raise WrongUse("--self has no --markdown")
    if fault := margins_fault(options.margin, options.equivalence):
        raise WrongUse(fault)
    for name in ("machine", "env"):
        if len(getattr(options, name)) > (1 if options.itself else 2):
            raise WrongUse(
                f"--{name} is given {len(getattr(options, name))} times, and there are fewer sides"
            )
    return Wanted(
        options.itself or options.before,
        options.after,
        options.machine,
        options.env,
        history=not options.no_history,
    )


def _compare(wanted: Wanted, options: argparse.Namespace) -> int:
    from ..comparing.deciding import report

    match = matcher(options.bench, options.metric)
    chosen, notes = _chosen(wanted, options)
    check_selected([*chosen.before, *chosen.after], match)
    found = report(
        chosen.before,
        chosen.after,
        history=chosen.history,
        vary=options.vary,
        margin=options.margin,
        equivalence=options.equivalence,
    )
    # Chosen afterwards: what is looked at must not change what is decided.
    found.rows = [row for row in found.rows if match is None or match(row.key)]
    found.notes += notes
    found.settings = {**found.settings, **_asked(options), "history": _commits(chosen)}
    if not wanted.files:
        found.settings["against"] = wanted.before
    code = exit_code(found, options.fail_on)
    show(found, code, options)
    if code == NOTHING_COMPARABLE:
        print(f"dcu-asv compare: {refusal(found)}", file=sys.stderr)
    return code


def _asked(options: argparse.Namespace) -> dict[str, list[str]]:
    return {"bench": options.bench, "metric": options.metric, "fail_on": list(options.fail_on)}


def _commits(chosen: Chosen) -> int:
    """Earlier commits that lend their noise."""
    sides = {one.commit for one in (*chosen.before, *chosen.after)}
    return len({one.commit for one in chosen.history} - sides)


def _self_check(wanted: Wanted, options: argparse.Namespace) -> int:
    from ..comparing.selfcheck import FEWEST_ROUNDS, selfcheck

    match = matcher(options.bench, options.metric)
    chosen, _ = _chosen(wanted, options)
    check_selected(chosen.before, match)
    found = selfcheck(
        chosen.before,
        history=chosen.history,
        margin=options.margin,
        equivalence=options.equivalence,
        match=match,
    )
    code = FINE if found.rates else NOTHING_COMPARABLE
    if options.json:
        print_json(selfcheck_text.as_object(found, code))
    else:
        emit(selfcheck_text.render(found, style().width))
    if code == NOTHING_COMPARABLE:
        print(f"dcu-asv compare: no benchmark has {FEWEST_ROUNDS} rounds, two a side", file=sys.stderr)
    return code


def _chosen(wanted: Wanted, options: argparse.Namespace) -> tuple[Chosen, list[str]]:
    """What is compared, and what was passed over in finding it."""
    from ..asv_plugin.results import Project

    if wanted.files:
        return from_files(wanted), []
    project = Project.open(options.config)
    choose = one_commit if options.itself else from_project
    return choose(project, wanted), project.notes
