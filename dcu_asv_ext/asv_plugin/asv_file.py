"""A result file of asv, as far as comparing needs it. asv's own class takes twice as long, since it also makes up the
statistics of each figure."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Columns that are read, and those that are not.
_FIELDS = ("result", "params", "version", "samples")
_KNOWN = frozenset({*_FIELDS, "started_at", "duration", "profile"})


@dataclass(frozen=True)
class AsvResult:
    """One benchmark's. params: lists of asv's strings of the parameters' values. values, samples: of each combination
    of these, in asv's order; None where asv has none."""

    params: Sequence[Sequence[Any]]
    values: Sequence[Any]
    samples: Sequence[Any]
    version: str | None

    def __iter__(self) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
        """(combination, value, samples)."""
        return zip(itertools.product(*self.params), self.values, self.samples, strict=True)


@dataclass(frozen=True)
class AsvFile:
    """date: milliseconds since the epoch. results: by asv's name of the benchmark."""

    machine: str
    commit: str
    env: str
    date: int
    params: Mapping[str, Any]
    requirements: Mapping[str, Any]
    env_vars: Mapping[str, Any]
    python: Any
    results: Mapping[str, AsvResult]


def load(path: Path) -> AsvFile:
    """Raises asv's UserError for what asv refuses; AttributeError, TypeError, ValueError and KeyError for what is no
    result file."""
    from asv import util
    from asv.results import Results

    data = util.load_json(os.fspath(path.resolve()), Results.api_version)
    odd = [name for name in data["result_columns"] if name not in _KNOWN and not name.startswith("stats_")]
    if odd:
        raise util.UserError(f"Error loading results file '{path}': unknown data key {odd[0]}")
    columns = [data["result_columns"].index(name) for name in _FIELDS]
    return AsvFile(
        str(data["params"]["machine"]),
        str(data["commit_hash"]),
        str(data["env_name"]),
        int(data["date"] or 0),
        data["params"],
        data["requirements"],
        data.get("env_vars", {}),
        data["python"],
        {name: _result(row, *columns) for name, row in data["results"].items()},
    )


def _result(row: Sequence[Any], value: int, params: int, version: int, samples: int) -> AsvResult:
    """asv leaves out what is empty at the end of a row."""
    width = len(row)
    given = (row[params] if params < width else None) or []
    combinations = 1
    for one in given:
        combinations *= len(one)
    told = row[version] if version < width else None
    return AsvResult(
        given,
        _each(row[value] if value < width else None, combinations),
        _each(row[samples] if samples < width else None, combinations),
        None if told is None else str(told),
    )


def _each(values: Sequence[Any] | None, combinations: int) -> Sequence[Any]:
    """None stands for no value of any combination; of a row that is too short, the last ones have none."""
    if values is not None and len(values) == combinations:
        return values
    found = [] if values is None else list(values)
    return found[:combinations] + [None] * (combinations - len(found))
