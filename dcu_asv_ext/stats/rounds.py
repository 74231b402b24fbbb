"""From raw rounds to one level per round: the median of its samples."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: One side of a comparison: rounds, each a sequence of samples.
Rounds = Sequence[Sequence[float]]

#: Of two such samples the mean would be infinite.
LARGEST = float(np.finfo(np.float64).max) / 2

#: sd of a median over sd of a mean for normal samples, and MAD to sd.
MEDIAN_LOSS, MAD_TO_SD = 1.2533, 1.4826


class BadRounds(ValueError):
    """Samples that no comparison can use; the text says which."""


@dataclass(frozen=True)
class Levels:
    """medians: one per round, in order. samples: of the shortest round.
    sampling: variance of the log of a round's median that the spread inside the rounds explains (0: not known).
    """

    medians: Floats
    samples: int
    sampling: float


def read_rounds(rounds: Rounds, what: str) -> list[Floats]:
    """One side as arrays. Raises BadRounds for no rounds, an empty round, and values that are no measurement."""
    try:
        arrays = [_numbers(one) for one in rounds]
    except TypeError:
        raise BadRounds(f"{what}: rounds must be sequences of samples, one sequence a round") from None
    if not arrays:
        raise BadRounds(f"{what}: there are no rounds")
    found = []
    for number, one in enumerate(arrays, 1):
        if one is None:
            raise BadRounds(f"{what}: round {number} is no sequence of numbers")
        if one.ndim != 1:
            raise BadRounds(f"{what}: rounds must be sequences of samples, one sequence a round")
        if one.size == 0:
            raise BadRounds(f"{what}: round {number} has no samples")
        if np.isnan(one).any():
            raise BadRounds(f"{what}: round {number} holds a sample that is not a number")
        if (one > LARGEST).any():
            raise BadRounds(f"{what}: round {number} holds an infinite sample")
        if (one < 0).any():
            raise BadRounds(f"{what}: round {number} holds a negative sample")
        found.append(one)
    return found


def _numbers(samples: Sequence[float]) -> Floats | None:
    """The samples as an array, None where they are not numbers: text is none, though numpy would read it as one."""
    try:
        found = np.asarray(samples if hasattr(samples, "__len__") else [*samples])
        if found.dtype.kind == "O":
            # A sample that is missing is not a number; what else may be in there numpy looks at once more.
            found = np.array([np.nan if one is None else one for one in found])
    except (ValueError, OverflowError):
        return None
    return as_floats(found)


def as_floats(found: NDArray[Any]) -> Floats | None:
    """None where the array holds anything but real numbers."""
    return found.astype(np.float64) if found.dtype.kind in "biuf" else None


def check_paired(paired: bool, before: Sequence[Floats], after: Sequence[Floats]) -> None:
    """Raises BadRounds for paired rounds of different numbers."""
    if paired and len(before) != len(after):
        raise BadRounds(f"paired rounds must be as many on both sides, not {len(before)} and {len(after)}")


def levels(arrays: Sequence[Floats]) -> Levels:
    """Reduce one side."""
    medians = np.array([np.median(one) for one in arrays])
    return Levels(medians, min(one.size for one in arrays), sampling_variance(arrays))


def sampling_variance(arrays: Sequence[Floats]) -> float:
    """Mean over the rounds of (1.2533 * 1.4826 MAD / median)^2 / n; 0 where no round has two samples."""
    found = []
    for one in arrays:
        middle = float(np.median(one))
        if one.size < 2 or middle <= 0:
            continue
        spread = MEDIAN_LOSS * robust_sd(one, middle) / middle
        found.append(spread**2 / one.size)
    return float(np.mean(found)) if found else 0.0


def robust_sd(values: Floats, middle: float) -> float:
    """Standard deviation about `middle` that a few outliers do not move: from the median absolute deviation."""
    return MAD_TO_SD * float(np.median(np.abs(values - middle)))


def block_levels(block: Floats) -> tuple[Floats, Floats]:
    """The same for many sides of one shape: (..., rounds, samples) -> medians (..., rounds), sampling (...)."""
    medians = np.median(block, axis=-1)
    if block.shape[-1] < 2:
        return medians, np.zeros(block.shape[:-2])
    deviation = np.median(np.abs(block - medians[..., None]), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(medians > 0, MEDIAN_LOSS * MAD_TO_SD * deviation / medians, 0.0)
    return medians, np.mean(spread**2, axis=-1) / block.shape[-1]


@dataclass(frozen=True)
class Earlier:
    """A benchmark's earlier runs, (runs,) each: the variance between the rounds of a run (of the log medians), its
    degrees of freedom, and the run's level (mean log median)."""

    variances: Floats
    df: Floats
    levels: Floats

    def __len__(self) -> int:
        return len(self.variances)


