"""Thinning: what goes from an old measurement, and that nothing else does."""

from __future__ import annotations

from typing import Any

from dcu_asv_ext.evidence.thinning import HOLDERS, LETTERS, ROWS, thin

from .records import measurement


def holder(size: int) -> dict[str, Any]:
    return {"bytes": size, "count": 1, "where": f"model.py:{size} in step", "what": "aten::mm"}


def full() -> dict[str, Any]:
    return measurement(
        sampled={
            "source": "sysfs",
            "times": [0.0, 0.05],
            "core_clock_mhz": [1400, 1390],
            "passes": {"latency": {"core_clock_mhz": 1400, "readings": 2}},
            "marks": ["latency: slow"],
        },
        memory={
            "peak_allocated": 4096,
            "alive": {"bytes": 100, "rest": 3, "holders": [holder(n) for n in (9, 1, 8, 2, 7, 3, 6)]},
            "growth": {"slope": 1.0, "grew": [holder(n) for n in range(2)]},
        },
        error={"kind": "exception", "traceback": "x" * 5000 + "the end"},
    ).to_dict()


def test_the_bulk_goes_and_the_summaries_stay() -> None:
    record = full()
    made = thin(record)
    assert made["sampled"] == {
        "source": "sysfs",
        "passes": {"latency": {"core_clock_mhz": 1400, "readings": 2}},
        "marks": ["latency: slow"],
    }
    alive = made["memory"]["alive"]
    assert [one["bytes"] for one in alive["holders"]] == [9, 8, 7, 6, 3] and len(alive["holders"]) == HOLDERS
    assert alive["rest"] == 3 + 1 + 2
    assert made["memory"]["growth"] == record["memory"]["growth"]
    assert len(made["error"]["traceback"]) == LETTERS and made["error"]["traceback"].endswith("the end")
    assert made["thinned"] == ["error", "memory", "sampled"]


def test_nothing_else_changes() -> None:
    record = full()
    made = thin(record)
    touched = {"sampled", "memory", "error", "thinned"}
    assert {name: value for name, value in made.items() if name not in touched} == {
        name: value for name, value in record.items() if name not in touched
    }
    assert made["memory"]["peak_allocated"] == 4096
    assert record == full(), "the record that was given stays as it is"


def test_thinning_twice_is_thinning_once() -> None:
    once = thin(full())
    assert thin(once) is once


def test_a_record_without_bulk_is_the_same_object() -> None:
    record = measurement().to_dict()
    assert thin(record) is record


def test_tables_of_a_profile_are_cut_and_still_add_up() -> None:
    rows = [[f"kernel{number}", "", 2, 0.5, []] for number in range(30)]
    profile = {
        "per_call": {"kernel_count": 60.0},
        "kernels": rows,
        "operators": [["aten::mm", 1, 0.0, 0.0, 1.0, 1.0, 0]],
        "findings": [{"kind": str(number)} for number in range(12)],
    }
    made = thin(measurement(profile=profile).to_dict())
    kept = made["profile"]
    assert len(kept["kernels"]) == ROWS + 1 and kept["kernels"][-1] == ["(rest)", "", 40, 10.0, []]
    assert kept["operators"] == profile["operators"] and len(kept["findings"]) == ROWS
    assert kept["per_call"] == profile["per_call"] and made["thinned"] == ["profile"]
    assert thin(made) is made


def test_tables_of_another_make_stay_as_they_are() -> None:
    record = measurement(profile={"kernels": ["?"] * 30, "copies": {}}).to_dict()
    assert thin(record) is record
