"""What the record says of memory, for functions whose memory is known, on the simulated device and on the CPU."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = pytest.mark.simulated

SCRIPT = Path(__file__).with_name("simulated_memory.py")
MIB = 1 << 20
FORMS = ("sim", "cuda", "cpu")
DEVICES = FORMS[:2]


@cache
def records(form: str) -> dict[str, dict[str, Any]]:
    found = last_line(SCRIPT, form, DCU_ASV_DEVICE=form, SIM_DEVICES="1")
    assert [one["status"] for one in found] == ["ok"] * len(found)
    return {one["benchmark"].partition(".")[2]: one for one in found}


@pytest.mark.parametrize("form", FORMS)
def test_a_tensor_alive_only_inside_the_call_is_found_in_the_peak(form: str) -> None:
    memory = records(form)["inside_the_call"]["memory"]
    added = memory["peak_allocated"] - memory["baseline_allocated"]
    # 64 MiB, one byte of it as a number, that number in float32, and the result of 256 bytes.
    small = 1 + 4 + 256 if form == "cpu" else 2 * 512
    assert 64 * MIB <= added <= 64 * MIB + small
    assert memory["after_allocated"] == memory["baseline_allocated"]


@pytest.mark.parametrize("form", FORMS)
def test_it_is_named_with_its_line(form: str) -> None:
    (holder, *_) = records(form)["inside_the_call"]["memory"]["alive"]["holders"]
    line = next(
        number
        for number, text in enumerate(SCRIPT.read_text().splitlines(), 1)
        if "torch.empty(64 * MIB" in text
    )
    assert (holder["bytes"], holder["count"]) == (64 * MIB, 1)
    assert holder["where"].endswith(f"simulated_memory.py:{line} in inside_the_call")


@pytest.mark.parametrize("form", DEVICES)
def test_requested_allocated_reserved_and_card_are_told_apart(form: str) -> None:
    memory = records(form)["inside_the_call"]["memory"]
    card = memory["card"]
    assert memory["requested_peak"] < memory["peak_allocated"] < memory["peak_reserved"] <= card["peak"]
    assert memory["peak_allocated"] - memory["requested_peak"] < 4 * 512
    assert memory["peak_reserved"] % (2 * MIB) == 0
    assert (card["source"], card["before"], card["after"]) == (
        "mem_get_info",
        memory["baseline_reserved"],
        memory["after_reserved"],
    )
    assert memory["peak_card"] == card["peak"] and memory["outside_allocator"] == 0
    assert memory["retries"] == memory["ooms"] == 0


@pytest.mark.parametrize("form", DEVICES)
def test_the_first_call_s_larger_peak_is_the_first_call_s_alone(form: str) -> None:
    memory = records(form)["Searching"]["memory"]
    first = memory["first"]
    assert first["peak_allocated"] - first["baseline_allocated"] >= 256 * MIB
    assert memory["peak_allocated"] - memory["baseline_allocated"] < MIB
    # The allocator keeps what it took then.
    assert memory["baseline_reserved"] == memory["peak_reserved"] == first["after_reserved"] >= 256 * MIB
    assert (
        first["card"]["after"] - first["card"]["before"]
        == first["after_reserved"] - first["baseline_reserved"]
    )


@pytest.mark.parametrize("form", DEVICES)
def test_calls_of_empty_cache_are_counted_and_timed(form: str) -> None:
    record = records(form)["emptying"]
    emptied = record["memory"]["empty_cache"]
    assert emptied["calls"] == 1 and 0 < emptied["seconds"] < 10
    assert any("1 call" in note or "calls of empty_cache" in note for note in record["notes"])
    assert "empty_cache" not in records(form)["chunks"]["memory"]


def test_the_cpu_says_what_it_cannot_tell() -> None:
    record = records("cpu")["inside_the_call"]
    missing = record["memory"]["missing"]
    assert {"reserved", "requested_peak", "retries", "ooms", "card", "outside_allocator"} <= missing.keys()
    assert "slow the call that is timed" in record["memory"]["first"]["missing"]["allocator"]
    assert record["missing"]["peak_card"] == missing["card"]
