"""`dcu-asv gate`: whether a candidate is right, no slower end to end, and no heavier than its base."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparing import figures
from ..comparing.model import ComparisonError
from ..exit_codes import NOTHING_COMPARABLE, WRONG_USE
from .choosing import (
    Chosen,
    NothingComparable,
    Wanted,
    WrongUse,
    check_selected,
    from_files,
    from_project,
    matcher,
)
from .options import add_bench, add_config, add_forms, add_no_history, add_repeated, add_vary
from .reporting import OutputError, emit, print_json, style
from .run import BUDGET, INTERRUPTED, MOST_ROUNDS, ROUNDS, asv_on_stderr, seconds

if TYPE_CHECKING:
    from ..gates.model import Answer
    from ..gates.policy import Policy

_CONFIGS = ("asv.conf.json", "asv.conf.jsonc")

_ABOUT = """\
BASE and CANDIDATE are commits, branches or tags, or two result files, as dcu-asv compare takes them.
The candidate has to pass three gates together; each names the benchmarks and figures that decided.

correctness   every result is finite and within its benchmark's tolerance; the largest error is no more
              than "growth" times the base's (up to 10 units of rounding or a tenth of the tolerance it
              may grow freely); what ran and was checked in the base still does. "unchecked": benchmarks
              with neither reference nor check, to "allow" or "forbid"
performance   no latency of a benchmark of kind "workload" regressed, by dcu-asv compare's verdict; surely
              no slower than "equivalence" passes too. A gain in micro benchmarks, device_time or host_time
              alone is a prototype, not shown end to end: "prototype" is "stop" or "allow". "require" is
              "no regression", or "improvement" of at least one workload. "micro": "tell" or "gate" the
              latency of micro benchmarks
resources     each metric within its allowance, in percent or bytes; null: not gated. What never varies is
              held against it exactly, of what does the whole 95 % interval has to lie within (within 5 %
              where the allowance is less, and it is heavier where that lies beyond 1 %)

configuration in asv.conf.json (these are the defaults; a rule replaces settings for what its "bench", a
regular expression as --bench, and "metric", a name or pattern, match; the last rule that matches wins;
null instead of settings leaves the gate out):
  "dcu": {"gate": {
    "correctness": {"growth": 10, "unchecked": "allow"},
    "performance": {"margin": "1%", "equivalence": "5%", "require": "no regression",
                    "prototype": "stop", "micro": "tell"},
    "resources": {"peak_allocated": "0%", "peak_reserved": "5%", "peak_card": "5%", "memory_growth": "0 B",
                  "cold_start": "25%", "compile_time": "25%", "package_size": "10%"},
    "rules": [{"bench": "attention", "resources": {"peak_reserved": "16 MiB"}},
              {"metric": "peak_*", "resources": "10%"}, {"bench": "draft\\\\.", "performance": null}]}}
(and "rules": [] by default)

exit codes: 0 passed; 1 a gate failed, 2 where a benchmark failed in the candidate and not in the base;
4 a gate could not be asked, since something is not comparable or was not measured in the candidate;
5 inconclusive: more rounds are needed, and --rerun measures them.

examples:
  dcu-asv gate main HEAD
  dcu-asv gate v1.2 HEAD --require-improvement --rerun --budget 30m
  dcu-asv gate main HEAD --markdown --junit gate.xml
  dcu-asv gate old/ab12cd34-env.json new/ef56ab78-env.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("before", metavar="BASE", help="the commit or result file to compare against")
    add("after", metavar="CANDIDATE", help="the commit or result file that has to pass")
    add_config(parser)
    for name, what in (("machine", "machine"), ("env", "environment (its name, or a part that only it has)")):
        add_repeated(
            parser, f"--{name}", "NAME", f"results of this {what}; twice: of BASE's and of CANDIDATE's"
        )
    add_bench(parser, "gate only benchmarks")
    add_vary(parser)
    add_no_history(parser)
    add("--require-improvement", action="store_true", help="at least one workload's latency has to improve")
    add(
        "--rerun",
        action="store_true",
        help="where the answer is inconclusive, measure both commits afresh, interleaved, in as many rounds as are "
        f"needed (at most {MOST_ROUNDS}), and ask again; nothing is written to results/",
    )
    add("--budget", type=seconds, metavar="TIME", help=f"wall time for --rerun's rounds (default: {BUDGET})")
    add(
        "--junit",
        metavar="FILE",
        help="write JUnit's XML, a test case for each gate and benchmark (-: on standard output, alone)",
    )
    add("--all", action="store_true", help="every finding, also the many that pass")
    add_forms(parser)


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, ResultsError
    from ..asv_plugin.settings import SettingsError
    from ..gates.configuration import GateConfigError

    try:
        return _gate(_wanted(options), options)
    except (NothingComparable, NoResults) as error:
        return _refuse(error, NOTHING_COMPARABLE)
    except (WrongUse, ResultsError, ComparisonError, OutputError, SettingsError, GateConfigError) as error:
        return _refuse(error, WRONG_USE)


def _refuse(error: object, code: int) -> int:
    _tell(f"dcu-asv gate: {error}")
    return code


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _wanted(options: argparse.Namespace) -> Wanted:
    """Raises WrongUse for options that contradict each other."""
    for name in ("machine", "env"):
        if len(getattr(options, name)) > 2:
            raise WrongUse(f"--{name} is given {len(getattr(options, name))} times, and there are two sides")
    if options.junit == "-" and (options.json or options.markdown):
        raise WrongUse("--junit - takes standard output; name a file, or leave out --json and --markdown")
    if options.budget is not None and not options.rerun:
        raise WrongUse("--budget is for the rounds that --rerun measures")
    wanted = Wanted(
        options.before, options.after, options.machine, options.env, history=not options.no_history
    )
    if wanted.files and options.rerun:
        raise WrongUse(
            "--rerun measures two commits, and result files do not tell where they can be installed"
        )
    return wanted


