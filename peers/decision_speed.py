"""Seconds to decide a suite of 10 000 pairs, beside `asv compare`'s own work on the same pairs."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from asv.commands.compare import Compare
from asv.config import Config
from asv_runner.statistics import compute_stats

from .decision_data import Array

PAIRS, ROUNDS, SAMPLES, RUNS = 10_000, 5, 10, 20


def made(runs: int, seed: int) -> Array:
    """(pairs, runs, rounds, samples) of the noise of a quiet machine: 0.4 % between rounds, 0.3 % within."""
    generator = np.random.default_rng(seed)
    level = 0.004 * generator.standard_normal((PAIRS, runs, ROUNDS, 1))
    return np.exp(level + 0.003 * generator.standard_normal((PAIRS, runs, ROUNDS, SAMPLES)))


def pairs() -> list[tuple[Array, Array]]:
    """Every 20th pair is 5 % slower."""
    sides = made(2, seed=1)
    sides[::20, 1] *= 1.05
    return [(before, after) for before, after in sides]


Side = list[tuple[Any, ...]]


def result_set(sides: Iterable[Array]) -> Side:
    """What `asv compare` has in hand once the files are read: results, statistics and samples, as asv stores them."""
    rows: Side = []
    for index, rounds in enumerate(sides):
        samples = rounds.ravel().tolist()
        result, stats = compute_stats(samples, 1)
        rows.append((f"suite.time_{index:05}", [], [result], [stats], [samples], "1", "machine", "env"))
    return rows


@contextlib.contextmanager
def _configuration(names: Iterable[str]) -> Iterator[Config]:
    """A configuration whose results folder holds nothing but the benchmark list that asv asks for."""
    known: dict[str, Any] = {name: {"name": name, "params": [], "unit": "seconds"} for name in names}
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        Path(folder, "benchmarks.json").write_text(json.dumps({**known, "version": 2}), encoding="utf-8")
        conf = Config()
        conf.results_dir = folder
        yield conf


def seconds(
    compare_suite: Callable[..., Iterable[Any]], *, history: bool = False, turns: int = 3
) -> tuple[float, float]:
    """Ours and asv's, the fastest of a few turns each, taken in turn.

    asv's is Compare.print_table on result sets in memory, at factor 1.05; what it prints goes nowhere.
    """
    given = pairs()
    past = [list(runs) for runs in made(RUNS, seed=2)] if history else None
    before, after = (result_set(pair[side] for pair in given) for side in (0, 1))
    ours, theirs = [], []
    with _configuration(row[0] for row in before) as conf:
        for _ in range(turns):
            begin = time.perf_counter()
            list(compare_suite(given, history=past))
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                Compare.print_table(conf, "a" * 40, "b" * 40, 1.05, False, iter(before), iter(after))
            theirs.append(time.perf_counter() - begin)
    return min(ours), min(theirs)
