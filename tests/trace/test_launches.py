"""Launch delays, queue depth, clocks that differ, and launch-bound stretches."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.launches import skewed_devices
from dcu_asv_ext.trace.waits import Launches, Stretch
from tests.trace.building import Building


def launches_of(made: Building, folder: Path) -> Launches:
    return made.analysis(folder).launches


def test_delays_and_durations(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 20, took=4)
    made.launch(50, 70, 80, took=6)
    made.launch(90, 120, 130, took=8)
    told = launches_of(made, tmp_path)
    assert (told.count, told.delay_median, told.delay_p95, told.call_median) == (3, 20_000, 29_000, 6_000)
    assert (told.depth_median, told.depth_max, told.skewed, told.missing) == (0, 0, False, "")


def test_depth_counts_what_is_submitted_and_not_started(tmp_path: Path) -> None:
    made = Building()
    for number in range(5):
        made.launch(2 * number, 20 + 10 * number, 30 + 10 * number, took=1)
    made.launch(35, 70, 80, took=1)  # two have started by then
    told = launches_of(made, tmp_path)
    # 0, 1, 2, 3, 4, and 3 of the first five
    assert (told.depth_median, told.depth_max) == (2, 4)


def test_a_row_that_starts_as_the_next_is_submitted_waits_no_more(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 20, 30)
    made.launch(20, 30, 40)
    assert launches_of(made, tmp_path).depth_max == 0


def test_depth_is_of_each_device(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 20, 30, device=0)
    made.launch(2, 20, 30, device=1)
    assert launches_of(made, tmp_path).depth_max == 0


def test_only_the_first_row_of_a_graph_has_a_delay(tmp_path: Path) -> None:
    made = Building()
    made.call("hipGraphLaunch", 0, 8, correlation=1)
    made.kernel(20, 30, correlation=1)
    made.kernel(500, 600, correlation=1)
    told = launches_of(made, tmp_path)
    assert (told.count, told.delay_median, told.call_median) == (2, 20_000, 8_000)


def loop(made: Building, count: int, *, begin: int = 0, every: int = 50, row: int = 10) -> int:
    """Kernels that are each launched when nothing runs any more; the time after them."""
    for number in range(count):
        at = begin + every * number
        made.launch(at, at + 10, at + 10 + row)
    return begin + every * count


def test_a_stretch_of_late_short_rows(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): warm", 0, 49)
    made.frame("train.py(9): loop", 49, 400)
    loop(made, 7)
    told = launches_of(made, tmp_path)
    # The first row has no gap before it; the span is from 10 to 320 us.
    assert told.stretches == (Stretch(0, 20_000, 320_000, 6, 60_000, "train.py:9 loop"),)
    assert told.launch_bound_share == 300 / 310


def test_the_line_of_most_rows(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): before", 0, 110)
    made.frame("train.py(9): loop", 120, 500)
    loop(made, 7)
    (told,) = launches_of(made, tmp_path).stretches
    assert told.source == "train.py:9 loop"


def test_few_late_rows_are_no_stretch(tmp_path: Path) -> None:
    made = Building()
    loop(made, 5)
    told = launches_of(made, tmp_path)
    assert (told.stretches, told.launch_bound_share) == ((), 0.0)


def test_long_rows_are_no_stretch(tmp_path: Path) -> None:
    """The device waits 10 us for rows of 50."""
    made = Building()
    loop(made, 10, every=60, row=50)
    assert launches_of(made, tmp_path).stretches == ()
    made = Building()
    loop(made, 10, every=60, row=48)
    assert len(launches_of(made, tmp_path).stretches) == 1


def test_a_synchronisation_ends_a_stretch(tmp_path: Path) -> None:
    made = Building()
    after = loop(made, 6)
    made.call("hipDeviceSynchronize", 268, 272)
    loop(made, 6, begin=after)
    told = launches_of(made, tmp_path)
    assert [(one.begin, one.end, one.rows) for one in told.stretches] == [
        (20_000, 270_000, 5),
        (320_000, 570_000, 5),
    ]


def test_rows_submitted_in_time_are_no_stretch(tmp_path: Path) -> None:
    made = Building()
    for number in range(10):
        made.launch(2 * number, 100 + 20 * number, 110 + 20 * number, took=1)
    assert launches_of(made, tmp_path).stretches == ()


@pytest.mark.parametrize("shift", [-500, 40, 3_000_000])
def test_clocks_that_differ(tmp_path: Path, shift: int) -> None:
    """Rows before their calls, after the host has waited for them, or all far behind."""
    made = Building()
    made.call("hipDeviceSynchronize", 0, 1)
    for at in (1000, 1100, 1200):
        made.launch(at, at + 10 + shift, at + 20 + shift)
        if shift == 40:
            made.call("hipDeviceSynchronize", at + 6, at + 22)
    analysis = made.analysis(tmp_path)
    told = analysis.launches
    assert skewed_devices(analysis.trace) == {0}
    assert told.skewed and "clocks" in told.missing
    assert (told.delay_median, told.delay_p95, told.depth_median, told.depth_max) == (None,) * 4
    assert (told.stretches, told.launch_bound_share) == ((), None)
    assert told.call_median == 5_000


def test_a_copy_to_the_host_that_ends_after_its_call(tmp_path: Path) -> None:
    made = Building()
    made.copies("Memcpy DtoH (Device -> Host)", (0, 10), (12, 14))
    assert skewed_devices(made.analysis(tmp_path).trace) == {0}
    made = Building()
    made.copies("Memcpy HtoD (Host -> Device)", (0, 10), (12, 14))
    made.copies("Memcpy DtoH (Device -> Host)", (20, 30), (22, 31))
    assert not skewed_devices(made.analysis(tmp_path).trace)


def test_one_device_may_have_a_clock_of_its_own(tmp_path: Path) -> None:
    made = Building()
    made.launch(1000, 1010, 1020, device=0)
    made.launch(1000, 510, 520, device=1)
    assert skewed_devices(made.analysis(tmp_path).trace) == {1}


def test_a_wait_for_one_device_says_nothing_of_another(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 500, device=0)
    made.launch(6, 16, 20, device=1)
    made.call("hipDeviceSynchronize", 12, 22)
    assert not skewed_devices(made.analysis(tmp_path).trace)


def test_a_microsecond_of_rounding_is_no_other_clock(tmp_path: Path) -> None:
    made = Building()
    made.launch(10, 9, 20)
    assert not launches_of(made, tmp_path).skewed


def test_rows_without_calls(tmp_path: Path) -> None:
    made = Building()
    made.kernel(10, 20)
    told = launches_of(made, tmp_path)
    assert (told.count, told.delay_median, told.call_median, told.launch_bound_share) == (0, None, None, None)
    assert told.missing == "the trace has no device rows with a launching call"


def test_no_share_where_calls_were_lost(tmp_path: Path) -> None:
    made = Building()
    after = loop(made, 9)
    made.kernel(after + 10, after + 20, correlation=999)
    told = launches_of(made, tmp_path)
    assert (told.count, told.launch_bound_share, told.stretches) == (9, None, ())
    assert told.missing == "device rows without a launching call: it cannot be told which were submitted late"
