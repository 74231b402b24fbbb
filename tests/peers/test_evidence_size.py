"""The records that the size is measured with are evidence, with every group that a measurement can have."""

from __future__ import annotations

import dataclasses

from dcu_asv_ext.comparing.reading import is_sound
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import parse_line
from dcu_asv_ext.measure.sampled import MOST_KEPT
from peers.evidence_size import SAMPLES, measurement, room


def test_a_record_is_sound_and_whole() -> None:
    line = measurement(7, ("latency", "device_time")).to_line()
    record = parse_line(line)
    assert record is not None and is_sound(record)
    assert [len(record["times"][name]) for name in ("latency", "device_time")] == [SAMPLES, SAMPLES]
    assert len(record["sampled"]["times"]) == MOST_KEPT and len(record["memory"]["alive"]["holders"]) == 8
    # What only some measurements have is not among them.
    some = {"dirty", "head", "missing", "error", "thinned", "profile"}
    assert {one.name for one in dataclasses.fields(Measurement)} - set(record) <= some


def test_the_room_of_the_parts_is_that_of_the_whole() -> None:
    sizes = room()
    assert sum(sizes.values()) + 2 == len(measurement(0, ("latency", "device_time")).to_line())
    assert next(iter(sizes)) == "times"
