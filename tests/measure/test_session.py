"""Real measurements on the CPU, from request to record: a good one, and every kind of fault."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.evidence.record import REQUIRED
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.measure.session import Measured
from dcu_asv_ext.measure.spec import Samples

from .conftest import METRICS


def test_a_small_matrix_product_in_full(take: Callable[..., Measured]) -> None:
    done = take(
        lambda a, b: a @ b,
        quick=False,
        repeat=0,
        setup=lambda device: (torch.rand(64, 64, device=device), torch.rand(64, 64, device=device)),
        reference=lambda a, b: (a.double() @ b.double()).float(),
        work={"flop": lambda: 2 * 64**3},
    )
    record = done.record
    assert done.error is None and record.status == "ok"
    line = json.loads(record.to_line())
    assert set(REQUIRED) <= set(line)
    latency = outcome(line, "latency")
    assert latency.state == "ok" and len(latency.samples) >= 5 and latency.number == record.batch["latency"]
    assert 0 < min(latency.samples) < 0.1
    assert record.batch["latency"] & (record.batch["latency"] - 1) == 0
    assert outcome(line, "cold_start").samples == (pytest.approx(line["times"]["cold"][0]),)
    assert "no device events" in outcome(line, "device_time").reason
    assert outcome(line, "device_time").state == outcome(line, "peak_reserved").state == "missing"
    assert outcome(line, "max_error").samples[0] < 1e-5
    allocated = line["memory"]
    assert allocated["peak_allocated"] >= allocated["baseline_allocated"] + 64 * 64 * 4
    assert line["correctness"]["correct"] is True
    assert line["correctness"]["timed_outputs"][0] == 0
    assert line["input"] == {"tensors": ["float32[64, 64]"] * 2, "bytes": 2 * 64 * 64 * 4, "sets": 1}
    assert line["boundary"]["inputs_on"] == line["boundary"]["outputs_on"] == ["cpu"]
    assert line["work"] == {"flop": 2.0 * 64**3}
    assert line["warm_up"]["count"] >= 2 and "stable" in line["warm_up"]
    assert line["switches"]["cache"]["was_empty"] is True
    assert line["device"]["kind"] == "cpu"
    assert line["host"]["cores"] >= 1 and "container" in line["host"]


def test_generators_are_seeded_from_function_and_parameters(take: Callable[..., Measured]) -> None:
    seen: list[list[float]] = []

    def setup() -> torch.Tensor:
        import random

        seen.append([*torch.rand(3).tolist(), random.random(), float(numpy.random.rand())])
        return torch.ones(1)

    first = take(lambda x: x, setup=setup)
    torch.rand(7)
    second = take(lambda x: x, setup=setup)
    assert seen[0] == seen[1]
    assert first.record.seed == second.record.seed is not None


def failing(error: BaseException) -> Callable[..., Any]:
    def raises(*_: Any, **__: Any) -> Any:
        raise error

    return raises


def assert_failed(done: Measured, *words: str) -> None:
    for word in words:
        assert word in done.record.status
    assert "\n" not in done.record.status
    line = json.loads(done.record.to_line())
    assert set(REQUIRED) <= set(line)
    for metric in done.record.metrics:
        found = outcome(line, metric)
        assert (found.state, found.reason) == ("failed", done.record.status)


def test_setup_that_raises(take: Callable[..., Measured]) -> None:
    done = take(lambda: None, setup=failing(ValueError("no data\nsecond line")))
    assert_failed(done, "failed in setup: ValueError: no data")
    assert done.record.error is not None
    assert "in raises" in done.record.error["traceback"] and "second line" in done.record.error["traceback"]


def test_a_kept_traceback_names_no_folder_of_the_machine(take: Callable[..., Measured]) -> None:
    def chained() -> None:
        try:
            failing(ValueError("first"))()
        except ValueError as fault:
            raise RuntimeError("second") from fault

    done = take(chained)
    assert done.record.error is not None
    files = re.findall(r'File "([^"]+)"', done.record.error["traceback"])
    assert "test_session.py" in {os.path.basename(one) for one in files} and len(set(files)) > 1
    assert not [one for one in files if os.path.isabs(one)]
    # The exception itself has whole paths, and is what asv shows.
    assert __file__ in "".join(traceback.format_exception(done.error))


@pytest.mark.parametrize(
    ("text", "status"), [("needs two cards", "skipped: needs two cards"), ("", "skipped by setup")]
)
def test_setup_that_skips(take: Callable[..., Measured], text: str, status: str) -> None:
    done = take(lambda: None, setup=failing(NotImplementedError(text)))
    assert done.record.status == status
    line = json.loads(done.record.to_line())
    assert {outcome(line, metric).state for metric in METRICS} == {"missing"}


def test_not_implemented_in_the_function_is_a_failure(take: Callable[..., Measured]) -> None:
    assert_failed(
        take(failing(NotImplementedError("no kernel"))), "failed in the first call: NotImplementedError"
    )


def test_a_function_that_raises(take: Callable[..., Measured]) -> None:
    assert_failed(
        take(failing(RuntimeError("bad shape"))), "failed in the first call: RuntimeError: bad shape"
    )


def test_a_function_that_raises_later(take: Callable[..., Measured]) -> None:
    calls = [0]

    def function() -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise RuntimeError("fourth call")

    assert_failed(take(function), "failed in the latency pass: RuntimeError: fourth call")


def test_an_exit_is_a_failure_too(take: Callable[..., Measured]) -> None:
    assert_failed(take(failing(SystemExit(3))), "failed in the first call: SystemExit: 3")


def test_an_interrupt_passes_through_after_teardown(take: Callable[..., Measured]) -> None:
    torn = []
    with pytest.raises(KeyboardInterrupt):
        take(failing(KeyboardInterrupt()), setup=lambda: (), teardown=lambda: torn.append(1))
    assert torn == [1]


def test_reset_that_raises(take: Callable[..., Measured]) -> None:
    assert_failed(take(lambda: None, reset=failing(KeyError("state"))), "failed in the first call: KeyError")


def test_reference_that_raises(take: Callable[..., Measured]) -> None:
    done = take(lambda: torch.ones(1), reference=failing(OSError("no file")))
    assert_failed(done, "failed in the correctness pass: OSError: no file")


def test_check_that_raises(take: Callable[..., Measured]) -> None:
    done = take(lambda: torch.ones(1), check=failing(ZeroDivisionError("in check")))
    assert_failed(done, "failed in the check: ZeroDivisionError: in check")


def test_work_that_raises(take: Callable[..., Measured]) -> None:
    """Rates are an extra: the call is measured all the same."""
    record = take(lambda: None, work={"flop": failing(NotImplementedError("no count"))}).record
    assert record.status == "ok" and record.work == {}
    assert "work could not be told: NotImplementedError: no count" in record.notes


def test_running_out_of_memory(take: Callable[..., Measured]) -> None:
    done = take(failing(MemoryError("no room")))
    assert_failed(done, "out of memory in the first call: no room")
    assert done.record.error is not None and "allocator" in done.record.error


def test_running_out_of_memory_for_real(take: Callable[..., Measured]) -> None:
    done = take(lambda: torch.empty(1 << 60, dtype=torch.uint8))
    assert_failed(done, "out of memory in the first call")


def test_teardown_runs_after_every_fault_and_does_not_hide_it(take: Callable[..., Measured]) -> None:
    torn: list[Any] = []

    def teardown(value: int) -> None:
        torn.append(value)
        raise RuntimeError("teardown too")

    done = take(failing(ValueError("first fault")), setup=lambda: Samples([1, 2]), teardown=teardown)
    assert torn == [1, 2]
    assert_failed(done, "ValueError: first fault")
    assert sum("teardown raised too: RuntimeError" in note for note in done.record.notes) == 2


def test_a_wrong_result_is_not_hidden_by_teardown(take: Callable[..., Measured]) -> None:
    done = take(
        lambda x: x + 1,
        setup=lambda: torch.ones(2),
        reference=lambda x: x,
        teardown=failing(RuntimeError("teardown too")),
    )
    assert done.record.status.startswith("wrong result")
    assert any("teardown raised too" in note for note in done.record.notes)


@pytest.mark.parametrize("error", [RuntimeError("late"), SystemExit("late")])
def test_teardown_that_raises_alone(take: Callable[..., Measured], error: BaseException) -> None:
    assert_failed(take(lambda: None, teardown=failing(error)), "failed in teardown", "late")


def test_empty_samples(take: Callable[..., Measured]) -> None:
    assert_failed(take(lambda: None, setup=lambda: Samples([])), "give at least one set")


def test_a_function_that_returns_nothing_with_a_reference(take: Callable[..., Measured]) -> None:
    done = take(lambda: None, reference=lambda: torch.ones(1))
    assert_failed(done, "the function returned nothing, so there is nothing to compare with the reference")


def test_a_shape_that_differs(take: Callable[..., Measured]) -> None:
    done = take(lambda: torch.ones(2), reference=lambda: torch.ones(3))
    assert_failed(done, "output has shape (2,), its reference (3,)")


def test_an_output_that_cannot_be_compared(take: Callable[..., Measured]) -> None:
    assert_failed(take(lambda: "text", reference=lambda: "text"), "output is a str")


def test_caches_that_are_not_empty_leave_no_cold_start(take: Callable[..., Measured], tmp_path: Path) -> None:
    left = tmp_path / "cache" / "triton"
    left.mkdir(parents=True)
    (left / "kernel.bin").write_text("compiled")
    record = take(lambda: None).record
    assert record.status == "ok" and record.switches["cache"]["was_empty"] is False
    assert "not a cold one" in outcome(json.loads(record.to_line()), "cold_start").reason


def test_a_benchmark_that_writes_to_its_cache_is_noticed(take: Callable[..., Measured]) -> None:

    def function() -> None:
        place = Path(os.environ["TRITON_CACHE_DIR"])
        place.mkdir(parents=True, exist_ok=True)
        (place / "kernel.bin").write_text("compiled")

    cache = take(function).record.switches["cache"]
    assert (cache["was_empty"], cache["wrote"]) == (True, True)


def test_the_whole_process_cannot_be_measured_for_a_module_that_is_not_there(
    take: Callable[..., Measured],
) -> None:
    done = take(lambda: None, metrics=("latency", "process_wall"))
    assert done.record.status == "ok"
    assert done.record.missing["process_wall"]


def test_every_time_of_a_pass_is_per_call(take: Callable[..., Measured]) -> None:
    record = take(lambda: None, quick=False, repeat=5).record
    assert record.batch["latency"] >= 1024
    assert all(0 < value < 1e-4 for value in record.times["latency"] if value is not None)
