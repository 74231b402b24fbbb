"""What a decorated function asks to have measured: plain data, made by the decorator, read by the passes."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .version import without_addresses

#: asv's own `repeat`: 0 (choose), a count, or (min count, max count, max seconds).
Repeat = int | tuple[int, int, float]

CACHE_MODES = ("session", "fresh", "shared")
DEFAULT_ROUNDS = 5
DEFAULT_TIMEOUT = 600.0


class BenchmarkError(Exception):
    """A benchmark that cannot be measured as it is written; the text says what to change."""


class Samples(list[Any]):
    """Several argument sets, used in turn, one per call (`dcu.samples([...])`)."""


@dataclass(frozen=True)
class Spec:
    """One decorated function.

    family: `<module>.<function>` as asv names it; each metric is a series `<family>.<metric>`.
    params: name -> values, in declaration order.
    metrics: names of the metrics reported, in table order.
    rtol, atol: None means the defaults of `torch.testing` for the dtypes compared.
    """

    family: str
    name: str
    module: str
    function: Callable[..., Any]
    setup: Callable[..., Any] | None = None
    teardown: Callable[..., Any] | None = None
    reset: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    check: Callable[[Any], Any] | None = None
    mutates: bool = False
    params: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    work: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "workload"
    metrics: tuple[str, ...] = ()
    rounds: int = DEFAULT_ROUNDS
    repeat: Repeat = 0
    variant: str | None = None
    cache: str = "session"
    timeout: float = DEFAULT_TIMEOUT
    versions: Mapping[str, str] = field(default_factory=dict)

    def combinations(self) -> list[dict[str, Any]]:
        """Every combination of parameter values, in asv's order; one empty mapping without parameters."""
        return [
            dict(zip(self.params, values, strict=True)) for values in itertools.product(*self.params.values())
        ]

    def seed(self, params: Mapping[str, Any]) -> int:
        """A seed that depends on the function and its parameters alone."""
        values = "|".join(f"{name}={value!r}" for name, value in params.items())
        # A function as a value shows its address, which differs from process to process.
        text = self.family + "|" + without_addresses(values)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
