"""Pairs of measurements whose true difference is known, cut from real data.

A run of a benchmark is an array (processes, values). Two disjoint groups of the processes of one run compare a build
with itself; multiplying one side injects a change of known size.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALVES = ("dev", "test")
HISTORY = 20  # earlier runs


@dataclass(frozen=True)
class Trials:
    """Comparisons of one design, all of one shape.

    names: benchmark of each trial; before, after: (trials, rounds, samples), seconds;
    history: (trials, runs, rounds, samples), the runs right before this one, or None.
    """

    names: NDArray[np.str_]
    before: Array
    after: Array
    history: Array | None

    def __len__(self) -> int:
        return len(self.names)

    def changed(self, ratio: float | Array) -> Trials:
        """The same with every after side (one factor, or one per trial) that many times slower."""
        factor = np.broadcast_to(np.asarray(ratio, dtype=np.float64), len(self))
        return replace(self, after=self.after * factor[:, None, None])

    def without_history(self) -> Trials:
        return replace(self, history=None)

    def pick(self, chosen: Any) -> Trials:
        history = None if self.history is None else self.history[chosen]
        return Trials(self.names[chosen], self.before[chosen], self.after[chosen], history)


@dataclass(frozen=True)
class Suite:
    """One comparison of a whole suite: `histories` holds, per pair, the earlier runs as (rounds, samples) arrays."""

    names: list[str]
    pairs: list[tuple[Array, Array]]
    histories: list[list[Array]] | None

    def slower(self, chosen: Iterable[int], ratio: float) -> Suite:
        """The same with the after side of the chosen pairs that many times slower."""
        pairs = list(self.pairs)
        for index in chosen:
            before, after = pairs[index]
            pairs[index] = (before, after * ratio)
        return replace(self, pairs=pairs)

    @property
    def common_shift(self) -> float:
        """The median over benchmarks of the log ratio after / before, of pooled medians."""
        ratios = [np.log(np.median(after) / np.median(before)) for before, after in self.pairs]
        return float(np.median(ratios))


def half_of(name: str) -> str:
    """The half a benchmark belongs to, by a hash of its name: methods are chosen on dev, reported on test."""
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def in_half(name: str, half: str | None) -> bool:
    return half is None or half_of(name) == half


def load_runs(data: Path, flavour: str, half: str | None = None) -> dict[str, Array]:
    """Benchmark -> (runs, processes, values) in seconds, of aa_pyperf.npz; flavour: `base` or `jit`."""
    found = {}
    with np.load(data / "aa_pyperf.npz") as archive:
        for key in sorted(archive.files):
            kind, name = key.split("/", 1)
            if kind == flavour and in_half(name, half):
                found[name] = archive[key].astype(np.float64)
    return found


def split(
    runs: dict[str, Array],
    rounds: int,
    samples: int,
    *,
    groups: int = 1,
    step: int = 1,
    same_design: bool = False,
    random_values: bool = False,
    seed: int = 0,
) -> Trials:
    """Every run after the first HISTORY of every benchmark, its processes dealt at random into pairs of sides.

    groups: pairs per run (all sides disjoint); step: take every n-th run only; each round keeps its first
    `samples` values, or that many drawn at random (which scatter more than a shorter round would: the values of a
    process are not independent); same_design: a history run is cut to `rounds` x `samples` too, else it has all its
    processes and values.
    """
    generator = np.random.default_rng(seed)
    names: list[str] = []
    before, after, history = [], [], []
    for name, array in runs.items():
        mixed = generator.permuted(array, axis=2) if random_values else array
        for number in range(HISTORY, len(array), step):
            dealt = generator.permutation(array.shape[1])[: 2 * rounds * groups].reshape(groups, 2, rounds)
            earlier = slice(number - HISTORY, number)
            past = _cut(mixed[earlier], rounds, samples, generator) if same_design else array[earlier]
            for one, other in dealt:
                names.append(name)
                before.append(mixed[number, one, :samples])
                after.append(mixed[number, other, :samples])
                history.append(past)
    return Trials(np.array(names), np.stack(before), np.stack(after), np.stack(history))


def _cut(earlier: Array, rounds: int, samples: int, generator: np.random.Generator) -> Array:
    """Each run's random `rounds` processes, with their first `samples` values."""
    chosen = generator.permuted(np.tile(np.arange(earlier.shape[1]), (len(earlier), 1)), axis=1)[:, :rounds]
    return np.take_along_axis(earlier, chosen[:, :, None], axis=1)[:, :, :samples]


def suites(runs: dict[str, Array], *, least: int = 100, step: int = 1, seed: int = 0) -> Iterator[Trials]:
    """Suites of 5 rounds x 3 of at least that many pairs: two disjoint pairs per benchmark and run, and as many
    successive runs together as it takes."""
    trials = split(runs, 5, 3, groups=2, seed=seed)
    counted = len(next(iter(runs.values()))) - HISTORY
    table = np.arange(len(trials)).reshape(len(runs), counted, 2)
    together = -(-least // (2 * len(runs)))
    for first in range(0, counted - together + 1, together * step):
        yield trials.pick(table[:, first : first + together].ravel())


def consecutive_days(data: Path, half: str | None = None) -> list[Suite]:
    """The suite of one day against the next: 5 rounds x 3 (base), each day a session and a build of its own."""
    runs = load_runs(data, "base", half)
    days = min(len(array) for array in runs.values())
    return [
        Suite(
            list(runs),
            [(array[day - 1, :5], array[day, :5]) for array in runs.values()],
            [list(array[day - 1 - HISTORY : day - 1, :5]) for array in runs.values()],
        )
        for day in range(HISTORY + 1, days)
    ]


def load_django(data: Path, half: str | None = None) -> list[Suite]:
    """Consecutive commits of django_asv_results.tar.gz: 2 rounds x 5, benchmarks of one version on both sides.

    asv stores the samples of the rounds one after the other: the first half is round 1.
    """
    commits: list[tuple[float, dict[str, tuple[str, Array]]]] = []
    with tarfile.open(data / "django_asv_results.tar.gz") as archive:
        for member in archive:
            base = Path(member.name).name
            if base.endswith(".json") and base not in ("benchmarks.json", "machine.json"):
                stored = archive.extractfile(member)
                assert stored is not None
                result = json.load(stored)
                commits.append((result["date"], _rounds_of(result, half)))
    commits.sort(key=lambda commit: commit[0])
    past: dict[tuple[str, str], list[Array]] = {}
    found = []
    for (_, old), (_, new) in itertools.pairwise(commits):
        names = [name for name in old if name in new and old[name][0] == new[name][0]]
        pairs = [(old[name][1], new[name][1]) for name in names]
        histories = [past.get((name, old[name][0]), [])[-HISTORY:] for name in names]
        if names:
            found.append(Suite(names, pairs, histories))
        for name, (version, run) in old.items():
            past.setdefault((name, version), []).append(run)
    return found


def _rounds_of(result: dict[str, Any], half: str | None) -> dict[str, tuple[str, Array]]:
    """Benchmark with parameters -> (version, (2, n) array), where samples are stored."""
    columns = result["result_columns"]
    found = {}
    for name, row in result["results"].items():
        entry = dict(zip(columns, row, strict=False))
        for index, samples in enumerate(entry.get("samples") or []):
            label = f"{name}#{index}"
            if samples and len(samples) % 2 == 0 and in_half(name, half):
                found[label] = (entry["version"], np.array(samples, dtype=np.float64).reshape(2, -1))
    return found
