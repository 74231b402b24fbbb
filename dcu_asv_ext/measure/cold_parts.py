"""The parts of a cold start that can be told, and the compile time; what cannot be told apart stays one figure.

A split that nothing here can see is not made up: libraries initialise themselves, search for algorithms and load code
onto the device inside one call, unseen by the process without a profiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

from ..evidence.caches import CacheState
from ..evidence.record import Measurement
from .compile_watch import COMPILATION, EXTENSION_BUILD, EXTENSION_LOAD, IMPORTS, SEARCH, CompileWatch
from .spans import shares

REST = "first_use_rest"
#: How each part is told; a record of a thousand does not repeat it.
HOW = {
    IMPORTS: "imports of the compilers' own packages, timed",
    COMPILATION: "calls into Dynamo, Inductor and Triton, timed",
    EXTENSION_BUILD: "calls into torch.utils.cpp_extension, timed, without loading",
    EXTENSION_LOAD: "loading by torch.utils.cpp_extension, timed",
    SEARCH: "autotuning by Triton and Inductor, timed; that of libraries is within first_use_rest",
    REST: "the first call without its other parts and without a steady call (the median latency)",
}
#: Parts that are 0 where everything was watched and nothing of the kind happened.
_WATCHED = (COMPILATION, EXTENSION_BUILD, EXTENSION_LOAD)
_WITHIN = "within first_use_rest"

#: Caches whose owners compile where nobody can time them from outside.
_UNTIMED = {"nv": "the driver", "torch_kernels": "torch's run-time compiler", "miopen/cache": "MIOpen"}
#: Caches of what is watched here.
_TIMED = ("inductor", "triton", "torch_extensions")


@contextmanager
def timed(record: Measurement, part: str) -> Iterator[None]:
    """Adds the seconds of a block that does not raise to a part of the cold start."""
    begin = time.perf_counter()
    yield
    record.parts[part] = record.parts.get(part, 0.0) + time.perf_counter() - begin


class ColdStart:
    """Watches from `begin`, before setup, to `end`, right after the first call; `finish` fills the record."""

    def __init__(self, clock: Callable[[], float], cache: CacheState) -> None:
        self._clock, self._cache = clock, cache
        self._watch = CompileWatch(clock)
        self._began = 0.0
        self._first: tuple[float, float] | None = None
        self._written: list[str] = []

    def begin(self) -> None:
        self._began = self._clock()
        self._watch.begin()

    def end(self, begin: float, end: float) -> None:
        """begin, end: of the first call, by the clock."""
        self._watch.end()
        self._first = begin, end
        self._written = self._cache.written()

    def finish(self, record: Measurement) -> None:
        """After the passes: what a steady call takes must be known. Nothing where there was no first call."""
        self._watch.end()
        if self._first is None:
            return
        whole = shares(self._watch.spans, self._began, self._first[1])
        in_first = shares(self._watch.spans, *self._first)
        missing = {"library_init": _WITHIN, "pool_growth": f"{_WITHIN}; its bytes are in memory.first"}
        if SEARCH not in whole:
            missing[SEARCH] = _WITHIN
        for name in _WATCHED:
            if not self._watch.unseen:
                whole.setdefault(name, 0.0)
            elif name not in whole:
                missing[name] = self._watch.unseen
        if "imports" not in record.parts:
            missing["imports"] = "torch was imported with the suite, before the measurement began"
        steady = [seconds for seconds in record.times.get("latency", ()) if seconds is not None]
        if steady:
            rest = self._first[1] - self._first[0] - median(steady) - sum(in_first.values())
            # Below zero by the noise of two calls where the first one cost nothing more.
            whole[REST] = max(0.0, rest)
        else:
            missing[REST] = "no steady call was timed"
        record.parts |= whole
        record.cold = {"in_first_call": in_first, "wrote": self._written, "missing": missing}
        if "compile_time" in record.metrics:
            self._compile_time(record, whole)

    def _compile_time(self, record: Measurement, whole: dict[str, float]) -> None:
        reason = self._unmeasured(whole)
        if reason:
            record.missing["compile_time"] = reason
            return
        record.times["compile"] = [whole[COMPILATION] + whole[EXTENSION_BUILD]]
        record.batch["compile"] = 1

    def _unmeasured(self, whole: dict[str, float]) -> str:
        """Why the sum of what was seen is not the compile time; "" where it is."""
        if not self._cache.was_empty:
            return "the on-disk caches were not empty, so not everything was compiled anew"
        if self._watch.unseen:
            return self._watch.unseen
        for name, owner in _UNTIMED.items():
            if name in self._written:
                return f"{owner} compiled something too, which cannot be timed from outside"
        unexplained = [name for name in _TIMED if name in self._written]
        if unexplained and not whole[COMPILATION] + whole[EXTENSION_BUILD]:
            return f"the {unexplained[0]} cache was written to by something that is not watched"
        return ""
