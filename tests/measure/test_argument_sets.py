"""Several argument sets, used in turn: resets in step, each output judged with the set that made it."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.measure.spec import Samples

from .fakes import MS, FakeDevice
from .virtual_runs import ALL, run, spec_of


def test_a_reset_with_arguments_keeps_step_with_the_argument_sets(tmp_path: Any) -> None:
    device = FakeDevice()
    log: list[tuple[str, str]] = []

    def function(name: str) -> float:
        log.append(("call", name))
        device.kernel(80 * MS)
        return 1.0

    spec = spec_of(
        function,
        setup=lambda: Samples(["a", "b", "c"]),
        reset=lambda name: log.append(("reset", name)),
        reference=lambda name: log.append(("reference", name)) or 1.0,
        metrics=(*ALL, "max_error", "host_time"),
    )
    record = run(spec, device, tmp_path).record
    assert record.status == "ok"
    calls = [entry for entry in log if entry[0] != "reset"]
    resets = [entry for entry in log if entry[0] == "reset"]
    assert [name for _, name in resets] == [name for _, name in calls]
    assert [name for role, name in log if role == "reference"] == ["a", "b", "c"]


@pytest.mark.parametrize("milliseconds", [1, 80])
def test_each_output_is_judged_with_the_argument_set_that_made_it(tmp_path: Any, milliseconds: int) -> None:
    """With and without events in the latency samples."""
    device = FakeDevice()

    def function(value: float) -> float:
        device.kernel(milliseconds * MS)
        return value * 2

    spec = spec_of(
        function,
        setup=lambda: Samples([1.0, 2.0, 3.0]),
        reference=lambda value: value + value,
        metrics=(*ALL, "max_error"),
    )
    record = run(spec, device, tmp_path).record
    assert record.status == "ok"
    assert record.correctness["max_error"] == 0.0


@pytest.mark.parametrize(("milliseconds", "judged"), [(1, 8), (20_000, 4)])
def test_every_argument_set_is_judged_unless_calls_are_long(
    tmp_path: Any, milliseconds: int, judged: int
) -> None:
    device = FakeDevice()
    asked: list[float] = []

    def reference(value: float) -> float:
        asked.append(value)
        return value

    def function(value: float) -> float:
        device.kernel(milliseconds * MS)
        return value

    sets = [float(number) for number in range(1, 9)]
    spec = spec_of(
        function, setup=lambda: Samples(sets), reference=reference, metrics=("latency", "max_error"), repeat=3
    )
    record = run(spec, device, tmp_path, repeat=3).record
    assert record.status == "ok"
    assert len(asked) <= judged
    assert (asked == sets) == (milliseconds == 1)
    assert any("argument sets were judged" in note for note in record.notes) == (milliseconds > 1)


def test_an_output_wrong_for_one_argument_set_alone_is_found(tmp_path: Any) -> None:
    """Four sets and batches of a power of two: the last call of a sample is always the fourth set's."""
    device = FakeDevice()

    def function(value: float) -> float:
        device.kernel(MS // 10)
        return -1.0 if value == 2.0 else value

    spec = spec_of(
        function,
        setup=lambda: Samples([1.0, 2.0, 3.0, 4.0]),
        reference=lambda value: value,
        metrics=("latency", "max_error"),
    )
    record = run(spec, device, tmp_path).record
    assert record.status.startswith("wrong result")
    assert record.correctness["max_error"] == pytest.approx(1.5)


@pytest.mark.parametrize("bad_first", [True, False])
def test_the_worst_argument_set_is_the_record(tmp_path: Any, bad_first: bool) -> None:
    device = FakeDevice()

    def function(value: float) -> float:
        device.kernel(MS)
        return float("nan") if (value == 1.0) == bad_first else value

    spec = spec_of(
        function,
        setup=lambda: Samples([1.0, 2.0]),
        reference=lambda value: value,
        metrics=("latency", "max_error"),
    )
    record = run(spec, device, tmp_path).record
    assert record.status.startswith("wrong result")
    assert record.correctness["non_finite"] == 1
    assert record.correctness["max_error"] is None
    assert "NaN" in record.missing["max_error"]
