"""The comparison of two commits beside asv's own rule, on real pairs whose true difference is known.

    python -m peers.decisions --data DIR [--half dev|test] [--quick] [--no-asv] [--compare MODULE:NAME] ...

prints every figure; `make peers` those that are to be reached, on the half of the benchmarks that no method was
chosen on.
"""

from __future__ import annotations

import argparse
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dcu_asv_ext.stats import compare, compare_suite

from . import decision_speed
from .asv_rule import asv_judge, measured, verdict
from .decision_data import HALVES, load_django
from .decision_quality import (
    SLOWER,
    Quality,
    each_alone,
    named_function,
    one_by_one,
    quality,
    session_quality,
    suite_quality,
    together,
)
from .decision_report import DESIGNS, Design, hundredfold, report, suites_of, trials_of
from .report import Row

FACTOR = 1.05
ASV = f"asv {version('asv')} at factor {FACTOR}"

#: Largest share of false alarms, and least power at each change, in percent.
REACH: dict[str, tuple[float, dict[float, float]]] = {
    "2 rounds x 5, history of whole runs": (1.0, {0.05: 84.0, 0.10: 98.0}),
    "5 rounds x 3, history of whole runs": (0.2, {0.02: 47.0, 0.05: 97.0}),
    "5 rounds x 3, no history": (1.0, {0.05: 90.0}),
}
COVERAGE = (93.0, 97.5)


def rows(data: Path, half: str | None = "test") -> list[Row]:
    found: list[Row] = []
    covered: list[float] = []
    for design in DESIGNS:
        if design.what in REACH:
            trials = trials_of(design, data, half)
            ours, theirs = quality(one_by_one(compare), trials), quality(asv_judge(FACTOR), trials)
            found += design_rows(design, ours, theirs)
            covered += [100 * ours.covered.value] if ours.covered else []
            print(f"  decisions, {design.what}: {len(trials)} pairs", flush=True)
    drawn = suites_of(data, half)
    suite, peer = (
        suite_quality(judge, drawn, history=history)
        for judge, history in ((together(compare_suite), True), (each_alone(asv_judge(FACTOR)), False))
    )
    covered += [100 * suite.covered.value] if suite.covered else []
    what = f"suite of {len(drawn[0])}, 5 % of it made 5 % slower"
    found += [
        at_least(f"{what}: found", 100 * suite.found.value, 100 * peer.found.value, 97.0, suite.found.error),
        at_most(f"{what}: false alarms", suite.alarms.value, peer.alarms.value, "", 0.1, suite.alarms.error),
        Row(
            "coverage of the 95 % interval, lowest of these",
            min(covered),
            None,
            "%",
            COVERAGE[0],
            at_least=True,
        ),
        Row(
            "coverage of the 95 % interval, highest of these",
            max(covered),
            None,
            "%",
            COVERAGE[1],
            absolute=True,
        ),
    ]
    return [*found, hundredfold_row(), session_row(data, half)]


def design_rows(design: Design, ours: Quality, theirs: Quality) -> list[Row]:
    most, least = REACH[design.what]
    mine, peer = ours.false_alarms, theirs.false_alarms
    found = [
        at_most(
            f"{design.what}: false alarms", 100 * mine.value, 100 * peer.value, "%", most, 100 * mine.error
        )
    ]
    for change, power in least.items():
        mine, peer = ours.flagged[change], theirs.flagged[change]
        what = f"{design.what}: found of {100 * change:+.0f} %"
        found.append(at_least(what, 100 * mine.value, 100 * peer.value, power, mine.error))
    return found


def at_most(what: str, ours: float, peer: float, unit: str, reach: float, error: float) -> Row:
    return Row(
        what, ours, peer, unit, reach, f"{ASV}; standard error {error:.2g} {unit}".rstrip(), absolute=True
    )


def at_least(what: str, ours: float, peer: float, reach: float, error: float) -> Row:
    """Shares in percent; error: a fraction."""
    return Row(what, ours, peer, "%", reach, f"{ASV}; standard error {100 * error:.2g} %", at_least=True)


def hundredfold_row() -> Row:
    ours = hundredfold(lambda *sides: compare(*sides).verdict)
    theirs = hundredfold(lambda before, after: verdict(measured(before), measured(after), FACTOR))
    found = [sum(said == SLOWER for said in each.values()) for each in (ours, theirs)]
    what = f"6 against 6 samples, 100 times slower: found, of {len(ours)} ways"
    return Row(what, found[0], found[1], "", len(ours), ASV, at_least=True)


def session_row(data: Path, half: str | None) -> Row:
    sessions = load_django(data, half)
    ours = session_quality(together(compare_suite), sessions)
    theirs = session_quality(each_alone(asv_judge(FACTOR)), sessions)
    print(
        f"  decisions, consecutive commits: {100 * ours.refused:.1f} % of {ours.pairs} pairs refused; "
        f"{100 * ours.calm_refused:.1f} % of the {ours.calm} whose suites moved by less than 1 %",
        flush=True,
    )
    what = "consecutive commits, another machine each: flagged"
    return Row(what, 100 * ours.flagged, 100 * theirs.flagged, "%", 3.0, ASV, absolute=True)


def timing_rows() -> list[Row]:
    what = f"deciding a suite of {decision_speed.PAIRS} pairs of 5 x 10"
    ours, theirs = decision_speed.seconds(compare_suite)
    return [Row(what, ours, theirs, "s", 0.2, "asv compare on the same pairs, from results in memory")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers.decisions", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("DCU_ASV_DATA"), help="folder of the data"
    )
    parser.add_argument("--half", choices=HALVES, help="one half of the benchmarks only")
    parser.add_argument("--quick", action="store_true", help="a quarter of the trials")
    parser.add_argument("--no-asv", action="store_true", help="ours only")
    parser.add_argument("--only-asv", action="store_true", help="asv's rule only")
    parser.add_argument(
        "--random-values", action="store_true", help="rounds keep random values, not their first"
    )
    parser.add_argument("--compare", default="dcu_asv_ext.stats:compare", metavar="MODULE:NAME")
    parser.add_argument("--suite", default="dcu_asv_ext.stats:compare_suite", metavar="MODULE:NAME")
    options = parser.parse_args()
    if options.data is None or not options.data.is_dir():
        parser.error("the data's folder is needed: --data DIR, or DCU_ASV_DATA")
    judges: dict[str, Any] = {}
    if not options.only_asv:
        one, many = named_function(options.compare), named_function(options.suite)
        print("6 against 6 samples, 100 times slower:", hundredfold(lambda *sides: one(*sides).verdict))
        judges = {
            "judge": one_by_one(one),
            "suite_judge": together(many),
            "session_judge": together(many, across_sessions=True),
        }
    report(
        options.data,
        **judges,
        with_asv=not options.no_asv,
        half=options.half,
        quick=options.quick,
        random_values=options.random_values,
    )


if __name__ == "__main__":
    main()
