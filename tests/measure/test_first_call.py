"""What the first call costs in memory, on virtual time and an exact allocator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices.base import MEMORY_FIGURES, MemoryPeaks
from dcu_asv_ext.measure.first_call import FirstCall

from .fakes import LAUNCH, MS, FakeDevice
from .virtual_runs import run, spec_of

MIB = 1 << 20


class Library:
    """Grows a pool and a workspace of its own when it is first called."""

    def __init__(self, device: FakeDevice) -> None:
        self.device, self.workspace = device, False

    def __call__(self) -> None:
        virtual = self.device.virtual
        block = virtual.malloc(64 * MIB)
        if not self.workspace:
            self.workspace = True
            self.device.outside += 32 * MIB
            virtual.free(virtual.malloc(100 * MIB))
        self.device.kernel(5 * MS)
        virtual.free(block)


def test_the_first_call_is_told_apart_from_a_steady_one(tmp_path: Path) -> None:
    device = FakeDevice()
    memory = run(spec_of(Library(device)), device, tmp_path).record.memory
    first = memory["first"]
    assert (first["baseline_allocated"], first["peak_allocated"], first["after_allocated"]) == (
        0,
        164 * MIB,
        0,
    )
    assert (first["baseline_reserved"], first["peak_reserved"], first["after_reserved"]) == (
        0,
        164 * MIB,
        164 * MIB,
    )
    assert (first["requested_peak"], first["retries"], first["ooms"]) == (164 * MIB, 0, 0)
    # 164 MiB of the allocator's and 32 MiB of the library's.
    assert first["card"] == {"before": 0, "after": 196 * MIB, "source": "mem_get_info"}
    assert memory["peak_allocated"] == 64 * MIB and memory["baseline_reserved"] == 164 * MIB


def test_what_it_costs_in_time_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking takes seconds here, and no look lies between the clock's two readings."""
    device = FakeDevice()
    peaks, look = device.start_peaks, device.card.read

    def slowly(step: Any) -> Any:
        device.host(3_000 * MS)
        return step()

    monkeypatch.setattr(device, "start_peaks", lambda: (lambda read: lambda: slowly(read))(slowly(peaks)))
    monkeypatch.setattr(device.card, "read", lambda: slowly(look))
    record = run(spec_of(lambda: device.kernel(5 * MS)), device, tmp_path, repeat=1, quick=True).record
    assert record.times["cold"] == [pytest.approx(0.005 + LAUNCH / 1e9)]


def test_a_device_without_counters_still_tells_the_process(tmp_path: Path) -> None:
    from dcu_asv_ext.devices import select

    folder = tmp_path / "proc/self"
    folder.mkdir(parents=True)
    (folder / "status").write_text("VmHWM:\t 300 kB\nVmRSS:\t 200 kB\n")
    (folder / "clear_refs").touch()
    watched = FirstCall(select("cpu"), tmp_path)
    (folder / "status").write_text("VmHWM:\t 900 kB\nVmRSS:\t 250 kB\n")
    found = watched.read()
    missing = found.pop("missing")
    assert found == {"rss_before": 200 << 10, "rss_peak": 900 << 10, "rss_after": 250 << 10}
    assert "would slow the call that is timed" in missing["allocator"]
    assert missing["card"]


def test_counters_that_prove_dead_tell_nothing_of_the_first_call_either(tmp_path: Path) -> None:
    class Dead(FakeDevice):
        def peak_memory(self, call: Any) -> MemoryPeaks:
            call()
            return MemoryPeaks(missing=dict.fromkeys(MEMORY_FIGURES, "the counters stay at 0"))

    device = Dead()
    record = run(spec_of(lambda: device.kernel(5 * MS)), device, tmp_path, repeat=1, quick=True).record
    first = record.memory["first"]
    assert not set(MEMORY_FIGURES) & first.keys()
    told = {
        first["missing"]["allocator"],
        record.memory["missing"]["allocator"],
        record.missing["peak_reserved"],
    }
    assert told == {"the counters stay at 0"}
