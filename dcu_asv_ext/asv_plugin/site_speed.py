"""What `asv publish` does several times over, done once: three of asv's functions remember while it is at work.

It reads every result file three times, works out the path of a graph for every value of it, and its reduced data for
each use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

#: Result files of so many bytes are kept whole between asv's passes; of further ones what the last pass asks for.
KEPT_WHOLE = 16 << 20

#: Path of a result file, and the machine that it is asked to be of.
_File = tuple[str, Any]


@dataclass
class _Memory:
    """Of one publish. light: results without their figures. turns: how often each file was asked for."""

    whole: dict[_File, Any] = field(default_factory=dict)
    light: dict[_File, Any] = field(default_factory=dict)
    turns: dict[_File, int] = field(default_factory=dict)
    shared: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    paths: dict[tuple[Any, ...], str] = field(default_factory=dict)
    bytes: int = 0


_AT_WORK: list[_Memory] = []


@contextmanager
def publishing() -> Iterator[None]:
    """`asv publish` is at work: no result file changes, and no graph gets values once its data was asked for."""
    _AT_WORK.append(_Memory())
    try:
        yield
    finally:
        _AT_WORK.pop()


def load(original: Any) -> Any:
    """For asv's `Results.load`. A publish asks for commits and parameters, then for figures, then for moments."""

    def load(cls: Any, path: str, machine_name: Any = None) -> Any:
        if not _AT_WORK:
            return original(cls, path, machine_name)
        memory, key = _AT_WORK[-1], (path, machine_name)
        if key in memory.whole:
            return memory.whole[key]
        turn = memory.turns.get(key, 0) + 1
        if turn > 2:
            return memory.light[key]
        # Of a file that cannot be read asv tells in each of its passes, and goes on.
        found = original(cls, path, machine_name)
        memory.turns[key] = turn
        # Samples are most of a file, and none is published.
        found._samples = dict.fromkeys(found._samples)
        if turn == 1:
            memory.bytes += os.path.getsize(path)
            kept = memory.whole if memory.bytes <= KEPT_WHOLE else memory.light
            kept[key] = found if kept is memory.whole else _light(found, memory.shared)
        return found

    return load


def _light(found: Any, shared: dict[tuple[Any, ...], dict[str, Any]]) -> Any:
    """What most results of a history have in common is kept once. Of figures nothing is kept."""
    made = object.__new__(type(found))
    made.__dict__.update(found.__dict__)
    for name in ("_stats", "_samples", "_profiles", "_benchmark_params", "_duration"):
        setattr(made, name, {})
    for name, own in (
        ("_results", dict.fromkeys(found._results)),
        ("_benchmark_version", found._benchmark_version),
    ):
        setattr(made, name, shared.setdefault(tuple(own.items()), own))
    # Its keys are those of the shared one, so that they are kept once.
    names = {one: one for one in made._results}
    made._started_at = {names.get(one, one): value for one, value in found._started_at.items()}
    return made


def get_file_path(original: Any) -> Any:
    """For asv's `Graph.get_file_path`, a pure function."""

    def get_file_path(cls: Any, params: Any, benchmark_name: str) -> Any:
        if not _AT_WORK:
            return original(cls, params, benchmark_name)
        known = _AT_WORK[-1].paths
        key = (benchmark_name, *params.items())
        if key not in known:
            known[key] = original(cls, params, benchmark_name)
        return known[key]

    return get_file_path


def get_data(original: Any) -> Any:
    """For asv's `Graph.get_data`, which every use of a graph calls."""

    def get_data(self: Any) -> Any:
        if not _AT_WORK:
            return original(self)
        known = self.__dict__.get("_dcu_data")
        if known is None:
            known = self._dcu_data = original(self)
        # Those who ask may change the list, not what is in it.
        return list(known)

    return get_data
