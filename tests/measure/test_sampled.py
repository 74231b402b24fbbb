"""What readings and spans say, exactly: from made-up readings on a made-up clock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcu_asv_ext.devices.cards.processes import MIB, Company
from dcu_asv_ext.devices.cards.samples import Samples
from dcu_asv_ext.devices.cards.source import Reading
from dcu_asv_ext.measure.sampled import MOST_KEPT, contention, describe_state, marks, summarise, thin

BEGAN = 1000.0
SPANS = {"cold": [0.0, 0.1], "warm_up": [0.1, 1.1], "memory": [1.1, 1.15], "latency": [1.2, 2.2]}


def samples(*readings: tuple[float, Reading], **changed: Any) -> Samples:
    made = Samples(
        "sysfs", 0.05, [BEGAN + at for at, _ in readings], [one for _, one in readings], len(readings)
    )
    vars(made).update(changed)
    return made


def clocks(warm_up: list[float | None], latency: list[float | None]) -> list[str]:
    """Marks of a measurement with these clocks, at the end of the warm-up and in the latency pass."""
    rows = [(0.7 + 0.01 * number, one) for number, one in enumerate(warm_up)]
    rows += [(1.3 + 0.01 * number, one) for number, one in enumerate(latency)]
    return marks([at for at, _ in rows], [Reading(core_clock_mhz=one) for _, one in rows], SPANS)


def test_a_measurement_in_full() -> None:
    def reading(clock: float, watts: float, degrees: float, used: int) -> Reading:
        return Reading(used, 1000, clock, 1800.0, watts, degrees, throttle=())

    found = summarise(
        samples(
            (0.05, reading(800.0, 60.0, 40.0, 10)),
            (1.12, reading(1700.0, 200.0, 50.0, 90)),
            (1.25, reading(1690.04, 210.0, 51.0, 70)),
            (1.5, reading(1500.0, 220.0, 61.25, 70)),
            (2.125, reading(1710.0, 190.0, 55.0, 60)),
            (2.3, reading(1711.0, 90.0, 54.0, 60)),
        ),
        SPANS,
        BEGAN,
    )
    assert found == {
        "source": "sysfs",
        "interval": 0.05,
        "count": 6,
        "times": [0.05, 1.12, 1.25, 1.5, 2.12, 2.3],
        "core_clock_mhz": [800.0, 1700.0, 1690.0, 1500.0, 1710.0, 1711.0],
        "power_w": [60.0, 200.0, 210.0, 220.0, 190.0, 90.0],
        "temperature_c": [40, 50, 51, 61, 55, 54],
        "peak_used_bytes": 90,
        "passes": {
            "cold": {
                "core_clock_mhz": 800.0,
                "power_w": 60.0,
                "temperature_c": 40.0,
                "used_bytes": 10,
                "readings": 1,
            },
            "warm_up": {"readings": 0},
            "memory": {
                "core_clock_mhz": 1700.0,
                "power_w": 200.0,
                "temperature_c": 50.0,
                "used_bytes": 90,
                "readings": 1,
            },
            "latency": {
                "core_clock_mhz": 1690.0,
                "power_w": 210.0,
                "temperature_c": 61,
                "used_bytes": 70,
                "readings": 3,
            },
        },
    }
    json.dumps(found, allow_nan=False)


def test_what_a_source_never_tells_has_no_column() -> None:
    found = summarise(samples((0.5, Reading(used_bytes=7)), (0.6, Reading())), SPANS, BEGAN)
    assert found["peak_used_bytes"] == 7 and "core_clock_mhz" not in found and "power_w" not in found
    assert found["passes"]["warm_up"] == {"used_bytes": 7, "readings": 2}


def test_no_reading_has_a_reason() -> None:
    assert summarise(Samples(reason="NVML is gone"), SPANS, BEGAN) == {"missing": "NVML is gone"}
    assert "no reading before" in summarise(Samples("sysfs"), SPANS, BEGAN)["missing"]


def test_readings_that_ended_early_keep_the_reason() -> None:
    found = summarise(samples((0.5, Reading(7)), reason="hy-smi hung"), SPANS, BEGAN)
    assert found["missing"] == "hy-smi hung" and found["count"] == 1


def test_a_long_measurement_is_thinned_but_its_passes_are_whole() -> None:
    rows = [(0.1 + number * 0.001, Reading(used_bytes=number)) for number in range(1000)]
    found = summarise(samples(*rows, taken=5000), SPANS, BEGAN)
    assert len(found["times"]) == MOST_KEPT and found["peak_used_bytes"] == 999
    assert (found["times"][0], found["times"][-1], found["count"]) == (0.1, 1.1, 5000)
    assert found["passes"]["warm_up"] == {"used_bytes": 999, "readings": 1000}
    assert len(json.dumps(found)) < 2000


@pytest.mark.parametrize(("count", "most"), [(0, 4), (3, 4), (4, 4), (5, 4), (1000, 64)])
def test_thinning(count: int, most: int) -> None:
    kept = thin(count, most)
    assert len(kept) == min(count, most) == len(set(kept)) and kept == sorted(kept)
    assert not kept or (kept[0], kept[-1]) == (0, count - 1)


def test_a_clock_that_fell() -> None:
    assert clocks([1700.0] * 3, [1207.0] * 3) == [
        "latency: the core clock fell to 0.71 of the warm-up's: this round is throttled"
    ]


@pytest.mark.parametrize("latency", [[1530.0] * 3, [1531.0, 1700.0, 900.0], [2500.0] * 5, [900.0] * 2])
def test_clocks_that_say_nothing(latency: list[float | None]) -> None:
    """Not below nine tenths; a median that is not; a higher one; too few of them."""
    assert clocks([1700.0] * 3, latency) == []


def test_too_few_readings_of_the_warm_up_are_no_reference() -> None:
    assert clocks([1700.0] * 2, [900.0] * 5) == []
    assert clocks([1700.0, None, None, 1700.0], [900.0] * 5) == []


def test_the_reference_is_the_end_of_the_warm_up() -> None:
    times = [0.2, 0.25, 0.3, 0.8, 0.9, 1.0, 1.3, 1.4, 1.5]
    values = [2000.0] * 3 + [1500.0] * 3 + [1400.0] * 3
    readings = [Reading(core_clock_mhz=one) for one in values]
    assert marks(times, readings, SPANS) == []
    # Too few readings at its end: all of it counts.
    assert len(marks(times[:4] + times[6:], readings[:4] + readings[6:], SPANS)) == 1


def test_device_time_is_judged_on_its_own() -> None:
    spans = {**SPANS, "device_time": [3.0, 4.0]}
    times = [0.7, 0.8, 0.9, 1.3, 1.4, 1.5, 3.1, 3.2, 3.3]
    readings = [Reading(core_clock_mhz=one) for one in [1000.0] * 6 + [500.0] * 3]
    assert marks(times, readings, spans) == [
        "device_time: the core clock fell to 0.50 of the warm-up's: this round is throttled"
    ]


def test_reasons_of_the_driver_are_marked_where_they_count() -> None:
    def judged(*throttle: tuple[str, ...]) -> dict[str, Any]:
        rows = [
            (1.3 + 0.1 * number, Reading(power_w=1.0, throttle=one)) for number, one in enumerate(throttle)
        ]
        return summarise(samples((0.05, Reading(power_w=1.0, throttle=("heat",))), *rows), SPANS, BEGAN)

    found = judged((), ("power",), ("heat", "power"))
    assert found["throttle"] == ["heat", "power"]
    assert found["marks"] == ["latency: the driver says that it lowered the clock: heat, power"]
    few = judged(("power",), ())
    assert few["throttle"] == ["heat", "power"] and "marks" not in few
    assert "marks" not in judged((), (), ())


def test_the_state_before_and_after() -> None:
    before, after = Reading(used_bytes=5, temperature_c=40.0), Reading(used_bytes=9, performance_level="auto")
    alone, two = Company(7, 0, 0), Company(8, 2, 96 * MIB, contended=True)
    assert describe_state(before, after, [two, alone], 0.5) == {
        "before": {"used_bytes": 5, "temperature_c": 40.0},
        "after": {"used_bytes": 9, "performance_level": "auto"},
        "own_bytes": 8,
        "others": {"count": 2, "mib": 96},
        "load_1min": 0.5,
        "contended": True,
    }
    quiet = describe_state(before, after, [alone, alone], 0.0)
    assert (
        quiet["others"] == {"count": 0, "mib": 0}
        and quiet["contended"] is False
        and quiet["load_1min"] == 0.0
    )


def test_a_container_that_sees_no_processes() -> None:
    blind = Company(reason="a container does not see the processes of its host")
    found = describe_state(None, None, [blind, None], 0.5)
    assert found == {"load_1min": 0.5, "missing": {"others": blind.reason}}
    assert contention(found) is None


def test_a_share_that_is_not_told() -> None:
    several = Company(others=2, at_least=True, contended=True, reason="which is this one cannot be told")
    found = describe_state(None, None, [several], 0.5)
    assert found["others"] == {"count": 2, "at_least": True}
    assert found["missing"] == {"own_bytes": several.reason}
    assert contention(found) == (
        "at least 2 other processes use this card: its times and memory are not this benchmark's alone"
    )


def test_the_note_on_somebody_else() -> None:
    one = describe_state(None, None, [Company(7, 1, 3 * MIB, contended=True)], 0.5)
    note = contention(one)
    assert note is not None and note.startswith("1 other process uses this card, holding 3 MiB")
    assert contention(describe_state(None, None, [Company(7, 0, 0)], 0.5)) is None