def _gate(wanted: Wanted, options: argparse.Namespace) -> int:
    from ..gates.deciding import decide
    from ..gates.model import INCONCLUSIVE, exit_code

    policy = _policy(wanted, options)
    match = matcher(options.bench, [])
    chosen, notes = _chosen(wanted, options)
    check_selected([*chosen.before, *chosen.after], match)

    def ask(sides: Chosen) -> Answer:
        found = decide(
            sides.before, sides.after, policy, history=sides.history, vary=options.vary, match=match
        )
        found.notes += notes
        found.can_rerun = not wanted.files
        return found

    answer, interrupted = ask(chosen), False
    if options.rerun and answer.outcome == INCONCLUSIVE:
        asked = {one.name for one in answer.open_findings}
        fresh, rounds, interrupted = _measured_again(answer, chosen, options)
        answer = ask(fresh)
        answer.notes.append(
            f"measured again in {figures.count(rounds, 'interleaved round')} of both sides: "
            f"{', '.join(sorted(asked))}"
        )
    elif options.rerun:
        _tell(f"nothing to measure again: {answer.outcome}")
    code = INTERRUPTED if interrupted else exit_code(answer)
    _show(answer, code, options)
    return code


def _policy(wanted: Wanted, options: argparse.Namespace) -> Policy:
    """As asv.conf.json has it; the defaults for two files where there is none."""
    from ..asv_plugin.results import load_config
    from ..asv_plugin.settings import settings_of
    from ..gates.configuration import policy_of
    from ..gates.policy import AN_IMPROVEMENT

    if wanted.files and options.config is None and not any(map(os.path.isfile, _CONFIGS)):
        policy = policy_of({})
    else:
        policy = policy_of(dict(settings_of(load_config(options.config)).gate))
    if options.require_improvement:
        policy = replace(policy, performance=replace(policy.performance, require=AN_IMPROVEMENT))
    return policy


def _chosen(wanted: Wanted, options: argparse.Namespace) -> tuple[Chosen, list[str]]:
    """What is compared, and what was passed over in finding it."""
    from ..asv_plugin.results import Project

    if wanted.files:
        return from_files(wanted), []
    project = Project.open(options.config)
    return from_project(project, wanted), project.notes


# ---- measuring again


def _measured_again(answer: Answer, chosen: Chosen, options: argparse.Namespace) -> tuple[Chosen, int, bool]:
    """The sides with fresh rounds of what was inconclusive, how many, and whether Ctrl-C ended them early.

    Raises WrongUse where they cannot be measured.
    """
    from ..asv_plugin.interleaving import MeasuringError
    from ..daily import loop, recheck
    from ..daily.choice import ChoiceError
    from ..daily.experiment import ExperimentError
    from ..daily.measured import Rule

    keys = [one.key for one in answer.open_findings if one.key is not None]
    names = [f"{key.benchmark}({', '.join(key.params)})" if key.params else key.benchmark for key in keys]
    before, after = chosen.before[0], chosen.after[0]
    request = recheck.Wanted(
        before.commit,
        after.commit,
        (before.label, after.label),
        list(dict.fromkeys(names)),
        after.machine,
        _rounds(answer),
        options.budget or seconds(BUDGET),
        options.config,
        Rule(vary=options.vary, history=chosen.history),
    )
    if before.machine != after.machine:
        raise WrongUse("--rerun measures on one machine, and the results are of two")
    here = Path.cwd()
    try:
        with asv_on_stderr(False), redirect_stdout(sys.stderr):
            found = recheck.recheck(request, _tell)
    except (ChoiceError, ExperimentError, MeasuringError, OSError) as fault:
        raise WrongUse(f"--rerun: {fault}") from None
    finally:
        os.chdir(here)
    ended = found.outcome
    _tell(
        f"{figures.count(ended.rounds, 'round')} of both sides in {loop.duration(ended.seconds)}; raw data: "
        f"{found.folder}"
    )
    if ended.fault:
        raise WrongUse(f"--rerun: {ended.fault}")
    sides = [
        recheck.renewed(old, new) for old, new in ((chosen.before, found.before), (chosen.after, found.after))
    ]
    return replace(chosen, before=sides[0], after=sides[1]), ended.rounds, ended.ended == loop.INTERRUPTED


def _rounds(answer: Answer) -> int:
    """As many as the open findings have and need, within the bounds of `dcu-asv run`."""
    needed = [
        max(one.figures.rounds if one.figures else (0,)) + (one.rounds_needed or MOST_ROUNDS)
        for one in answer.open_findings
    ]
    return min(max([ROUNDS, *needed]), MOST_ROUNDS)


# ---- showing


def _show(answer: Answer, code: int, options: argparse.Namespace) -> None:
    """Raises OutputError."""
    from ..gates import as_json, junit, markdown, text

    if options.junit == "-":
        emit(junit.render(answer))
        return
    if options.junit is not None:
        _write(options.junit, junit.render(answer))
    if options.json:
        print_json(as_json.as_json(answer, code))
    elif options.markdown:
        emit(markdown.render(answer))
    else:
        emit(text.render(answer, style(options.all)))


def _write(path: str, told: str) -> None:
    try:
        Path(path).write_text(told + "\n", encoding="utf-8")
    except OSError as fault:
        raise OutputError(f"{path} cannot be written: {fault.strerror or fault}") from None