class Run(tuple[Sequence[float], ...]):
    """The rounds of an earlier run, which keeps what comparisons made of it: the next one with the same history need
    not do it again."""

    def __init__(self, rounds: Iterable[Sequence[float]]) -> None:
        #: Samples of a comparison's round -> variance, degrees of freedom and level; None where it tells nothing.
        self.told: dict[int, _Told | None] = {}


#: As `Earlier` has it, of one run.
_Told = tuple[float, float, float]


def earlier_runs(runs: Sequence[Rounds], samples: int) -> Earlier:
    """What the history tells. Runs with fewer than two usable rounds tell nothing of variance and are left out.

    samples: how many a round of the comparison has; of longer rounds as many are taken, evenly spread, since the
    median of more samples varies less. Raises BadRounds for what is no history.
    """
    kept = _kept(runs)
    if kept is not None:
        told = [run.told[samples] if samples in run.told else _told(run, samples) for run in kept]
    else:
        given = _runs(runs)
        block = _uniform(given)
        if block is not None:
            return Earlier(*_of_block(block, samples))
        told = [_told(run, samples) for run in given]
    found = [one for one in told if one is not None]
    variances, df, middles = zip(*found, strict=True) if found else ((), (), ())
    return Earlier(np.array(variances), np.array(df, dtype=np.float64), np.array(middles))


