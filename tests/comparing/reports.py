"""Reports for the tests of what is shown of them."""

from __future__ import annotations

import math
from typing import Any

from dcu_asv_ext.comparing.model import Difference, Key, Report, ResultSet, Round, Row, Series, Side
from dcu_asv_ext.stats.verdicts import Comparison

ENV = "overlay-py3.11-devicecpu-torch2.13.0+cpu"
SETTINGS = {"margin": 0.01, "equivalence": 0.05}


def comparison(ratio: float, low: float, high: float, verdict: str, **more: Any) -> Comparison:
    made: dict[str, Any] = {
        "before": 0.0123,
        "after": 0.0123 * ratio,
        "ratio": ratio,
        "ci_low": low,
        "ci_high": high,
        "p_value": 0.01,
        "verdict": verdict,
        "rounds_needed": 0,
        "reason": "because",
        "rounds": (5, 5),
    }
    return Comparison(**{**made, **more})


def side(rounds: int = 5, cut: int = 0, **more: Any) -> Side:
    return Side(rounds=tuple(Round((0.0123,) * 5, number, "s", cut=cut) for number in range(rounds)), **more)


def row(
    name: str,
    verdict: str,
    found: Comparison | None = None,
    *,
    metric: str = "latency",
    params: dict[str, str] | None = None,
    reason: str = "because",
    before: Side | None = None,
    after: Side | None = None,
    **more: Any,
) -> Row:
    unit = "bytes" if metric.startswith("peak") else "seconds"
    names = params or {}
    return Row(
        key=Key(name, metric, tuple(names.values())),
        series=Series(f"{name}.{metric}", tuple(names), unit, exact=more.pop("exact", False)),
        before=before or side(),
        after=after or side(),
        verdict=verdict,
        reason=reason,
        comparison=found,
        **more,
    )


def regression(name: str = "gemm.matmul", ratio: float = 1.1, **more: Any) -> Row:
    return row(name, "regression", comparison(ratio, ratio - 0.02, ratio + 0.02, "regression"), **more)


def no_change(name: str, **more: Any) -> Row:
    return row(name, "no change", comparison(1.001, 0.99, 1.012, "no change"), **more)


def inconclusive(name: str, needed: int | None = 7, **more: Any) -> Row:
    reason = f"{needed} more rounds a side would settle it"
    found = comparison(1.03, 0.97, 1.09, "inconclusive", rounds_needed=needed, reason=reason)
    return row(name, "inconclusive", found, reason=reason, **more)


def missing(name: str, reason: str = "the CPU has no device events", **more: Any) -> Row:
    return row(
        name,
        "missing",
        reason=reason,
        before=Side(state="missing", reason=reason),
        after=Side(state="missing", reason=reason),
        **more,
    )


def result_set(commit: str, **more: Any) -> ResultSet:
    return ResultSet(**{"machine": "box", "commit": commit, "env": ENV, **more})


def report(*rows: Row, **more: Any) -> Report:
    made: dict[str, Any] = {
        "before": [result_set("a" * 40)],
        "after": [result_set("b" * 40)],
        "rows": list(rows),
        "settings": SETTINGS,
    }
    return Report(**{**made, **more})


def everything() -> Report:
    """One of each kind of row, and enough of some to be folded."""
    sizes = {"n": "1024", "dtype": "'float32'"}
    return report(
        regression("transformer.block", 1.12, params=sizes),
        regression("gemm.matmul", 3.0, params=sizes),
        row(
            "gemm.lost", "failed", after=Side(state="failed", reason="out of memory"), reason="out of memory"
        ),
        row("training.step", "improvement", comparison(0.9, 0.88, 0.92, "improvement")),
        inconclusive("elementwise.chain_fused"),
        row("one.round", "inconclusive", comparison(1.2, 0.0, math.inf, "inconclusive", rounds_needed=None)),
        row("gemm.versioned", "not comparable", reason="the benchmark's code changed"),
        *(no_change(f"elementwise.quiet{number}") for number in range(6)),
        *(
            row(
                f"quiet{number}",
                "no change",
                comparison(1.0, 1.0, 1.0, "no change", before=4e7, after=4e7),
                metric="peak_allocated",
                exact=True,
            )
            for number in range(2)
        ),
        *(missing(f"elementwise.quiet{number}", metric="device_time") for number in range(6)),
        differences=[
            Difference("software.torch", "2.12.0", "2.13.0", matters=True, declared=True),
            Difference("host.load", "0.2", "1.3", matters=False),
        ],
    )
