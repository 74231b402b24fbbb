"""Which line of the user's code a row comes from."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .columns import Numbered
from .model import Ints, Trace

_FRAME = re.compile(r"(.+)\((\d+)\): (.+)", re.DOTALL)
#: Libraries whose own lines tell nobody what to change; the line that called them does.
_LIBRARIES = frozenset({"torch", "triton", "asv", "asv_runner", "dcu_asv_ext"})
_STANDARD = frozenset(sys.stdlib_module_names)
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/")
_OF_PYTHON = re.compile(r".*/lib(?:64)?/python3\.\d+/(?!(?:site|dist)-packages/)")
_GENERATED = ("<frozen ", "<string>", "<eval_with_key>", "<__array_function__")
_PROFILER = ("torch/profiler/", "torch/autograd/profiler.py")


class Sources:
    """Lines of code as `file.py:12 function`, from the Python frames of a trace; all empty where it has none.

    Kineto names a frame by the line on which its function begins (only a function that was running when the
    profiler started has the line where it then was), so the line says which function, not which of its statements.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._texts: Numbered[str] = Numbered()
        self._threads: dict[int, _Nested] = {}
        self._text_of_name = np.full(max(len(trace.names), 1), -1, np.int64)
        self._texts.number("")
        for name in np.unique(trace.frames.name).tolist():
            text = _user_line(trace.names[name])
            if text:
                self._text_of_name[name] = self._texts.number(text)

    def of(self, thread: Ints, time: Ints) -> list[str]:
        """The innermost frame of user code around each (thread, time); "" where there is none."""
        return self.texts(self.numbers(thread, time))

    def of_calls(self, rows: Ints) -> list[str]:
        """Of rows of `Trace.calls`."""
        return self.texts(self.numbers_of_calls(rows))

    def of_operators(self, rows: Ints) -> list[str]:
        """Of rows of `Trace.operators`."""
        return self.texts(self.numbers_of_operators(rows))

    def texts(self, numbers: Ints) -> list[str]:
        return [self._texts.all[number] for number in numbers.tolist()]

    def numbers(self, thread: Ints, time: Ints) -> Ints:
        """As `of`, as numbers that `texts` knows: equal for equal lines, 0 for none."""
        found = np.zeros(len(time), np.int64)
        if not len(self.trace.frames):
            return found
        for one in np.unique(thread).tolist():
            asked = np.flatnonzero(thread == one)
            frames = self._of_thread(one)
            row = frames.innermost(time[asked])
            found[asked] = np.where(
                row >= 0, frames.values[np.maximum(row, 0)] if len(frames.values) else 0, 0
            )
        return found

    def numbers_of_calls(self, rows: Ints) -> Ints:
        """Rows below 0 have no line."""
        calls = self.trace.calls
        return self._where_told(rows, calls.thread, calls.start)

    def numbers_of_operators(self, rows: Ints) -> Ints:
        operators = self.trace.operators
        return self._where_told(rows, operators.thread, operators.start)

    def _where_told(self, rows: Ints, thread: Ints, start: Ints) -> Ints:
        found = np.zeros(len(rows), np.int64)
        told = rows >= 0
        found[told] = self.numbers(thread[rows[told]], start[rows[told]])
        return found

    def _of_thread(self, thread: int) -> _Nested:
        found = self._threads.get(thread)
        if found is None:
            frames = self.trace.frames
            values = self._text_of_name[frames.name]
            chosen = (frames.thread == thread) & (values >= 0)
            found = _Nested(frames.start[chosen], frames.end[chosen], values[chosen])
            self._threads[thread] = found
        return found

    def in_profiler(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """Mask of the rows of `Trace.calls` that the profiler's own Python code made."""
        frames, calls = self.trace.frames, self.trace.calls
        found = np.zeros(len(rows), np.bool_)
        names = [
            name for name in np.unique(frames.name).tolist() if self.trace.names[name].startswith(_PROFILER)
        ]
        mine = np.isin(frames.name, names)
        for thread in np.unique(frames.thread[mine]).tolist():
            chosen = mine & (frames.thread == thread)
            nested = _Nested(frames.start[chosen], frames.end[chosen], frames.name[chosen])
            asked = np.flatnonzero(calls.thread[rows] == thread)
            found[asked] = nested.innermost(calls.start[rows[asked]]) >= 0
        return found


class _Nested:
    """Nested stretches of one thread, each with a value."""

    def __init__(self, start: Ints, end: Ints, values: Ints) -> None:
        order = np.lexsort((-end, start))  # of equal starts the longer is outside
        self.start, self.end, self.values = start[order], end[order], values[order]
        self.parent = self._parents()

    def _parents(self) -> Ints:
        parent: list[int] = []
        around: list[int] = []
        ends = self.end.tolist()
        for row, end in enumerate(ends):
            while around and ends[around[-1]] < end:
                around.pop()
            parent.append(around[-1] if around else -1)
            around.append(row)
        return np.array(parent, np.int64)

    def innermost(self, time: Ints) -> Ints:
        """Row around each time, -1 where none."""
        row = np.searchsorted(self.start, time, side="right") - 1
        while True:
            over = np.flatnonzero(row >= 0)
            over = over[self.end[row[over]] < time[over]]
            if not len(over):
                return row
            row[over] = self.parent[row[over]]


@lru_cache(maxsize=1 << 16)
def _user_line(frame: str) -> str:
    """`file.py:12 function` of a frame of user code, "" of any other."""
    found = _FRAME.fullmatch(frame)
    if found is None or frame.startswith(_GENERATED):
        return ""  # built-in functions, and the stretches that Kineto puts around modules
    path, line, function = found.groups()
    path = path.replace("\\", "/")
    if _OF_PYTHON.match(path) or "/torchinductor_" in path:
        return ""
    path = _INSTALLED.sub("", path)
    parts = path.split("/")
    top = parts[0].removesuffix(".py")
    if top in _LIBRARIES or top in _STANDARD:
        return ""
    # Folders are told only below a folder that Python imports from: others say whose machine it was.
    short = parts[-1] if path.startswith(("/", "~")) or re.match("[A-Za-z]:", path) else "/".join(parts[-3:])
    return f"{short}:{line} {function}"
