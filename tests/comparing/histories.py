"""Hand-made histories: a branch, result sets along it, and reports."""

from __future__ import annotations

from collections.abc import Sequence

from dcu_asv_ext.comparing.history import Change, Commit, Timeline
from dcu_asv_ext.comparing.model import EVIDENCE, Key, ResultSet, Round, Series, Side
from dcu_asv_ext.stats import ChangePoint

DAY = 86_400_000
START = 1_700_000_000_000


def branch(number: int) -> list[Commit]:
    return [Commit(commit(place), START + place * DAY, f"Change {place}") for place in range(number)]


def commit(place: int) -> str:
    return f"{place:08x}".ljust(40, "0")


def side(*rounds: Sequence[float], version: str = "1", protocol: int | None = 1) -> Side:
    found = tuple(Round(tuple(samples), number) for number, samples in enumerate(rounds))
    return Side(found, EVIDENCE, value=99.0, version=version, protocol=protocol)


def results(place: int, sides: dict[Key, Side], machine: str = "m", env: str = "e") -> ResultSet:
    """The results of one commit, whose series are all in seconds."""
    series = {key: Series(f"{key.benchmark}.{key.metric}", unit="seconds") for key in sides}
    return ResultSet(machine, commit(place), env, sides, series, date=START + place * DAY)


def timeline(
    values: Sequence[float],
    benchmark: str = "gemm.matmul",
    metric: str = "latency",
    first: int = 0,
    unit: str = "seconds",
    better: str = "lower",
    machine: str = "m",
    exact: bool = False,
) -> Timeline:
    key, series = Key(benchmark, metric, ("256",)), Series("", ("n",), unit, better, exact)
    return Timeline(
        machine, "e", key, series, tuple(range(first, first + len(values))), tuple(values), "1", 1
    )


def change(
    line: Timeline,
    index: int,
    kind: str = "regression",
    behind: int = 1,
    pending: bool = False,
    **figures: float,
) -> Change:
    """behind: how many commits the change can lie in. figures: of the change point, instead of the series' own."""
    before, now = line.values[index - 1], line.values[index]
    ratio, place = now / before, line.places[index]
    found = {"before": before, "after": now, "ratio": ratio, "ci_low": ratio * 0.98, "ci_high": ratio * 1.02}
    point = ChangePoint(
        index,
        first=index - behind + 1,
        last=index,
        pending=pending,
        verdict=kind,
        p_value=1e-6,
        reason="",
        **{**found, **figures},
    )
    return Change(line, index, place - behind, place, point)
