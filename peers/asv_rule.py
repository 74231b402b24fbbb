"""asv's own verdict on two sets of samples, by asv's own functions, called as `asv compare` calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
from asv.commands.compare import _is_result_better
from asv_runner.statistics import compute_stats

from .decision_data import Array, Trials
from .decision_quality import FASTER, SLOWER, Answers, Judge

Measured = tuple[float, tuple[dict[str, Any], list[float]]]


def measured(rounds: Array) -> Measured:
    """What asv keeps of one benchmark: the samples of all rounds pooled, their median and their statistics."""
    samples = rounds.ravel().tolist()
    result, stats = compute_stats(samples, 1)
    return result, (stats, samples)


def verdict(before: Measured, after: Measured, factor: float) -> str:
    (old, old_stats), (new, new_stats) = before, after
    if _is_result_better(new, old, new_stats, old_stats, factor):
        return FASTER
    if _is_result_better(old, new, old_stats, new_stats, factor):
        return SLOWER
    return "same"


def asv_judge(factor: float) -> Judge:
    def judge(trials: Trials) -> Answers:
        verdicts = [
            verdict(measured(before), measured(after), factor)
            for before, after in zip(trials.before, trials.after, strict=True)
        ]
        none = np.full(len(verdicts), np.nan)
        return Answers(np.array(verdicts), none, none)

    return judge
