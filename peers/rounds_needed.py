"""How many rounds a change needs: simulated rounds of measured noise levels, judged by `compare`.

python -m peers.rounds_needed [--trials N]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcu_asv_ext.stats import compare

#: What is called finding it: so often of all trials.
POWER = 0.8
ROUNDS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
SAMPLES = 10
HISTORY = 20


@dataclass(frozen=True)
class Noise:
    """Standard deviations (of the log) within a process and between processes."""

    what: str
    within: float
    between: float


#: Medians over the benchmarks of public data: tuned bare metal, hosted runners; and what lies between and beyond.
LEVELS = (
    Noise("tuned bare metal", 0.003, 0.004),
    Noise("a quiet machine", 0.005, 0.008),
    Noise("a hosted runner", 0.010, 0.017),
    Noise("a busy machine", 0.030, 0.040),
)
#: (true change, margin): a change no larger than the margin is none by definition.
CHANGES = ((0.01, 0.003), (0.02, 0.01), (0.05, 0.01), (0.10, 0.01))


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers.rounds_needed", description=__doc__)
    parser.add_argument("--trials", type=int, default=400)
    options = parser.parse_args()
    header = " ".join(
        f"{100 * change:.0f} % (margin {100 * margin:g} %)".rjust(20) for change, margin in CHANGES
    )
    print(f"{'rounds a side, alone / with a history of 20 runs':52}{header}")
    for noise in LEVELS:
        cells = []
        for change, margin in CHANGES:
            alone, known = (_needed(noise, change, margin, options.trials, past) for past in (False, True))
            cells.append(f"{alone} / {known}".rjust(20))
        print(
            f"{f'{noise.what} ({100 * noise.between:g} % between processes)':52}{' '.join(cells)}", flush=True
        )


def _needed(noise: Noise, change: float, margin: float, trials: int, past: bool) -> str:
    """The first design that finds the change; designs are tried by bisection, since power grows with rounds."""
    low, high = -1, len(ROUNDS)
    while high - low > 1:
        middle = (low + high) // 2
        if _power(noise, change, margin, ROUNDS[middle], trials, past) >= POWER:
            high = middle
        else:
            low = middle
    return str(ROUNDS[high]) if high < len(ROUNDS) else f"> {ROUNDS[-1]}"


def _power(noise: Noise, change: float, margin: float, rounds: int, trials: int, past: bool) -> float:
    generator = np.random.default_rng(rounds)
    found = 0
    for _ in range(trials):
        before, after = (_rounds(noise, rounds, generator) for _ in range(2))
        history = [_rounds(noise, 5, generator) for _ in range(HISTORY)] if past else None
        done = compare(before, after * (1 + change), history=history, margin=margin)
        found += done.verdict == "regression"
    return found / trials


def _rounds(noise: Noise, rounds: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Lognormal levels, and 5 % of the samples slower by 15 % on average."""
    level = generator.normal(0.0, noise.between, (rounds, 1))
    inside = generator.normal(0.0, noise.within, (rounds, SAMPLES))
    spikes = (generator.random((rounds, SAMPLES)) < 0.05) * generator.exponential(0.15, (rounds, SAMPLES))
    return np.asarray(np.exp(level + inside) * (1 + spikes))


if __name__ == "__main__":
    main()
