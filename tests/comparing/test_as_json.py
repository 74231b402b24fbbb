from __future__ import annotations

import json
import math

import numpy as np

from dcu_asv_ext.comparing.as_json import as_json, plain
from dcu_asv_ext.comparing.model import Difference
from tests.comparing.reports import (
    ENV,
    comparison,
    everything,
    missing,
    regression,
    report,
    result_set,
    row,
    side,
)

CONTRACT = {
    "benchmark", "metric", "params", "before", "after", "ratio", "ci_low", "ci_high", "verdict", "reason",
    "rounds", "p_value", "rounds_needed", "unit", "source", "cut",
}  # fmt: skip


def test_it_is_strict_json_with_the_contracts_keys() -> None:
    text = json.dumps(as_json(everything(), 1), allow_nan=False)
    found = json.loads(text)
    assert {"rows", "differences", "refused", "shift", "before", "after", "settings", "counts"} <= set(found)
    assert found["exit_code"] == 1
    assert all(set(one) >= CONTRACT for one in found["rows"])
    assert len(found["rows"]) == len(everything().rows)


def test_a_row() -> None:
    sizes = {"n": "1024", "dtype": "'float32'"}
    (found,) = as_json(report(regression(params=sizes, before=side(cut=2))), 1)["rows"]
    assert list(found["params"].items()) == list(sizes.items())
    assert (found["before"], found["after"]) == (0.0123, 0.0123 * 1.1)
    assert (found["ratio"], found["ci_low"], found["ci_high"]) == (1.1, 1.1 - 0.02, 1.1 + 0.02)
    assert found["rounds"] == [5, 5] and found["unit"] == "seconds" and found["better"] == "lower"
    assert found["cut"] == {"before": 10, "after": 0}
    assert found["source"] == {"before": "evidence", "after": "evidence"}
    assert found["corrected"] is None and found["env"] is None


def test_what_is_no_finite_number_is_null() -> None:
    wild = comparison(math.inf, 0.5, math.inf, "regression", before=0.0, after=1.0, p_value=math.nan)
    rows = as_json(report(row("a", "regression", wild), missing("b")), 1)["rows"]
    assert rows[0]["ratio"] is rows[0]["ci_high"] is rows[0]["p_value"] is rows[0]["spread"] is None
    assert rows[0]["before"] == 0.0 and rows[0]["ci_low"] == 0.5
    assert rows[1]["ratio"] is rows[1]["before"] is None
    assert rows[1]["reason"] == "the CPU has no device events"


def test_unnamed_parameters_are_numbered() -> None:
    made = regression(params={"n": "1"})
    bare = type(made)(**{**vars(made), "series": type(made.series)("x", ())})
    assert as_json(report(bare), 1)["rows"][0]["params"] == {"0": "1"}


def test_advice_stands_beside_the_refused_verdict() -> None:
    advice = comparison(1.2, 1.1, 1.3, "regression")
    refused = row("a", "not comparable", advice, corrected=advice, reason="the machine changed")
    found = as_json(report(refused, refused="the machine changed", shift=1.3), 4)
    assert found["refused"] == "the machine changed" and found["shift"] == 1.3
    (one,) = found["rows"]
    assert one["verdict"] == "not comparable" and one["corrected"]["verdict"] == "regression"
    assert as_json(report(), 4)["refused"] is None


def test_the_sides_name_their_results() -> None:
    two = [result_set("a" * 40, env="one"), result_set("a" * 40, env="two")]
    found = as_json(report(before=two, differences=[Difference("device.driver", "6.2", "6.3", True)]), 4)
    assert found["before"]["commit"] == "a" * 40 and found["before"]["env"] is None
    assert [one["env"] for one in found["before"]["sets"]] == ["one", "two"]
    assert found["after"]["env"] == ENV
    assert found["differences"] == [
        {"name": "device.driver", "before": "6.2", "after": "6.3", "matters": True, "declared": False}
    ]


def test_counts_have_every_verdict_of_the_statistics() -> None:
    counts = as_json(everything(), 1)["counts"]
    assert counts["regression"] == 2 and counts["no change"] == 8 and counts["missing"] == 6
    assert as_json(report(), 4)["counts"] == {
        "regression": 0, "improvement": 0, "inconclusive": 0, "no change": 0, "not comparable": 0
    }  # fmt: skip


def test_plain_objects() -> None:
    given = {"a": (1, np.float64(0.5), math.inf), "b": {"c": None, "d": True}, "e": np.int64(3), "f": "text"}
    assert plain(given) == {"a": [1, 0.5, None], "b": {"c": None, "d": True}, "e": 3.0, "f": "text"}
