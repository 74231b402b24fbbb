"""Every figure of a comparison of two commits on data whose truth is known, printed; asv's own rule beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .asv_rule import asv_judge
from .decision_data import Array, Trials, consecutive_days, load_django, load_runs, split, suites
from .decision_quality import (
    Judge,
    Rate,
    SessionQuality,
    SuiteJudge,
    SuiteQuality,
    each_alone,
    quality,
    quality_line,
    session_quality,
    suite_quality,
)

FACTORS = (1.05, 1.1)


@dataclass(frozen=True)
class Design:
    what: str
    flavour: str
    rounds: int
    samples: int
    history: str  # "all": earlier runs whole; "same": cut to this design; "": none


DESIGNS = (
    Design("2 rounds x 5, history of whole runs", "jit", 2, 5, "all"),
    Design("2 rounds x 5, history of 2 x 5", "jit", 2, 5, "same"),
    Design("2 rounds x 5, no history", "jit", 2, 5, ""),
    Design("5 rounds x 3, history of whole runs", "base", 5, 3, "all"),
    Design("5 rounds x 3, history of 5 x 3", "base", 5, 3, "same"),
    Design("5 rounds x 3, no history", "base", 5, 3, ""),
)


def trials_of(
    design: Design, data: Path, half: str | None = None, *, quick: bool = False, random_values: bool = False
) -> Trials:
    trials = split(
        load_runs(data, design.flavour, half),
        design.rounds,
        design.samples,
        step=4 if quick else 1,
        same_design=design.history == "same",
        random_values=random_values,
    )
    return trials if design.history else trials.without_history()


def suites_of(data: Path, half: str | None = None, *, quick: bool = False) -> list[Trials]:
    """Suites of 100 pairs or more; the processes of each run are dealt three times (quick: once)."""
    runs = load_runs(data, "base", half)
    return [suite for seed in range(1 if quick else 3) for suite in suites(runs, seed=seed)]


def hundredfold(decide: Callable[[Array, Array], str]) -> dict[str, str]:
    """Verdicts on 6 against 6 samples, 100 times slower, for the ways they can fall into rounds."""
    samples = 1.0 + 0.01 * np.random.default_rng(6).standard_normal(12)
    found = {}
    for rounds in (1, 2, 6):
        before, after = samples[:6].reshape(rounds, -1), 100 * samples[6:].reshape(rounds, -1)
        found[f"{rounds} x {6 // rounds}"] = decide(before, after)
    return found


# Printing


def suite_line(name: str, judged: SuiteQuality) -> str:
    covered = "" if judged.covered is None else f"  covered {judged.covered}"
    return (
        f"  {name:24} found {judged.found}  alarms a suite {_count(judged.alarms)}"
        f"  with nothing changed {_count(judged.alarms_unchanged)}  refused {100 * judged.refused:.1f} %"
        f"{covered}  ({judged.suites} suites)"
    )


def _count(found: Rate) -> str:
    return f"{found.value:.3f} +- {found.error:.3f}"


def session_line(name: str, judged: SessionQuality) -> str:
    return (
        f"  {name:10} flagged {100 * judged.flagged:.2f} %  refused {100 * judged.refused:.1f} %  of {judged.pairs}; "
        f"where the common shift is below 1 %: refused {100 * judged.calm_refused:.1f} %,"
        f" flagged {100 * judged.calm_flagged:.2f} % of {judged.calm}; +5 % found {100 * judged.found:.0f} %"
    )


def report(
    data: Path,
    *,
    judge: Judge | None = None,
    suite_judge: SuiteJudge | None = None,
    session_judge: SuiteJudge | None = None,
    with_asv: bool = True,
    half: str | None = None,
    quick: bool = False,
    random_values: bool = False,
    designs: Sequence[Design] = DESIGNS,
) -> None:
    """Print every figure of the given judges, and asv's beside them.

    session_judge: told that the two sides are of different sessions; suite_judge has to find out.
    """
    print(
        f"half: {half or 'both'}; false alarms, then power at +2, +5 and +10 %; 'no change' at the same four"
    )
    for design in designs:
        trials = trials_of(design, data, half, quick=quick, random_values=random_values)
        print(f"{design.what} ({design.flavour}; {len(trials)} trials)")
        if judge is not None:
            begin = time.perf_counter()
            print(
                quality_line("ours", quality(judge, trials)),
                f" {time.perf_counter() - begin:.0f} s",
                flush=True,
            )
        if with_asv and not design.history:
            for factor in FACTORS:
                print(quality_line(f"asv {factor}", quality(asv_judge(factor), trials)), flush=True)
    drawn = suites_of(data, half, quick=quick)
    print(f"suites of {len(drawn[0])} (base, 5 rounds x 3), 5 % of each 5 % slower")
    if suite_judge is not None:
        for history in (True, False):
            name = "ours" if history else "ours, no history"
            print(suite_line(name, suite_quality(suite_judge, drawn, history=history)), flush=True)
    if with_asv:
        for factor in FACTORS:
            judged = suite_quality(each_alone(asv_judge(factor)), drawn, history=False)
            print(suite_line(f"asv {factor}", judged), flush=True)
    every = 4 if quick else 1
    for what, sessions in (
        ("consecutive commits on hosted runners (2 rounds x 5)", load_django(data, half)[::every]),
        (
            "consecutive days of one machine (5 rounds x 3), real changes included",
            consecutive_days(data, half)[::every],
        ),
    ):
        print(f"{what}: each side a session of its own")
        if suite_judge is not None:
            print(session_line("ours", session_quality(suite_judge, sessions)), flush=True)
        if session_judge is not None:
            print(session_line("ours, told", session_quality(session_judge, sessions)), flush=True)
        if with_asv:
            for factor in FACTORS:
                print(session_line(f"asv {factor}", session_quality(each_alone(asv_judge(factor)), sessions)))
