"""Which line of the user's code a row comes from."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .columns import Numbered
from .forward import forward_operators
from .model import Ints, Trace
from .nested import Nested

_FRAME = re.compile(r"(.+)\((\d+)\): (.+)", re.DOTALL)
#: Libraries whose own lines tell nobody what to change; the line that called them does.
_LIBRARIES = frozenset({"torch", "triton", "asv", "asv_runner", "dcu_asv_ext"})
_STANDARD = frozenset(sys.stdlib_module_names)
_LINE = re.compile(r":\d+ ")
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/")
_OF_PYTHON = re.compile(r".*/lib(?:64)?/python3\.\d+/(?!(?:site|dist)-packages/)")
_GENERATED = ("<frozen ", "<string>", "<eval_with_key>", "<__array_function__")
_PROFILER = ("torch/profiler/", "torch/autograd/profiler.py")


class Sources:
    """Lines of code as `file.py:12 function`, from the Python frames of a trace; all empty where it has none.

    The line is that of the statement, where the trace says from which line a function called the next one
    (`Frames.called_from`; Kineto writes only the line on which a function begins, or, of one that was running when
    the profiler started, where it then was), or an operator has a stack of its own (torch before 1.12, and
    TorchScript). Arithmetic on tensors calls no function that Python tells of: there,
    and in all other traces, the line is the one on which the function begins.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._texts: Numbered[str] = Numbered()
        self._texts.number("")
        self._threads: dict[int, _Lines] = {}
        self._of_name: Ints = np.zeros(len(trace.names), np.int64)
        for name in np.unique(trace.frames.name).tolist():
            self._of_name[name] = self._texts.number(_user_line(trace.names[name]))
        # The last entry is that of -1: of operators without a stack.
        self._of_stack: Ints = np.zeros(len(trace.names) + 1, np.int64)
        for name in np.unique(trace.operators.stack[trace.operators.stack >= 0]).tolist():
            lines = map(_user_line, trace.names[name].split(";"))
            self._of_stack[name] = self._texts.number(next(filter(None, lines), ""))

    def of(self, thread: Ints, time: Ints) -> list[str]:
        """The innermost frame of user code around each (thread, time); "" where there is none."""
        return self.texts(self.numbers(thread, time))

    def of_calls(self, rows: Ints) -> list[str]:
        """Of rows of `Trace.calls`. Of a call that a backward pass made on a thread without code of the user: the
        line of its forward operator, where autograd's numbers say surely which that was."""
        return self.texts(self.numbers_of_calls(rows))

    def of_operators(self, rows: Ints) -> list[str]:
        """Of rows of `Trace.operators`, as `of_calls`."""
        return self.texts(self.numbers_of_operators(rows))

    def texts(self, numbers: Ints) -> list[str]:
        return [self._texts.all[number] for number in numbers.tolist()]

    def numbers(self, thread: Ints, time: Ints) -> Ints:
        """As `of`, as numbers that `texts` knows: equal for equal lines, 0 for none."""
        found = np.zeros(len(time), np.int64)
        if len(self.trace.frames):
            for one in np.unique(thread).tolist():
                asked = np.flatnonzero(thread == one)
                found[asked] = self._lines_of(one).at(time[asked])
        return found

    def numbers_of_calls(self, rows: Ints) -> Ints:
        """Rows below 0 have no line."""
        calls = self.trace.calls
        found = np.zeros(len(rows), np.int64)
        told = np.flatnonzero(rows >= 0)
        made = rows[told]
        found[told] = self._around(calls.thread[made], calls.start[made], calls.operator[made])
        return found

    def numbers_of_operators(self, rows: Ints) -> Ints:
        table = self.trace.operators
        found = np.zeros(len(rows), np.int64)
        told = np.flatnonzero(rows >= 0)
        found[told] = self._around(table.thread[rows[told]], table.start[rows[told]], rows[told])
        return found

    def _around(self, thread: Ints, time: Ints, operator: Ints) -> Ints:
        """The best that is known: an operator's own stack, the frames around it, its forward operator's line."""
        found = self._of_stacks(operator)
        rows = np.flatnonzero(found == 0)
        found[rows] = self.numbers(thread[rows], time[rows])
        rows = rows[found[rows] == 0]
        found[rows] = self._of_forward(operator[rows])
        return found

    def _of_stacks(self, operators: Ints) -> Ints:
        """From the stack of the innermost operator that has one with user code in it."""
        table = self.trace.operators
        found = np.zeros(len(operators), np.int64)
        if not self._of_stack.any():
            return found
        current = operators.copy()
        while True:
            rows = np.flatnonzero((found == 0) & (current >= 0))
            if not len(rows):
                return found
            found[rows] = self._of_stack[table.stack[current[rows]]]
            current[rows] = table.parent[current[rows]]

    def _of_forward(self, operators: Ints) -> Ints:
        forward = forward_operators(self.trace, operators)
        found = np.zeros(len(operators), np.int64)
        told = np.flatnonzero(forward >= 0)
        table, made = self.trace.operators, forward[told]
        found[told] = self._of_stacks(made)
        told, made = told[found[told] == 0], made[found[told] == 0]
        found[told] = self.numbers(table.thread[made], table.start[made])
        return found

    def _lines_of(self, thread: int) -> _Lines:
        found = self._threads.get(thread)
        if found is None:
            found = self._threads[thread] = _Lines(self.trace, thread, self._of_name, self._texts)
        return found

    def in_profiler(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """Mask of the rows of `Trace.calls` that the profiler's own Python code made."""
        frames, calls, names = self.trace.frames, self.trace.calls, self.trace.names
        found = np.zeros(len(rows), np.bool_)
        own = [name for name in np.unique(frames.name).tolist() if names[name].startswith(_PROFILER)]
        mine = np.isin(frames.name, own)
        for thread in np.unique(frames.thread[mine]).tolist():
            chosen = mine & (frames.thread == thread)
            nested = Nested(frames.start[chosen], frames.end[chosen])
            asked = np.flatnonzero(calls.thread[rows] == thread)
            found[asked] = nested.innermost(calls.start[rows[asked]]) >= 0
        return found


class _Lines:
    """Lines of user code on one thread, as numbers of `texts`."""

    def __init__(self, trace: Trace, thread: int, of_name: Ints, texts: Numbered[str]) -> None:
        frames = trace.frames
        self._texts = texts
        chosen = np.flatnonzero(frames.thread == thread)
        if (frames.called_from[chosen] < 0).all():
            chosen = chosen[of_name[frames.name[chosen]] > 0]  # nothing to learn from any other
        self._nested = Nested(frames.start[chosen], frames.end[chosen])
        rows = chosen[self._nested.rows]
        self._line, self._called_from = of_name[frames.name[rows]], frames.called_from[rows]

    def at(self, time: Ints) -> Ints:
        place = self._nested.innermost(time)
        inside = np.full(len(place), -1, np.int64)  # the frame that the user's function called
        while True:
            others = np.flatnonzero(place >= 0)
            others = others[self._line[place[others]] == 0]
            if not len(others):
                break
            inside[others] = place[others]
            place[others] = self._nested.parent[place[others]]
        found = np.zeros(len(place), np.int64)
        some = np.flatnonzero(place >= 0)
        found[some] = self._line[place[some]]
        some = some[inside[some] >= 0]
        called_from = self._called_from[inside[some]]
        for line, at in {*zip(found[some].tolist(), called_from.tolist(), strict=True)}:
            if at >= 0:
                text = _LINE.sub(f":{at} ", self._texts.all[line], count=1)
                found[some[(found[some] == line) & (called_from == at)]] = self._texts.number(text)
        return found


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
