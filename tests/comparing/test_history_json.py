from __future__ import annotations

import json
import math

import pytest

from dcu_asv_ext.comparing.history import Event, HistoryReport, Restart
from dcu_asv_ext.comparing.history_json import to_json
from dcu_asv_ext.comparing.history_text import DATE

from .histories import branch, change, commit, timeline

STEP = [1e-3] * 20 + [1.2e-3] * 20


def _report() -> HistoryReport:
    slower, faster = timeline(STEP), timeline([1.0] * 30 + [0.5] * 10, "attention.forward")
    changes = [change(slower, 20, behind=3), change(faster, 30, "improvement", pending=True)]
    return HistoryReport("main", branch(40), [slower, faster], changes)


def test_a_change_has_everything_that_is_known() -> None:
    found = json.loads(json.dumps(to_json(_report(), DATE), allow_nan=False))
    assert found["branch"] == "main" and found["commits"] == 40 and found["series"] == 2
    newest, oldest = found["changes"]
    assert newest["pending"] and newest["kind"] == "improvement" and newest["range_commits"] == 1
    assert oldest.pop("ratio") == pytest.approx(1.2)
    assert oldest.pop("difference") == pytest.approx(2e-4) and oldest.pop("no_ratio") is None
    assert oldest.pop("difference_low") is None and oldest.pop("difference_high") is None
    assert oldest.pop("ci_low") == pytest.approx(1.176) and oldest.pop("ci_high") == pytest.approx(1.224)
    assert oldest == {
        "commit": commit(20),
        "date": 1_701_728_000_000,
        "subject": "Change 20",
        "range": [commit(17), commit(20)],
        "range_commits": 3,
        "machine": "m",
        "environment": "e",
        "benchmark": "gemm.matmul",
        "metric": "latency",
        "params": {"n": "256"},
        "unit": "seconds",
        "better": "lower",
        "version": "1",
        "protocol": 1,
        "kind": "regression",
        "before": 1e-3,
        "after": 1.2e-3,
        "pending": False,
        "reason": "",
    }


def test_a_ratio_that_is_no_number_is_null() -> None:
    report = _report()
    report.changes[0] = change(timeline(STEP), 20, ratio=math.inf, ci_low=math.nan)
    (one,) = [one for one in to_json(report, DATE)["changes"] if one["commit"] == commit(20)]
    assert one["ratio"] is None and one["ci_low"] is None


def test_events_have_their_members_and_restarts_their_benchmarks() -> None:
    report = _report()
    members = (change(timeline(STEP, "a.b"), 20), change(timeline(STEP, "c.d"), 20))
    report.events.append(Event("m", "e", "seconds", 20, 18, 20, members, 2, 5))
    report.restarts.append(Restart("m", "e", 5, "version", ("x.y",)))
    found = json.loads(json.dumps(to_json(report, DATE), allow_nan=False))
    (event,) = found["events"]
    assert event["commit"] == commit(20) and event["range"] == [commit(18), commit(20)]
    assert (event["moved"], event["benchmarks"]) == (2, 5)
    assert [one["benchmark"] for one in event["members"]] == ["a.b", "c.d"]
    assert found["restarts"][0]["commit"] == commit(5) and found["restarts"][0]["benchmarks"] == ["x.y"]


def test_the_limit_counts_what_it_leaves_out() -> None:
    found = to_json(_report(), DATE, limit=1)
    assert [one["commit"] for one in found["changes"]] == [commit(30)] and found["not_shown"] == 1


def test_series_on_request() -> None:
    assert "timelines" not in to_json(_report(), DATE)
    first = to_json(_report(), DATE, series=True)["timelines"][0]
    assert first["values"] == STEP and first["commits"] == [commit(place) for place in range(40)]
