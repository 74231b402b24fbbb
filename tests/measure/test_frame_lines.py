"""Calling lines from the profiler's event tree (torch's own is read in tests/trace/test_waits_simulated.py)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.measure.frame_lines import CallingLines

BASE = 1_790_857_026_000_000_000


def event(name: str, start: int, line: int | None, *children: Any) -> Any:
    caller = None if line is None else SimpleNamespace(line_number=line)
    fields = SimpleNamespace(caller=caller) if line is not None else SimpleNamespace()
    return SimpleNamespace(name=name, start_time_ns=BASE + start, extra_fields=fields, children=children)


def lines(*roots: Any) -> CallingLines:
    return CallingLines(SimpleNamespace(experimental_event_tree=lambda: roots))


def row(name: str, microseconds: float, **more: Any) -> dict[str, Any]:
    return {"cat": "python_function", "name": name, "ts": microseconds, **more}


def told(found: CallingLines, one: dict[str, Any]) -> Any:
    found.tell(one, {"baseTimeNanoseconds": BASE})
    return one.get("args", {}).get("Caller line")


def test_each_row_gets_its_callers_line() -> None:
    item = event("<built-in method item>", 3_000, 8)
    found = lines(event("a.py(5): f", 1_000, 20, event("aten::mul", 2_000, None, item)))
    assert told(found, row("a.py(5): f", 1.0, args={"Python id": 1})) == 20
    assert told(found, row("<built-in method item>", 3.0)) == 8


def test_what_is_no_row_of_the_tree() -> None:
    found = lines(event("a.py(5): f", 1_000, 20))
    assert told(found, row("a.py(5): f", 1.01)) is None
    assert told(found, row("a.py(5): g", 1.0)) is None
    assert told(found, row("a.py(5): f", 1.0) | {"cat": "cpu_op"}) is None


@pytest.mark.parametrize("start", [5_173_139_222_927_289, 5_173_139_222_927_290, 5_173_139_222_927_291])
def test_times_of_more_digits_than_a_float_has(start: int) -> None:
    found = lines(event("a.py(5): f", start, 20))
    assert told(found, row("a.py(5): f", float(f"{start / 1000:.3f}"))) == 20


def test_a_name_that_torch_has_no_more() -> None:
    class Gone(SimpleNamespace):
        @property
        def name(self) -> str:
            return b"\xa0".decode()

    gone = Gone(start_time_ns=BASE, extra_fields=SimpleNamespace(caller=SimpleNamespace(line_number=3)))
    gone.children = [event("a.py(5): f", 1_000, 20)]
    assert told(lines(gone), row("a.py(5): f", 1.0)) == 20


def test_a_torch_without_the_tree() -> None:
    assert told(CallingLines(SimpleNamespace()), row("a.py(5): f", 1.0)) is None
