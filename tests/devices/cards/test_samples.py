from __future__ import annotations

import json
import random

import pytest

from dcu_asv_ext.devices.cards.processes import Company
from dcu_asv_ext.devices.cards.samples import Kept, Samples
from dcu_asv_ext.devices.cards.source import Reading


def filled(used: list[int | None], most: int) -> Samples:
    kept = Kept(most)
    for number, value in enumerate(used):
        kept.add(float(number), Reading(used_bytes=value))
    return kept.into(Samples("sysfs", 0.05))


def test_few_readings_are_kept_as_they_are() -> None:
    samples = filled([3, None, 5, 4], 4)
    assert [one.used_bytes for one in samples.readings] == [3, None, 5, 4]
    assert (samples.times, samples.taken, samples.peak_bytes) == ([0, 1, 2, 3], 4, 5)


@pytest.mark.parametrize("count", [7, 8, 9, 100, 1000, 4097])
def test_many_are_thinned_evenly_and_the_peak_of_every_stretch_is_kept(count: int) -> None:
    generator = random.Random(count)
    used: list[int | None] = [generator.randrange(1000) for _ in range(count)]
    for place in range(0, count, 97):
        used[place] = 10_000 + place
    samples = filled(used, 8)
    assert len(samples.readings) <= 8 and samples.taken == count
    assert samples.times == sorted(samples.times)
    assert samples.peak_bytes == max(one for one in used if one is not None)
    for time, reading in zip(samples.times, samples.readings, strict=True):
        assert reading.used_bytes == used[int(time)]
    # Each kept one stands for as many others, so each of them is the largest of its own stretch.
    stretch = -(-count // len(samples.readings))
    each = 1 << (stretch - 1).bit_length()
    for number, reading in enumerate(samples.readings):
        assert reading.used_bytes == max(one or 0 for one in used[number * each : (number + 1) * each])


def test_reasons_for_a_lowered_clock_outlive_thinning() -> None:
    kept = Kept(4)
    for number in range(64):
        reasons = {13: ("power",), 14: ("heat",), 50: ("power",)}.get(number, ())
        kept.add(float(number), Reading(used_bytes=number, throttle=reasons))
    seen = [one.throttle for one in kept.into(Samples()).readings]
    assert seen == [("heat", "power"), (), (), ("power",)]


def test_a_source_that_tells_no_memory_keeps_the_first_of_each_two() -> None:
    kept = Kept(2)
    for number in range(4):
        kept.add(float(number), Reading(core_clock_mhz=1000.0 + number))
    assert [one.core_clock_mhz for one in kept.into(Samples()).readings] == [1000.0, 1002.0]
    assert Samples().peak_bytes is None


def test_the_way_through_json_loses_nothing() -> None:
    samples = filled([3, 5], 4)
    samples.readings.append(Reading(core_clock_mhz=1500.0, throttle=("heat",), performance_level="auto"))
    samples.readings.append(Reading(throttle=()))
    samples.times += [2.5, 3.25]
    samples.before, samples.reason = Company(own_bytes=7, others=1, contended=True), "it ended early"
    again = Samples.from_plain(json.loads(json.dumps(samples.to_plain())))
    assert again == samples and again.after is None
