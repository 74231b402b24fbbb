"""A report of a comparison as plain objects for strict JSON: a number that is missing or infinite is null."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..stats.verdicts import Comparison
from . import showing
from .clock import ClockChange
from .model import Key, Report, ResultSet, Row, Series, Side


def as_json(report: Report, exit_code: int) -> dict[str, Any]:
    """rows keep the report's order; their params keep asv's."""
    return {
        "before": side(report.before),
        "after": side(report.after),
        "differences": [dataclasses.asdict(one) for one in report.differences],
        "refused": report.refused or None,
        "shift": number(report.shift),
        "rows": [_row(row) for row in report.rows],
        "counts": showing.counts(report),
        "notes": list(dict.fromkeys(report.notes)),
        "rule": showing.rule(report),
        "settings": plain(report.settings),
        "exit_code": exit_code,
    }


def side(sets: Sequence[ResultSet]) -> dict[str, Any]:
    """commit, machine and env are null where the side has several; `sets` has them all."""
    found = [
        {
            "commit": one.commit,
            "label": one.label,
            "machine": one.machine,
            "env": one.env,
            "date": one.date,
            "dirty": one.dirty,
        }
        for one in sets
    ]
    common = {
        name: next(iter(values)) if len(values) == 1 else None
        for name in ("commit", "label", "machine", "env")
        for values in [{one[name] for one in found}]
    }
    return {**common, "dirty": any(one.dirty for one in sets), "sets": found}


def _row(row: Row) -> dict[str, Any]:
    before, after = showing.levels(row)
    return {
        "benchmark": row.key.benchmark,
        "metric": row.key.metric,
        "params": params(row.key, row.series),
        "env": row.env or None,
        "before": number(before),
        "after": number(after),
        **_figures(row.comparison),
        "verdict": row.verdict,
        "reason": row.reason,
        "rounds": _rounds(row),
        "explanation": row.explanation or None,
        "unit": row.series.unit,
        "better": row.series.better,
        "exact": row.series.exact,
        "asv_name": row.series.asv_name,
        "source": _sides(row, lambda one: one.source),
        "cut": _sides(row, lambda one: sum(each.cut for each in one.rounds)),
        "clock": None if row.clock is None else _clock(row.clock),
        "corrected": None if row.corrected is None else _corrected(row.corrected),
    }


def params(key: Key, series: Series) -> dict[str, str]:
    """Name -> asv's own string; a parameter without a name has its place as name."""
    names = series.param_names
    return {
        names[place] if place < len(names) and names[place] else str(place): value
        for place, value in enumerate(key.params)
    }


def _figures(found: Comparison | None) -> dict[str, Any]:
    """no_ratio: why `ratio` is null although there are figures."""
    names = ("ratio", "ci_low", "ci_high", "p_value", "rounds_needed", "spread", "df", "prior_df", "paired")
    differences = ("difference_low", "difference_high")
    if found is None:
        return dict.fromkeys((*names, "difference", *differences, "no_ratio"))
    return {
        **{name: plain(getattr(found, name)) for name in names},
        "difference": number(found.after - found.before),
        **{name: number(getattr(found, name)) for name in differences},
        "no_ratio": no_ratio(found.ratio, found.before, found.points),
    }


def no_ratio(ratio: float, before: float | None, points: bool) -> str | None:
    """Why there is no ratio; None where there is one, or nothing was compared."""
    if points:
        return "a share is judged by its difference"
    return "it was 0 before" if before == 0 and math.isinf(ratio) else None


def _clock(found: ClockChange) -> dict[str, Any]:
    """before_mhz, after_mhz: core clocks; the figures are of the comparison in cycles."""
    clocks = {"before_mhz": number(found.before), "after_mhz": number(found.after)}
    return {**clocks, **_corrected(found.cycles)}


def _corrected(found: Comparison) -> dict[str, Any]:
    return {**_figures(found), "verdict": found.verdict, "reason": found.reason}


def _rounds(row: Row) -> list[int]:
    if row.comparison is not None:
        return list(row.comparison.rounds)
    return [0 if one is None else len(one.rounds) for one in (row.before, row.after)]


def _sides(row: Row, of: Any) -> dict[str, Any]:
    def tell(one: Side | None) -> Any:
        return None if one is None else of(one)

    return {"before": tell(row.before), "after": tell(row.after)}


def number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def plain(value: Any) -> Any:
    """Mappings, sequences, text and numbers of Python's own, without what JSON has no word for."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if isinstance(value, int):
        return value
    return number(float(value))
