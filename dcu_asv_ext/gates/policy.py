"""What the gates ask of a candidate, and which rules replace that for a benchmark or a metric."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..comparing.figures import full_name
from ..comparing.model import Key
from ..metrics import METRICS
from ..stats.verdicts import EQUIVALENCE, MARGIN

CORRECTNESS, PERFORMANCE, RESOURCES = "correctness", "performance", "resources"
GATES = (CORRECTNESS, PERFORMANCE, RESOURCES)

ALLOW, FORBID = "allow", "forbid"
NO_REGRESSION, AN_IMPROVEMENT = "no regression", "improvement"
STOP = "stop"
TELL, GATE = "tell", "gate"

#: Measured by the overlay once a commit, so that it is no benchmark's metric.
PACKAGE_SIZE = "package_size"
ERROR = "max_error"
GROWTH = "memory_growth"
#: End to end, as users wait for it: ours, and that of other suites' benchmarks.
END_TO_END = ("latency", "time")
#: Times of a part of what users wait for: a gain in them alone is a prototype.
PARTS = ("device_time", "host_time")


#: What a profile counts: its metrics that are exact.
COUNTED = tuple(name for name, metric in METRICS.items() if metric.source == "profile" and metric.exact)


@dataclass(frozen=True)
class Allowance:
    """How much heavier a candidate may be: by a share of the base, or by an amount in the metric's unit."""

    text: str
    share: float = 0.0
    amount: float = 0.0

    def limit(self, before: float) -> float:
        return before + before * self.share + self.amount


#: Metric -> allowance where the configuration says nothing.
DEFAULT_ALLOWANCES: dict[str, Allowance | None] = {
    "peak_allocated": Allowance("0%"),
    "peak_reserved": Allowance("5%", 0.05),
    "peak_card": Allowance("5%", 0.05),
    GROWTH: Allowance("0 B"),
    "cold_start": Allowance("25%", 0.25),
    "compile_time": Allowance("25%", 0.25),
    PACKAGE_SIZE: Allowance("10%", 0.10),
    # Counted exactly from a profile; gated where the configuration allows something. The shares and the device time
    # of a profile never are: profiling slows the host, and what it shows users wait for in the latency.
    **dict.fromkeys(COUNTED),
}

#: Gate -> the metrics that it looks at.
LOOKS_AT = {
    CORRECTNESS: (ERROR,),
    PERFORMANCE: END_TO_END,
    RESOURCES: tuple(DEFAULT_ALLOWANCES),
}


@dataclass(frozen=True)
class Correctness:
    """growth: the largest error may be so many times the base's. unchecked: "allow" or "forbid" benchmarks that have
    neither reference nor check."""

    growth: float = 10.0
    unchecked: str = ALLOW


@dataclass(frozen=True)
class Performance:
    """margin, equivalence: as `dcu-asv compare` takes them. require: "no regression", or "improvement" of at least
    one workload. prototype: "stop" or "allow" a gain that is not shown end to end. micro: "tell" or "gate" the
    latency of micro benchmarks."""

    margin: float = MARGIN
    equivalence: float = EQUIVALENCE
    require: str = NO_REGRESSION
    prototype: str = STOP
    micro: str = TELL

    @property
    def bound(self) -> float:
        """What is surely no slower than this passes as no regression."""
        return max(self.margin, self.equivalence)


@dataclass(frozen=True)
class Rule:
    """One entry of "rules". number: its place, from 1. bench: found in `module.function.metric(params)`.
    metric: a name or a pattern with * and ?. changes: gate -> settings that it replaces, None: the gate is left out.
    """

    number: int
    bench: re.Pattern[str] | None = None
    metric: str | None = None
    changes: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)

    def applies(self, key: Key) -> bool:
        if self.metric is not None and not fnmatch.fnmatchcase(key.metric, self.metric):
            return False
        if self.bench is None:
            return True
        # The package's size is no benchmark's.
        return bool(key.benchmark) and self.bench.search(full_name(key)) is not None


@dataclass(frozen=True)
class Applied:
    """Settings of one gate for one key, and what they come from: "the configuration", or "rule 2" of it."""

    settings: Any
    origin: str


@dataclass(frozen=True)
class Policy:
    """rules: of those that match, each replaces what it names, the later one last."""

    correctness: Correctness = Correctness()
    performance: Performance = Performance()
    resources: Mapping[str, Allowance | None] = field(default_factory=lambda: DEFAULT_ALLOWANCES)
    rules: tuple[Rule, ...] = ()

    def correctness_of(self, key: Key) -> Applied | None:
        """None: a rule leaves the gate out."""
        return self._applied(CORRECTNESS, key, self.correctness, lambda old, new: replace(old, **new))

    def performance_of(self, key: Key) -> Applied | None:
        return self._applied(PERFORMANCE, key, self.performance, lambda old, new: replace(old, **new))

    def demanded_by(self, key: Key) -> str:
        """The rule that says what is required of a workload; "" for the configuration's own word."""
        named = [one for one in self.rules if "require" in (one.changes.get(PERFORMANCE) or {})]
        return next((f"rule {one.number}" for one in reversed(named) if one.applies(key)), "")

    def allowance_of(self, key: Key) -> Applied | None:
        """None: the metric is not gated."""
        start = self.resources.get(key.metric)
        found = self._applied(RESOURCES, key, start, lambda old, new: new.get(key.metric, old))
        return None if found is None or found.settings is None else found

    def _applied(
        self, gate: str, key: Key, settings: Any, change: Callable[[Any, Mapping[str, Any]], Any]
    ) -> Applied | None:
        left_out, origin = False, ""
        for rule in self.rules:
            if gate not in rule.changes or not rule.applies(key):
                continue
            changes = rule.changes[gate]
            left_out = changes is None
            if changes is not None and (changed := change(settings, changes)) != settings:
                settings, origin = changed, f"rule {rule.number}"
        return None if left_out else Applied(settings, origin)
