"""From the record to the figure that asv stores."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from dcu_asv_ext.evidence.summary import Outcome, asv_result, outcome
from dcu_asv_ext.metrics import METRICS

from .records import measurement


def told(metric: str, **changes: Any) -> Outcome:
    return outcome(json.loads(measurement(**changes).to_line()), metric)


def test_a_good_measurement() -> None:
    assert told("latency") == Outcome("ok", (1.25e-3, 1.5e-3), 4)
    assert told("cold_start") == Outcome("ok", (0.5,), 1)
    assert told("peak_allocated") == Outcome("ok", (4096.0,))
    assert told("peak_reserved") == Outcome("ok", (float(2 << 20),))
    assert told("max_error") == Outcome("ok", (2.5e-7,))


def test_bad_event_times_are_no_samples() -> None:
    assert told("device_time") == Outcome("ok", (1.0e-3, 1.125e-3), 2)
    none = told("device_time", times={"device_time": [None, -1.0, 0.0]})
    assert none == Outcome("missing", reason="none of 3 times is finite and positive")


def test_no_compilation_took_no_time_but_no_latency_is_none() -> None:
    asked: dict[str, Any] = {"metrics": list(METRICS), "times": {"compile": [0.0], "cold": [0.0]}}
    assert told("compile_time", **asked) == Outcome("ok", (0.0,), 1)
    assert told("cold_start", **asked).state == "missing"


@pytest.mark.parametrize("metric", METRICS)
def test_a_failure_answers_every_metric(metric: str) -> None:
    status = "out of memory in the first call: tried to allocate"
    assert told(metric, status=status) == Outcome("failed", reason=status)


@pytest.mark.parametrize("metric", METRICS)
def test_a_skip_answers_every_metric(metric: str) -> None:
    assert told(metric, status="skipped: two cards") == Outcome("missing", reason="skipped: two cards")


def test_a_wrong_result_offers_no_times_but_error_and_memory() -> None:
    status = "wrong result: 3 of 4 elements differ"
    for metric in ("latency", "device_time", "cold_start"):
        assert told(metric, status=status) == Outcome("failed", reason=status)
    for metric in ("max_error", "peak_allocated", "peak_reserved"):
        assert told(metric, status=status).state == "ok"


def test_an_error_that_is_no_number_fails_a_wrong_result() -> None:
    changes: dict[str, Any] = {
        "status": "wrong result: NaN",
        "missing": {"max_error": "1 of 4 elements are NaN"},
        "correctness": {"max_error": None},
    }
    assert told("max_error", **changes) == Outcome("failed", reason="1 of 4 elements are NaN")


def test_what_is_missing_has_its_reason() -> None:
    found = told("device_time", missing={"device_time": "stream escape: work ..."}, times={})
    assert found == Outcome("missing", reason="stream escape: work ...")


def test_a_metric_that_was_not_asked_for() -> None:
    found = told("host_time")
    assert found.state == "missing" and "did not report host_time" in found.reason


@pytest.mark.parametrize("changes", [{"times": {}}, {"times": {"latency": []}}])
def test_a_pass_that_is_not_there(changes: dict[str, Any]) -> None:
    assert told("latency", **changes) == Outcome("missing", reason="this measurement has no such pass")


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_figure_that_is_not_there(value: Any) -> None:
    record = measurement(memory={"peak_allocated": value}).to_dict()
    record["memory"]["peak_allocated"] = value
    assert outcome(record, "peak_allocated").state == "missing"


def test_as_asv_stores_it() -> None:
    assert asv_result(Outcome("ok", (1.0, 2.0), 4)) == ({"samples": [1.0, 2.0], "number": 4}, None)
    value, failure = asv_result(Outcome("missing", reason="why"))
    assert math.isnan(value) and failure is None
    assert asv_result(Outcome("failed", reason="why")) == (None, "why")


def test_the_same_record_gives_the_same_summary() -> None:
    record = json.loads(measurement().to_line())
    copy = json.loads(json.dumps(record))
    assert [outcome(record, name) for name in METRICS] == [outcome(record, name) for name in METRICS]
    assert record == copy
