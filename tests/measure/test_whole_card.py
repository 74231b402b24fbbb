"""The whole card in the memory pass, and what of it no allocator holds, exact on a virtual card."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcu_asv_ext.devices.cards.source import Reading
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.measure.passes import Run
from dcu_asv_ext.measure.request import Options
from dcu_asv_ext.measure.whole_card import METHOD, settle

from .fakes import MS, FakeDevice
from .virtual_runs import ALL, run, spec_of

MIB = 1 << 20
WANTED = (*ALL, "peak_card")


class RealDevice(FakeDevice):
    """Not known to be alone on its card."""

    simulated = False


def measured(device: FakeDevice, function: Callable[[], Any], tmp_path: Path) -> Any:
    return run(spec_of(function, metrics=WANTED), device, tmp_path, repeat=1, quick=True).record


def test_the_peak_is_the_largest_of_before_sampled_and_after(tmp_path: Path) -> None:
    device = FakeDevice()
    device.outside = 100 * MIB
    calls, looked = [0], threading.Event()
    read = device.card.read

    def look() -> Reading:
        found = read()
        if found.used_bytes == 664 * MIB:
            looked.set()
        return found

    device.card.read = look  # type: ignore[method-assign]

    def function() -> None:
        """A library that takes memory and gives it back within the call."""
        block = device.virtual.malloc(64 * MIB)
        device.kernel(5 * MS)
        calls[0] += 1
        if threading.active_count() > before:
            device.outside += 500 * MIB
            assert looked.wait(60)
            device.outside -= 500 * MIB
        device.virtual.free(block)

    before = threading.active_count()
    record = measured(device, function, tmp_path)
    card = record.memory["card"]
    assert (card["before"], card["peak"], card["after"]) == (164 * MIB, 664 * MIB, 164 * MIB)
    assert record.memory["peak_card"] == 664 * MIB and record.status == "ok"
    assert (card["source"], card["interval"], card["method"]) == ("mem_get_info", 0.01, METHOD)
    assert card["readings"] >= 1 and card["total"] == 64 << 30
    assert "seen only as far as the allocator keeps it" in METHOD
    # The allocator's own figures are of the same call.
    assert record.memory["peak_allocated"] == 64 * MIB


def test_nothing_looks_at_the_card_when_the_pass_is_over(tmp_path: Path) -> None:
    device = FakeDevice()
    threads = threading.active_count()
    looks: list[int] = []

    def function() -> None:
        looks.append(device.card.looks)
        device.kernel(5 * MS)

    run(spec_of(function), device, tmp_path, repeat=5)
    # Two looks at the first call, and some in the memory pass.
    assert threading.active_count() == threads and looks[1] == 2 and device.card.looks == looks[-1]


def test_the_last_look_is_after_the_device_is_done(tmp_path: Path) -> None:
    device = FakeDevice()
    read = device.card.read

    def look() -> Reading:
        if threading.current_thread() is threading.main_thread():
            device.log.append("look")
        return read()

    device.card.read = look  # type: ignore[method-assign]
    log = device.log

    def function() -> None:
        log.append("call")
        device.kernel(5 * MS)

    measured(device, function, tmp_path)
    inside = log[log.index("peak") + 1 : log.index("peak end")]
    assert inside[inside.index("look") :] == ["look", "call", "sync", "look", "sync"]


def test_a_card_known_to_have_no_other_user_tells_what_the_allocator_does_not_hold(tmp_path: Path) -> None:
    device = FakeDevice()
    device.outside = 300 * MIB
    record = measured(device, lambda: device.virtual.free(device.virtual.malloc(64 * MIB)), tmp_path)
    assert record.memory["outside_allocator"] == 300 * MIB
    assert record.memory["card"]["others"] == {"count": 0} and record.memory["card"]["contended"] is False


def test_of_a_card_that_others_may_be_using_it_is_missing(tmp_path: Path) -> None:
    device = RealDevice()
    device.outside = 300 * MIB
    record = measured(device, lambda: device.kernel(5 * MS), tmp_path)
    assert "outside_allocator" not in record.memory and "own" not in record.memory["card"]
    reason = record.memory["missing"]["outside_allocator"]
    assert reason == "nothing tells who else is on the card, nor what of it is this process's"
    assert record.memory["peak_card"] == 300 * MIB


def test_the_drivers_word_on_this_process_goes_before_all(tmp_path: Path) -> None:
    """sysfs: 900 MiB in use, 500 of them this process's, 400 another's."""
    device = RealDevice()
    root = driver(tmp_path, own=500 * MIB, other=400 * MIB)
    device.card.arguments = ("sysfs", ADDRESS, str(root))
    device.outside = 836 * MIB
    record = measured(device, lambda: device.virtual.free(device.virtual.malloc(64 * MIB)), tmp_path)
    assert record.memory["card"]["own"] == 500 * MIB
    assert record.memory["outside_allocator"] == 436 * MIB


def test_it_is_never_negative(tmp_path: Path) -> None:
    device = RealDevice()
    device.card.arguments = ("sysfs", ADDRESS, str(driver(tmp_path, own=10 * MIB, other=0)))
    record = measured(device, lambda: device.virtual.free(device.virtual.malloc(64 * MIB)), tmp_path)
    assert "outside_allocator" not in record.memory
    assert record.memory["missing"]["outside_allocator"] == (
        "this process's share of the card (10.0 MiB) is less than the allocator reserves (64.0 MiB)"
    )


def test_with_several_devices_one_card_is_not_the_whole(tmp_path: Path) -> None:
    device = FakeDevice()
    device.used.add(1)
    device.devices = (device.virtual, device.virtual)
    record = measured(device, lambda: device.kernel(5 * MS), tmp_path)
    assert "several devices are in use" in record.memory["missing"]["outside_allocator"]


def test_a_device_without_a_card_says_so(take: Callable[..., Any]) -> None:
    record = take(lambda: None, metrics=WANTED).record
    assert "card" not in record.memory and "peak_card" not in record.memory
    assert "no card" in record.missing["peak_card"]
    assert record.memory["missing"]["outside_allocator"] == record.memory["missing"]["card"]


def test_a_source_that_stops_telling_is_no_measurement(tmp_path: Path) -> None:
    device = FakeDevice()
    device.card.read = Reading  # type: ignore[method-assign]
    record = measured(device, lambda: device.kernel(5 * MS), tmp_path)
    assert record.missing["peak_card"] == "mem_get_info did not tell what is in use on the card"
    assert "card" not in record.memory and record.memory["peak_allocated"] == 0
    assert record.memory["first"]["missing"]["card"]


def test_a_call_that_raises_leaves_no_thread(tmp_path: Path) -> None:
    device = FakeDevice()
    threads = threading.active_count()

    def function() -> None:
        device.kernel(5 * MS)
        if threading.active_count() > threads:
            raise ValueError("in the memory pass")

    record = measured(device, function, tmp_path)
    assert record.status.startswith("failed in the memory pass: ValueError")
    assert threading.active_count() == threads and "missing" not in record.memory


def settled(state: dict[str, Any], reserved: int, **memory: Any) -> dict[str, Any]:
    """What a memory pass with 64 MiB reserved becomes, the measurement ending with `reserved`."""
    device = RealDevice()
    device.virtual.malloc(reserved)
    spec = spec_of(lambda: None)
    measurement = Measurement("suite.bench", {}, state=state)
    measurement.memory = {"method": "", "after_reserved": 64 * MIB, **memory}
    settle(Run(spec, device, Options(), measurement, ()))
    return measurement.memory


def test_a_share_that_is_told_at_the_end_is_held_against_what_is_reserved_then() -> None:
    state = {"own_bytes": 500 * MIB, "others": {"count": 2, "mib": 10}, "contended": True}
    found = settled(state, 200 * MIB, card={"after": 900 * MIB})
    assert found["outside_allocator"] == 300 * MIB and found["card"]["own"] == 500 * MIB
    assert found["card"]["others"] == {"count": 2, "mib": 10} and found["card"]["contended"] is True


def test_others_whose_share_is_not_told_hide_this_process_s() -> None:
    state = {"others": {"count": 2}, "contended": True}
    found = settled(state, 64 * MIB, card={"after": 900 * MIB})
    assert "outside_allocator" not in found
    assert found["missing"]["outside_allocator"] == (
        "others are on the card, and nothing tells what of it is this process's"
    )


def test_why_the_others_are_not_told_is_passed_on() -> None:
    state = {"missing": {"others": "a container does not see the processes of its host"}}
    found = settled(state, 64 * MIB, card={"after": 900 * MIB})
    assert found["missing"]["outside_allocator"].startswith("a container does not see the processes")


ADDRESS = "0000:09:00.0"


def driver(tmp_path: Path, own: int, other: int) -> Path:
    """What a driver's files say of the processes on a card, this one among them."""
    root = tmp_path / "root"
    (root / "proc/self/ns").mkdir(parents=True)
    (root / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    node = root / "sys/class/kfd/kfd/topology/nodes/1"
    node.mkdir(parents=True)
    (node / "gpu_id").write_text("77\n")
    (node / "properties").write_text(f"location_id {0x09 << 8}\ndomain 0\n")
    for number, used in ((os.getpid(), own), (1, other)):
        process = root / f"sys/class/kfd/kfd/proc/{number}"
        process.mkdir(parents=True)
        (process / "vram_77").write_text(f"{used}\n")
    return root
