"""One measurement as one line of strict JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.evidence.record import OK, REQUIRED, Measurement, finite
from dcu_asv_ext.metrics import PROTOCOL

from .records import measurement

CONTRACT = (
    "benchmark", "params", "param_index", "variant", "round", "session", "order", "commit", "env", "machine",
    "started_at", "protocol", "status", "boundary", "seed", "times", "batch", "memory", "correctness", "device",
    "software", "switches", "input", "notes",
)  # fmt: skip


def strict(line: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(line, parse_constant=refuse)


def test_every_field_of_the_contract_is_always_there() -> None:
    empty = strict(Measurement("a.b", {}).to_line())
    assert set(CONTRACT) <= set(empty) and set(CONTRACT) <= set(REQUIRED)
    assert set(REQUIRED) <= set(empty)
    assert (empty["protocol"], empty["status"]) == (PROTOCOL, OK)
    assert strict(measurement().to_line())["times"]["latency"] == [1.25e-3, 1.5e-3]


def test_optional_parts_appear_where_they_say_something() -> None:
    optional = {
        "work": {"flop": 2.0},
        "parts": {"setup": 0.5},
        "error": {"type": "E"},
        "missing": {"latency": "why"},
        "dirty": True,
        "head": "1234567890ab",
    }
    assert not optional.keys() & strict(measurement().to_line()).keys()
    assert optional.items() <= strict(measurement(**optional).to_line()).items()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, numpy.float64("nan"), numpy.float32("inf")])
def test_no_nan_and_no_infinity_anywhere(bad: Any) -> None:
    line = measurement(
        times={"device_time": [bad, 1.0]},
        correctness={"max_error": bad, "deep": [{"x": (bad,)}]},
        memory={"peak_allocated": bad},
        device={bad: 1},
    ).to_line()
    found = strict(line)
    assert found["times"]["device_time"] == [None, 1.0]
    assert found["correctness"] == {"max_error": None, "deep": [{"x": [None]}]}
    assert found["memory"]["peak_allocated"] is None


def test_one_line_whatever_the_text() -> None:
    text = 'two\nlines, "quotes", \r\x00\u2028 and \ud800'
    line = measurement(notes=[text], status=f"failed: {text}").to_line()
    assert line.endswith("\n") and len(line.splitlines()) == 1
    assert strict(line)["notes"] == [text]
    line.encode()


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1.23456789012345e-3, 1.2345679e-3),
        (2.0, 2.0),
        (1234.00000000004, 1234.0),
        (1.23456789e-9, 1.23457e-9),
        (-1.5e-12, -1.5e-12),
        (0.0, 0.0),
        (numpy.float32(0.5), 0.5),
        (numpy.int64(7), 7),
        (numpy.bool_(True), True),
        (torch.tensor(3), 3),
        ((1, 2), [1, 2]),
        ({3: {4: "x"}}, {"3": {"4": "x"}}),
        (torch.float32, "torch.float32"),
        (1 << 70, 1 << 70),
        (None, None),
    ],
    ids=repr,
)
def test_values_as_they_are_stored(value: Any, stored: Any) -> None:
    found = finite(value)
    assert found == stored and type(found) is type(stored)
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(stored))


def test_a_clock_tick_survives() -> None:
    begin = 12.3456789012
    assert finite(begin + 1e-9) - finite(begin) == pytest.approx(1e-9, rel=0.2)
