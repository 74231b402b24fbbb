from __future__ import annotations

import pytest

from dcu_asv_ext.devices.allocator import start_peaks

from .fakes import FakeCuda


def test_each_figure_is_the_sum_over_the_devices_in_use() -> None:
    cuda = FakeCuda()
    cuda.allocate(800)
    read = start_peaks(cuda, (0, 1), "counters")
    cuda.ooms += 1
    cuda.segments += 3
    peaks = read()
    assert (peaks.baseline_allocated, peaks.peak_allocated, peaks.after_reserved) == (1600, 1600, 1600)
    assert (peaks.requested_peak, peaks.retries, peaks.ooms, peaks.segments) == (1400, 0, 2, 6)
    assert peaks.method == "counters" and not peaks.missing
    assert cuda.log == [("reset", 0), ("reset", 1)]


def test_nothing_is_waited_for_or_allocated() -> None:
    cuda = FakeCuda()
    start_peaks(cuda, (0,), "counters")()
    assert cuda.log == [("reset", 0)] and cuda.allocated == 0


@pytest.mark.parametrize("stats", [None, lambda index: {}, lambda index: {"num_ooms": 3}])
def test_a_counter_that_this_torch_lacks_is_missing_and_never_0(
    stats: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stats is None:
        monkeypatch.delattr(FakeCuda, "memory_stats")
    else:
        monkeypatch.setattr(FakeCuda, "memory_stats", staticmethod(stats))
    peaks = start_peaks(FakeCuda(), (0,), "counters")()
    told = stats is not None and "num_ooms" in stats(0)  # type: ignore[operator]
    assert peaks.requested_peak is None and peaks.retries is None
    assert (
        peaks.missing["requested_peak"]
        == "the allocator of this torch has no counter requested_bytes.all.peak"
    )
    assert peaks.missing["retries"] == "the allocator of this torch has no counter num_alloc_retries"
    assert peaks.ooms == (0 if told else None) and ("ooms" in peaks.missing) != told
    assert peaks.peak_allocated == 0
