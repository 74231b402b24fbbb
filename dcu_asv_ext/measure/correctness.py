"""Whether the outputs are right: judged on outputs of timed calls, without keeping a model's output alive.

While the latency pass runs, a few of its outputs (the first, some at random) are copied to the host, or,
where they are large, a fixed random subset of their elements is. Afterwards the reference is computed once and each
kept output judged against it, elementwise within the tolerance; one more output is compared whole.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from .errors import Difference, Leaves, StructureError, compare, host_copy, leaves
from .spec import Spec

#: Host bytes of one kept output; beyond it only a subset of the elements is kept.
KEEP_BYTES = 32 << 20
#: Elements of the subset, per leaf.
SUBSET = 1 << 18


@dataclass
class Kept:
    """One output of a timed call, on the host. subset: element numbers kept of each leaf (None: all)."""

    number: int
    leaves: Leaves
    subset: dict[str, torch.Tensor] | None = None


class Keeper:
    """Keeps the first output of a pass, the last where its number is known, and two drawn at random.

    It holds no reference to an output, which would make the next call need more memory.
    """

    def __init__(
        self,
        seed: int,
        judge: Callable[[Any], Any] | None = None,
        last_number: int | None = None,
        copies: bool = True,
    ) -> None:
        """judge: the benchmark's check, asked at once. copies: keep outputs for a reference."""
        self._random = random.Random(seed)
        self._judge = judge
        self._last_number = last_number
        self._copies = copies
        self._kept: dict[str, Kept] = {}
        self.verdicts: list[Any] = []

    def wants(self, number: int) -> bool:
        """The draws get rarer: the harmonic series, some six of 250."""
        return number in (0, self._last_number) or self._random.random() < 1.0 / number

    def take(self, number: int, output: Any) -> None:
        if self._judge is not None:
            self.verdicts.append(self._judge(output))
        if not self._copies:
            return
        kept = keep(number, output)
        if number == 0:
            self._kept["first"] = kept
        elif number == self._last_number:
            self._kept["last"] = kept
        else:
            if "late" in self._kept:
                self._kept["early"] = self._kept["late"]
            self._kept["late"] = kept

    def finish(self) -> list[Kept]:
        """What was kept, in order."""
        return sorted(self._kept.values(), key=lambda one: one.number)


def keep(number: int, output: Any) -> Kept:
    """Copy an output, or a fixed random subset of it, to the host. Raises StructureError."""
    found = dict(leaves(output))
    size = sum(one.numel() * one.element_size() for one in found.values())
    if size <= KEEP_BYTES:
        return Kept(number, host_copy(Leaves(found)))
    subset, kept = {}, Leaves()
    for path, one in found.items():
        subset[path] = subset_of(one.numel())
        kept[path] = one.reshape(-1)[subset[path].to(one.device)].cpu()
    return Kept(number, kept, subset)


def subset_of(count: int) -> torch.Tensor:
    """The same element numbers for every output of one size."""
    if count <= SUBSET:
        return torch.arange(count)
    generator = torch.Generator().manual_seed(count)
    return torch.randint(count, (SUBSET,), generator=generator)


def judge_kept(kept: Kept, reference: Any, spec: Spec) -> Difference:
    wanted = Leaves(leaves(reference))
    for path, chosen in (kept.subset or {}).items():
        if path in wanted:
            wanted[path] = wanted[path].reshape(-1)[chosen.to(wanted[path].device)]
    return compare(kept.leaves, wanted, spec.rtol, spec.atol)


@dataclass
class Judgement:
    """The `correctness` part of a record, and why the result is wrong ("" if it is not)."""

    record: dict[str, Any] = field(default_factory=dict)
    wrong: str = ""
    missing: dict[str, str] = field(default_factory=dict)


