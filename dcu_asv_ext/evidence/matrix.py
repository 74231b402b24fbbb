"""The experiment matrix: one row per benchmark, parameters and variant, with all that is known of how it was made."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..metrics import METRICS
from ..stats.median import median_interval

#: Where a row's figures come from: our evidence, or asv's result file alone.
EVIDENCE, ASV = "evidence", "asv"

#: The figure of another suite's benchmark, which is none of our metrics; its unit is in the column `unit`.
VALUE = "value"
FIGURES = (*METRICS, VALUE)

#: Memory of the steady call beside the peaks, bytes: allocator, whole card, and what neither explains.
MEMORY = (
    "baseline_allocated", "after_allocated", "baseline_reserved", "after_reserved", "requested_peak",
    "baseline_card", "after_card", "outside_allocator",
)  # fmt: skip

#: How a figure is told in a flat row: `latency_median`, `latency_ci_low`, ...
_PARTS = ("median", "ci_low", "ci_high", "min", "max")

_BEFORE = (
    "benchmark", "params", "variant", "status", "label", "kind", "commit", "dirty", "head", "machine", "env",
    "env_vars", "device_kind", "device_product", "device_architecture", "driver", "dtk", "runtime", "torch", "python",
    "inputs", "input_bytes", "input_sets", "seed", "boundary", "cache", "rounds", "samples", "batch", "cut",
)  # fmt: skip
_AFTER = (
    "package_size", "unit", "missing", "notes", "protocol", "versions", "source", "facts", "conditions", "evidence",
    "times",
)  # fmt: skip

#: The columns of a row, in order: always all of them.
COLUMNS = (*_BEFORE, *(f"{name}_{part}" for name in FIGURES for part in _PARTS), *MEMORY, *_AFTER)


@dataclass(frozen=True)
class Statistic:
    """One figure over rounds. median: of the rounds' medians; ci_low, ci_high: its 95 % interval, the round being the
    unit (None for a single round); least, most: of all steady samples."""

    median: float
    ci_low: float | None
    ci_high: float | None
    least: float
    most: float

    @classmethod
    def of(cls, rounds: Sequence[Sequence[float]]) -> Statistic | None:
        """None for no rounds, or none with samples."""
        told = [one for one in rounds if one]
        if not told:
            return None
        levels = [statistics.median(one) for one in told]
        low, high = median_interval(levels) or (None, None)
        return cls(statistics.median(levels), low, high, min(map(min, told)), max(map(max, told)))


@dataclass(frozen=True)
class MatrixRow:
    """A text that is not the same in all rounds is "mixed: one; other". None, and what is empty: not known.

    variant: what tells the row from others of its benchmark: commit, `variant=` name, values of asv's `matrix.env`.
    label: the `variant=` name alone. commit: the full hash; dirty: a snapshot of a changed tree, made on top of
    `head`.
    params: name -> asv's own string. inputs: dtype and shape of the real arguments' tensors.
    boundary: what a sample holds, and where inputs and outputs live. cache: the on-disk caches' mode and state.
    rounds: processes. samples: metric -> steady samples of each round. batch: pass -> calls per sample of each round.
    cut: latencies of each round left out as not steady.
    figures: metric -> statistic. memory: name of MEMORY -> bytes, the median of the rounds.
    package_size: bytes of the commit's installed project.
    missing: metric -> why it has no number. versions: metric -> the benchmark's version.
    facts: flat name -> text of what the result hangs on; conditions: of what described the runs (load, clocks).
    evidence: where each round's raw data lies (file below the results folder, session, round).
    times: pass -> seconds per call of each round, in order; None where they were not asked for.
    """

    benchmark: str
    params: Mapping[str, str]
    variant: str = ""
    status: str = ""
    label: str | None = None
    kind: str | None = None
    commit: str | None = None
    dirty: bool = False
    head: str | None = None
    machine: str | None = None
    env: str | None = None
    env_vars: Mapping[str, str] = field(default_factory=dict)
    device_kind: str | None = None
    device_product: str | None = None
    device_architecture: str | None = None
    driver: str | None = None
    dtk: str | None = None
    runtime: str | None = None
    torch: str | None = None
    python: str | None = None
    inputs: Sequence[str] = ()
    input_bytes: int | None = None
    input_sets: int | None = None
    seed: int | None = None
    boundary: Mapping[str, Any] = field(default_factory=dict)
    cache: Mapping[str, Any] = field(default_factory=dict)
    rounds: int = 0
    samples: Mapping[str, Sequence[int]] = field(default_factory=dict)
    batch: Mapping[str, Sequence[int]] = field(default_factory=dict)
    cut: Sequence[int] = ()
    figures: Mapping[str, Statistic] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    package_size: float | None = None
    unit: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    protocol: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    source: str = EVIDENCE
    facts: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    evidence: Sequence[Mapping[str, Any]] = ()
    times: Mapping[str, Sequence[Sequence[float | None]]] | None = None

    def flat(self) -> dict[str, Any]:
        """Column -> plain data: text, numbers, None, and lists and mappings of them; the columns are COLUMNS."""
        found = {name: plain(getattr(self, name)) for name in _BEFORE}
        for name in FIGURES:
            one = self.figures.get(name)
            parts = (None,) * len(_PARTS) if one is None else _values(one)
            found |= {f"{name}_{part}": value for part, value in zip(_PARTS, parts, strict=True)}
        found |= {name: self.memory.get(name) for name in MEMORY}
        return found | {name: plain(getattr(self, name)) for name in _AFTER}


def _values(one: Statistic) -> tuple[float | None, ...]:
    return one.median, one.ci_low, one.ci_high, one.least, one.most


def plain(value: Any) -> Any:
    """Mappings and sequences as JSON knows them."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value
