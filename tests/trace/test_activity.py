"""When devices, streams and copies are busy, of small timelines that can be checked by eye."""

from __future__ import annotations

from pathlib import Path

from dcu_asv_ext.trace.activity import Activity

from .building import Building


def only(trace: Building, folder: Path) -> Activity:
    (found,) = trace.analysis(folder).activities
    return found


def test_nothing_ran(tmp_path: Path) -> None:
    assert Building().analysis(tmp_path).activities == []


def test_a_span_is_the_devices_own(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipDeviceSynchronize", 0, 1000)
    trace.kernel(100, 110)
    trace.kernel(130, 150)
    found = only(trace, tmp_path)
    assert (found.begin, found.end, found.span) == (100_000, 150_000, 50_000)
    assert (found.busy_time, found.idle_time) == (30_000, 20_000)


def test_streams_that_overlap(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 30, stream=1)
    trace.kernel(20, 25, stream=2)
    trace.kernel(24, 40, stream=3)
    found = only(trace, tmp_path)
    assert found.overlapped == 10_000  # 20 to 30: two streams, and three for a while
    assert sorted(found.lanes.values()) == [5_000, 16_000, 20_000]
    assert [one.tolist() for one in found.busy] == [[10_000], [40_000]]


def test_copies_that_are_hidden(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 20)
    trace.copy("Memcpy HtoD (Host -> Device)", 15, 30, stream=1)
    trace.copy("Memcpy HtoD (Host -> Device)", 25, 35, stream=2)
    found = only(trace, tmp_path)
    assert (found.copying, found.hidden) == (20_000, 5_000)


def test_a_longer_row_before_a_shorter(tmp_path: Path) -> None:
    """The last row to begin is not the last to end."""
    trace = Building()
    trace.kernel(10, 100, stream=1)
    trace.kernel(20, 30, stream=2)
    assert only(trace, tmp_path).end == 100_000


def test_devices_are_apart(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 20, device=0)
    trace.kernel(10, 40, device=3)
    first, second = trace.analysis(tmp_path).activities
    assert (first.device, first.busy_time, first.overlapped) == (0, 10_000, 0)
    assert (second.device, second.busy_time, second.overlapped) == (3, 30_000, 0)


def test_rows_of_no_length(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 10)
    found = only(trace, tmp_path)
    assert (found.span, found.busy_time, found.overlapped) == (0, 0, 0)
    totals = trace.analysis(tmp_path).totals
    assert totals["idle_share"] is None and "idle_share" in totals["missing"]
    assert totals["kernel_count"] == 1
