"""Which line called each Python function of a profile.

torch's profiler notes the line on which its caller stood for every function, built-in ones too, but writes into the
trace only the line on which the function itself begins. The event tree of the process that profiled has both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: The argument of a `python_function` row that holds it; `trace` reads it.
ARGUMENT = "Caller line"


class CallingLines:
    """Of one profile. results: `kineto_results` of torch.autograd.profiler.profile, once it has ended."""

    def __init__(self, results: Any) -> None:
        tree = getattr(results, "experimental_event_tree", None)  # torch 1.12 and later
        self._lines = dict(_lines(tree())) if tree is not None else {}

    def tell(self, event: dict[str, Any], header: Mapping[str, Any]) -> None:
        """Give a row of the profile's Chrome trace its line, if it is a Python function's.

        header: what the file tells beside its rows: their times count from its `baseTimeNanoseconds`.
        """
        if event.get("cat") != "python_function":
            return
        start = header.get("baseTimeNanoseconds", 0) + round(event["ts"] * 1000)
        for time in (start, start - 1, start + 1):  # so many microseconds have no exact float
            line = self._lines.get((time, event["name"]))
            if line is not None:
                event.setdefault("args", {})[ARGUMENT] = line
                return


def _lines(events: Iterable[Any]) -> Iterable[tuple[tuple[int, str], int]]:
    waiting = list(events)
    while waiting:
        event = waiting.pop()
        waiting.extend(event.children)
        caller = getattr(event.extra_fields, "caller", None)
        if caller is not None and (name := _name(event)) is not None:
            yield (event.start_time_ns, name), caller.line_number


def _name(event: Any) -> str | None:
    """None where the code that it is the name of is gone, as that of a module once it is imported: torch then reads
    other memory."""
    try:
        return str(event.name)
    except UnicodeDecodeError:
        return None