def judge(spec: Spec, kept: list[Kept], output: Any, reference: Any) -> Judgement:
    """Judge the kept outputs of timed calls and one whole output against the reference.

    Raises StructureError where they cannot be compared.
    """
    whole = compare(output, reference, spec.rtol, spec.atol)
    parts = [judge_kept(one, reference, spec) for one in kept]
    worst = max([whole, *parts], key=lambda d: (d.non_finite > 0, d.outside > 0, d.largest))
    found = Judgement()
    largest, mean = worst.relative(worst.largest), worst.relative(worst.total / max(worst.count, 1))
    comparable = worst.count > 0 and not worst.non_finite
    found.record = {
        "correct": worst.right,
        "max_error": largest if comparable else None,
        "mean_error": mean if comparable else None,
        "max_absolute": worst.largest,
        "outside": worst.outside,
        "elements": worst.count,
        "non_finite": worst.non_finite,
        "rtol": worst.rtol,
        "atol": worst.atol,
        "epsilon": worst.epsilon,
        "timed_outputs": [one.number for one in kept],
        "subset": any(one.subset is not None for one in kept),
    }
    if worst.non_finite:
        found.wrong = (
            f"{worst.non_finite} of {worst.count} elements are NaN or infinite in output or reference only"
        )
    elif not worst.right:
        found.wrong = (
            f"{worst.outside} of {worst.count} elements differ by more than atol {worst.atol:g} + rtol "
            f"{worst.rtol:g} * |ref|; the largest difference is {worst.largest:.3g}"
        )
    if worst.non_finite:
        found.missing = dict.fromkeys(("max_error", "mean_error"), found.wrong)
    elif worst.count == 0:
        found.missing = dict.fromkeys(("max_error", "mean_error"), "the output has no elements to compare")
    elif largest is None:
        reason = "the reference is zero everywhere, so a relative error does not exist"
        found.missing = dict.fromkeys(("max_error", "mean_error"), reason)
    return found


def judge_check(spec: Spec, verdicts: list[Any]) -> Judgement:
    """From what `check` returned for each output: True/False, a task metric, or (task metric, tolerance).

    Without a tolerance of its own the benchmark's atol is the largest task metric allowed; without either the
    metric is recorded and not judged.
    """
    found = Judgement(record={"correct": True, "checked": len(verdicts)})
    worst: float | None = None
    for verdict in verdicts:
        value, tolerance, right = _verdict(spec, verdict)
        # NaN is the worst there is.
        if value is not None and (worst is None or value > worst or math.isnan(value)) and worst == worst:
            worst = value
            found.record |= {"task_metric": value, "tolerance": tolerance}
        if not right and not found.wrong:
            found.record["correct"] = False
            found.wrong = _why_wrong(value, tolerance)
    if worst is None:
        found.missing["task_metric"] = "the check returned no number"
    elif not math.isfinite(worst):
        found.missing["task_metric"] = f"the check returned {worst:g}, which is no finite number"
    return found


def _why_wrong(value: float | None, tolerance: float | None) -> str:
    if value is None:
        return "the check returned False"
    if not math.isfinite(value):
        return f"the check returned {value:g}, which is no finite number"
    return f"task metric {value:g} exceeds {tolerance:g}"


def _verdict(spec: Spec, verdict: Any) -> tuple[float | None, float | None, bool]:
    tolerance = spec.atol
    try:
        if isinstance(verdict, tuple) and len(verdict) == 2:
            verdict, tolerance = _item(verdict[0]), float(_item(verdict[1]))
        verdict = _item(verdict)
        if isinstance(verdict, bool):
            return None, None, verdict
        value = float(verdict)
    except (TypeError, ValueError, RuntimeError):
        raise StructureError(
            f"check returned {_named(verdict)}; return True or False, a number, or (number, tolerance)"
        ) from None
    if not math.isfinite(value):
        return value, tolerance, False
    return value, tolerance, tolerance is None or value <= tolerance


def _item(value: Any) -> Any:
    """The Python number or truth value in a tensor or numpy scalar of one element."""
    return value.item() if hasattr(value, "item") else value


def _named(verdict: Any) -> str:
    name = type(verdict).__name__
    return f"{name} {verdict!r}" if isinstance(verdict, (str, int, float, bool)) else name
