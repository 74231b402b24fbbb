"""What the profile pass tells of functions whose kernels, copies and waits are known, on the simulated device."""

from __future__ import annotations

import statistics
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.metrics import GROUPS
from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = pytest.mark.simulated

SCRIPT = Path(__file__).with_name("simulated_profiles.py")
FORMS = ("sim", "cuda")
NOTHING = {name: 0 for name in GROUPS["profile"] if name.startswith(("copy", "sync", "kernel"))}
BYTES = 64 * 64 * 4


@cache
def found(form: str) -> dict[str, Any]:
    told: dict[str, Any] = last_line(SCRIPT, form, DCU_ASV_DEVICE=form, SIM_DEVICES="1")
    return told


def counts(record: dict[str, Any]) -> dict[str, float]:
    return {name: value for name, value in record["profile"]["per_call"].items() if name in NOTHING}


@pytest.mark.parametrize("form", FORMS)
def test_kernels_copies_and_waits_of_a_call_are_counted_exactly(form: str) -> None:
    record = found(form)["mixed"]
    assert record["status"] == "ok" and "missing" not in record
    there = {"kernel_count": 4, "copy_count_htod": 1, "copy_count_dtoh": 1, "sync_count": 2}
    assert counts(record) == {**NOTHING, **there, "copy_bytes_htod": BYTES, "copy_bytes_dtoh": BYTES}
    profile = record["profile"]
    assert profile["varies"] == {} and profile["faults"] == [] and profile["missing"] == {}
    assert sum(row[2] for row in profile["kernels"]) == 4 * profile["steps"]
    # The harness's own wait at the end of each call is in no table.
    assert {row[0] for row in profile["syncs"]} == {"stream"}
    assert sum(row[2] for row in profile["syncs"]) == 2 * profile["steps"]
    assert sorted(row[:3] for row in profile["copies"]) == [
        [way, profile["steps"], BYTES * profile["steps"]] for way in ("DtoH", "HtoD")
    ]


@pytest.mark.parametrize("form", FORMS)
def test_shares_and_times_are_those_of_the_calls(form: str) -> None:
    record = found(form)["mixed"]
    profile, per_call = record["profile"], record["profile"]["per_call"]
    rows = sum(row[3] for table in ("kernels", "copies") for row in profile[table])
    assert per_call["profiled_device_time"] * profile["steps"] == pytest.approx(rows, rel=0.01)
    assert 0 <= per_call["idle_share"] < 1 and per_call["overlap_share"] == 0
    assert len(profile["seconds"]) == profile["steps"] and profile["overhead"] > 0
    assert per_call["profiled_device_time"] < statistics.mean(profile["seconds"])


@pytest.mark.parametrize("form", FORMS)
def test_calls_that_differ_have_a_mean_over_whole_turns_and_that_is_told(form: str) -> None:
    record = found(form)["several"]
    profile = record["profile"]
    assert profile["steps"] % 3 == 0
    assert counts(record)["kernel_count"] == pytest.approx(7 / 3)
    assert profile["varies"] == {"kernel_count": [1, 4]}
    assert any(
        "kernel_count is not the same in every profiled call (1 to 4)" in one for one in record["notes"]
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_runs_nothing_on_the_device_has_counts_of_0_and_no_shares(form: str) -> None:
    record = found(form)["host_alone"]
    assert counts(record) == NOTHING and record["profile"]["per_call"]["profiled_device_time"] == 0
    reason = "the calls ran nothing on the device"
    assert record["missing"] == dict.fromkeys(("idle_share", "overlap_share", "launch_bound_share"), reason)


@pytest.mark.parametrize("form", FORMS)
def test_a_quick_run_profiles_one_call(form: str) -> None:
    record = found(form)["quick"]
    assert record["profile"]["steps"] == 1 and counts(record)["kernel_count"] == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_raises_under_the_profiler_alone_loses_nothing_else(form: str) -> None:
    record = found(form)["raising"]
    reason = "the call raised under the profiler (ValueError: not under a profiler)"
    assert record["status"] == "ok" and record["times"]["latency"]
    assert record["missing"] == dict.fromkeys(GROUPS["profile"], reason)
    assert record["profile"] == {"missing": {"rows": reason}}
    assert any(reason in one for one in record["notes"])


@pytest.mark.parametrize("form", FORMS)
def test_a_device_error_is_that_of_the_measurement(form: str) -> None:
    assert found(form)["lost"]["status"].startswith("device error in the profile pass: ")


@pytest.mark.parametrize("form", FORMS)
def test_resets_and_what_was_under_way_are_in_no_figure(form: str) -> None:
    """The call that is thrown away right before the recording begins has kernels that run on when it returns."""
    record, trace = found(form)["with_reset"], found(form)["trace"]
    assert counts(record) == {**NOTHING, "kernel_count": 2}
    assert trace["kernels"] == 7 * trace["steps"] and trace["kernels_inside"] == 2 * trace["steps"]
    assert [row[0] for row in record["profile"]["operators"] if row[0].startswith("aten::mul")] == []


@pytest.mark.parametrize("form", FORMS)
def test_the_kept_trace_names_steps_and_waits_and_tells_nothing_of_the_machine(form: str) -> None:
    record, trace = found(form)["with_reset"], found(form)["trace"]
    assert record["profile"]["trace"] == "suite.kernels.json.gz"
    expected = [f"ProfilerStep#{number}" for number in range(trace["steps"])]
    assert trace["spans"] == [name for step in expected for name in (step, "dcu_asv_ext.wait")]
    assert not {"host_name", "traceName", "trace_id"} & set(trace["header"])


@pytest.mark.parametrize("form", FORMS)
def test_a_trace_above_the_limit_is_not_kept_and_what_was_read_from_it_is(form: str) -> None:
    record = found(form)["too_large"]
    assert record["profile"]["trace"] is None and "more than" in record["profile"]["missing"]["trace"]
    assert counts(record)["kernel_count"] == 2
    assert any("is not kept" in one for one in record["notes"])
    # The older one would be taken for it.
    assert not found(form)["still_there"]


@pytest.mark.parametrize("form", FORMS)
def test_a_profile_alone_measures_what_its_overhead_needs(form: str) -> None:
    record = found(form)["only"]
    assert record["missing"] == {"peak_allocated": "only the profile was asked for"}
    assert set(record["times"]) == {"warm_up", "latency"} and record["profile"]["overhead"] > 0
    assert record["profile"]["trace"] == "only.json.gz" and record["profile"]["stacks"]
    assert counts(record)["kernel_count"] == 4
    first = record["profile"]["first_call"]
    assert (first["steps"], first["first"], first["overhead"]) == (1, True, None)
    assert first["per_call"]["kernel_count"] == 4 and first["trace"] == "first.json"
    assert found(form)["first_trace"]["kernels"] == 4
    assert found(form)["only_raising"]["status"].startswith("failed in the profile pass: ValueError")


@pytest.mark.parametrize("form", FORMS)
def test_stacks_name_lines_of_the_suite_and_no_folder_of_the_machine(form: str) -> None:
    profile = found(form)["only"]["profile"]
    assert any(row[4].startswith("simulated_profiles.py:") and "mixed" in row[4] for row in profile["copies"])
    frames = found(form)["only_trace"]["frames"]
    assert any("simulated_profiles.py(" in one for one in frames)
    assert not [one for one in frames if one.startswith("/")]