def look_ahead(many: Iterable[tuple[Sequence[Rounds], int]]) -> None:
    """Work out together what `earlier_runs` is going to ask of many benchmarks' runs, (runs, samples) each. Runs with
    a sample that is no plain positive number are left to it."""
    asked = [
        (run, samples)
        for runs, samples in many
        for run in _kept(runs) or ()
        if samples not in run.told and len(run) >= 2 and all(map(len, run))
    ]
    rounds = [_thinned(one, samples) for run, samples in asked for one in run]
    try:
        values = np.fromiter(itertools.chain.from_iterable(rounds), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return
    if not asked:
        return
    good = (values > 0) & (values <= LARGEST)
    # Of bad samples no level is used.
    logs = np.log(segment_medians(np.where(good, values, 1.0), np.array([len(one) for one in rounds])))
    usable = np.logical_and.reduceat(good, _starts(np.array([len(one) for one in rounds])))
    counts = np.array([len(run) for run, _ in asked])
    starts = _starts(counts)
    means = np.add.reduceat(logs, starts) / counts
    squares = np.add.reduceat((logs - np.repeat(means, counts)) ** 2, starts)
    whole = np.logical_and.reduceat(usable, starts).tolist()
    told = zip((squares / (counts - 1)).tolist(), (counts - 1.0).tolist(), means.tolist(), strict=True)
    for (run, samples), one, sound in zip(asked, told, whole, strict=True):
        if sound:
            run.told[samples] = one


def _kept(runs: Sequence[Rounds]) -> list[Run] | None:
    """The runs, if all of them keep what is made of them."""
    if not isinstance(runs, list):
        return None
    found = [run for run in runs if type(run) is Run]
    return found if len(found) == len(runs) else None


def _thinned(samples: Sequence[float], wanted: int) -> Sequence[float]:
    if len(samples) <= wanted:
        return samples
    return [samples[place] for place in _places(len(samples), wanted)]


@functools.lru_cache(maxsize=4096)
def _places(length: int, wanted: int) -> tuple[int, ...]:
    return tuple(_spread_evenly(length, wanted).tolist())


def segment_medians(values: Floats, lengths: NDArray[np.int64]) -> Floats:
    """The medians of segments that follow each other; lengths: of each, at least 1."""
    ordered = values[np.lexsort((values, np.repeat(np.arange(len(lengths)), lengths)))]
    starts = _starts(lengths)
    return np.asarray((ordered[starts + (lengths - 1) // 2] + ordered[starts + lengths // 2]) / 2)


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.cumsum(lengths) - lengths)


def _told(run: Rounds, samples: int) -> _Told | None:
    if not isinstance(run, Run):
        return _of_run(run, samples)
    if samples not in run.told:
        run.told[samples] = _of_run(run, samples)
    return run.told[samples]


def _of_run(run: Rounds, samples: int) -> _Told | None:
    positive = [level for one in run if (level := _level(one, samples)) is not None and level > 0]
    if len(positive) < 2:
        return None
    logs = np.log(positive)
    return float(logs.var(ddof=1)), len(logs) - 1.0, float(logs.mean())


def _of_block(block: Floats, samples: int) -> tuple[Floats, Floats, Floats]:
    """Of runs of one shape, (runs, rounds, samples)."""
    logs = np.log(np.median(block[:, :, _spread_evenly(block.shape[2], samples)], axis=2))
    return logs.var(axis=1, ddof=1), np.full(len(block), block.shape[1] - 1.0), logs.mean(axis=1)


def history_spread(runs: Sequence[Rounds]) -> float:
    """Typical standard deviation between the rounds of an earlier run, on the plain scale; 0 where none tells.
    Raises BadRounds for what is no history."""
    found = []
    for run in _runs(runs):
        medians = np.array([level for one in run if (level := _level(one)) is not None])
        if len(medians) >= 2:
            # Relative to the largest, so that no square leaves the range of numbers.
            largest = float(medians.max()) or 1.0
            found.append(float(np.std(medians / largest, ddof=1)) * largest)
    return float(np.median(found)) if found else 0.0


def _runs(runs: Sequence[Rounds]) -> list[Any]:
    try:
        return [run if isinstance(run, (np.ndarray, Run)) else [*run] for run in runs]
    except TypeError:
        raise BadRounds("history: it must be a sequence of runs, each a sequence of rounds") from None


def _round_of_history(samples: Sequence[float]) -> Floats:
    try:
        array = _numbers(samples)
    except TypeError:
        array = None
    if array is None or array.ndim != 1:
        raise BadRounds("history: it must be a sequence of runs, each a sequence of rounds of numbers")
    return array


def _level(samples: Sequence[float], wanted: int | None = None) -> float | None:
    """The median of a round of an earlier run, or of so many of its samples; None where it has none."""
    array = _round_of_history(samples)
    kept = array if wanted is None else array[_spread_evenly(len(array), wanted)]
    return float(np.median(kept)) if kept.size and (kept <= LARGEST).all() else None


def _spread_evenly(length: int, wanted: int) -> NDArray[np.intp]:
    if length <= wanted:
        return np.arange(length)
    return np.asarray(((np.arange(wanted) + 0.5) * length / wanted).astype(np.intp))


def _uniform(runs: Sequence[Rounds]) -> Floats | None:
    """(runs, rounds, samples) where all have one shape, at least two rounds, and every sample is positive."""
    try:
        block = np.array(runs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    usable = block.ndim == 3 and block.size > 0 and block.shape[1] >= 2
    return block if usable and bool(((block > 0) & (block <= LARGEST)).all()) else None
