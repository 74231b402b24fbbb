"""Real measurements on the CPU, from request to record, good ones and every kind of bad one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.devices import select
from dcu_asv_ext.evidence.record import REQUIRED
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.measure import correctness
from dcu_asv_ext.measure.passes import Options
from dcu_asv_ext.measure.session import Measured, Request, measure
from dcu_asv_ext.measure.spec import Samples, Spec

METRICS = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved")
JUDGED = (*METRICS, "max_error", "mean_error")


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., Measured]:
    """take(function, **spec options) measures it quickly on the CPU."""

    def measured(
        function: Callable[..., Any], quick: bool = True, repeat: Any = 1, **options: Any
    ) -> Measured:
        options.setdefault("metrics", JUDGED if "reference" in options else METRICS)
        spec = Spec(family="suite.bench", name="bench", module="suite", function=function, **options)
        request = Request(
            spec, {}, {}, options=Options(repeat=repeat, quick=quick), cache_root=tmp_path / "cache"
        )
        return measure(request, select("cpu"))

    return measured


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
    done = take(lambda: None, work={"flop": failing(NotImplementedError("no count"))})
    assert_failed(done, "failed in work: NotImplementedError")


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


@dataclass
class Output:
    logits: torch.Tensor
    hidden: Any


@pytest.mark.parametrize(
    "output",
    [
        torch.ones(3, dtype=torch.float16),
        torch.ones(3, dtype=torch.bfloat16),
        torch.arange(3),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]),
        [torch.ones(1), {"a": (torch.zeros(2), 3.5)}],
        Output(torch.ones(2), [torch.ones(1), None]),
        numpy.arange(4.0),
        numpy.float32(2.0),
        7,
    ],
    ids=lambda value: type(value).__name__,
)
def test_outputs_of_many_kinds(take: Callable[..., Measured], output: Any) -> None:
    record = take(lambda: output, reference=lambda: output).record
    assert record.status == "ok"
    assert record.correctness["max_error"] == 0.0


def assert_wrong(done: Measured, words: str) -> dict[str, Any]:
    """Times are not offered; memory is; returns the evidence."""
    assert done.record.status.startswith("wrong result: ")
    assert words in done.record.status
    line: dict[str, Any] = json.loads(done.record.to_line())
    assert line["correctness"]["correct"] is False
    for metric in ("latency", "cold_start"):
        assert outcome(line, metric).state == "failed"
        assert outcome(line, metric).reason == done.record.status
    assert outcome(line, "peak_allocated").state == "ok"
    assert line["times"]["latency"], "the raw times stay in the evidence"
    return line


def test_a_wrong_result_offers_its_error_and_memory_but_no_times(take: Callable[..., Measured]) -> None:
    done = take(lambda: torch.tensor([4.0, 3.0]), reference=lambda: torch.tensor([4.0, 2.0]))
    line = assert_wrong(done, "1 of 2 elements differ")
    assert outcome(line, "max_error").samples == (0.25,)
    assert outcome(line, "mean_error").samples == (0.125,)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("side", ["output", "reference"])
def test_not_finite_on_one_side(take: Callable[..., Measured], bad: float, side: str) -> None:
    out, ref = (bad, 1.0) if side == "output" else (1.0, bad)
    done = take(lambda: torch.tensor([out]), reference=lambda: torch.tensor([ref]))
    line = assert_wrong(done, "NaN or infinite in output or reference only")
    assert line["correctness"]["max_error"] is None
    found = outcome(line, "max_error")
    assert found.state == "failed" and "NaN" in found.reason


def test_an_all_zero_reference(take: Callable[..., Measured]) -> None:
    record = take(lambda: torch.zeros(2), reference=lambda: torch.zeros(2)).record
    assert record.status == "ok" and record.correctness["max_error"] == 0.0
    near = take(lambda: torch.full((2,), 1e-7), reference=lambda: torch.zeros(2)).record
    assert near.status == "ok"
    found = outcome(json.loads(near.to_line()), "max_error")
    assert found.state == "missing" and "zero everywhere" in found.reason
    assert_wrong(take(lambda: torch.ones(2), reference=lambda: torch.zeros(2)), "2 of 2 elements")


def test_modified_inputs_are_wrong(take: Callable[..., Measured]) -> None:
    done = take(lambda x: x.neg_(), setup=lambda: torch.ones(4, dtype=torch.float64), reference=lambda x: x)
    line = assert_wrong(done, "declare mutates=True")
    assert line["correctness"]["inputs_modified"] is True


def test_modified_inputs_are_wrong_without_reference_too(take: Callable[..., Measured]) -> None:
    assert_wrong(take(lambda x: x.add_(1), setup=lambda: torch.ones(4)), "modified its inputs")


def test_inputs_may_change_where_that_is_declared(take: Callable[..., Measured]) -> None:
    """The reference judges a call on fresh inputs."""
    done = take(lambda x: x.add_(1), setup=lambda: torch.ones(4), mutates=True, reference=lambda x: x + 1)
    assert done.record.status == "ok"
    wrong = take(lambda x: x.add_(2), setup=lambda: torch.ones(4), mutates=True, reference=lambda x: x + 1)
    assert wrong.record.status.startswith("wrong result")


def test_a_check_of_a_mutating_benchmark_sees_timed_outputs_and_a_fresh_one(
    take: Callable[..., Measured],
) -> None:
    seen: list[float] = []

    def check(output: torch.Tensor) -> float:
        seen.append(float(output))
        return 0.5

    metrics = (*METRICS, "task_metric")
    done = take(
        lambda x: x.add_(1), setup=lambda: torch.zeros(()), mutates=True, check=check, metrics=metrics
    )
    assert done.record.status == "ok"
    assert seen[-1] == 1.0 and seen[0] > 1.0
    assert outcome(json.loads(done.record.to_line()), "task_metric").samples == (0.5,)


def test_a_reset_undoes_what_the_function_does(take: Callable[..., Measured]) -> None:
    done = take(
        lambda x: x.add_(1),
        setup=lambda: torch.zeros(2),
        reset=lambda x: x.zero_(),
        reference=lambda x: torch.ones(2),
    )
    assert done.record.status == "ok"


@pytest.mark.parametrize(
    ("verdict", "state", "value"),
    [
        (True, "ok", None),
        (0.25, "ok", 0.25),
        ((0.25, 0.5), "ok", 0.25),
        (torch.tensor(0.25), "ok", 0.25),
        (False, "wrong", None),
        ((0.75, 0.5), "wrong", 0.75),
        (math.nan, "wrong", None),
        ("nonsense", "failed", None),
        (None, "failed", None),
    ],
    ids=repr,
)
def test_check_forms(take: Callable[..., Measured], verdict: Any, state: str, value: float | None) -> None:
    done = take(lambda: torch.ones(1), check=lambda output: verdict, metrics=(*METRICS, "task_metric"))
    assert done.record.status.split()[0].rstrip(":") == state
    found = outcome(json.loads(done.record.to_line()), "task_metric")
    if value is not None:
        assert found.samples == (value,)
    else:
        assert found.state in ("missing", "failed") and found.reason


def test_argument_sets_are_used_in_turn_and_judged_with_their_own_reference(
    take: Callable[..., Measured],
) -> None:
    used: list[float] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        used.append(float(x))
        return x * 3

    sets = Samples([torch.tensor(1.0), torch.tensor(2.0), torch.tensor(5.0)])
    done = take(
        function,
        quick=False,
        repeat=7,
        setup=lambda: sets,
        reference=lambda x: x + x + x,
        reset=lambda x: None,
    )
    assert done.record.status == "ok"
    assert done.record.input["sets"] == 3
    latency = used[-7 - 3 : -3]
    assert latency == ([1.0, 2.0, 5.0] * 3)[:7]


def test_large_outputs_are_judged_by_a_subset(
    take: Callable[..., Measured], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correctness, "KEEP_BYTES", 100)
    monkeypatch.setattr(correctness, "SUBSET", 50)
    good = take(lambda: torch.ones(1000), reference=lambda: torch.ones(1000)).record
    assert good.status == "ok" and good.correctness["subset"] is True
    calls = [0]

    def only_timed_calls_are_wrong() -> torch.Tensor:
        calls[0] += 1
        return torch.full((1000,), 2.0 if calls[0] == 4 else 1.0)

    done = take(only_timed_calls_are_wrong, reference=lambda: torch.ones(1000), reset=lambda: None)
    assert_wrong(done, "50 of 50 elements differ")


def test_caches_that_are_not_empty_leave_no_cold_start(take: Callable[..., Measured], tmp_path: Path) -> None:
    left = tmp_path / "cache" / "triton"
    left.mkdir(parents=True)
    (left / "kernel.bin").write_text("compiled")
    record = take(lambda: None).record
    assert record.status == "ok" and record.switches["cache"]["was_empty"] is False
    assert "not a cold one" in outcome(json.loads(record.to_line()), "cold_start").reason


def test_a_benchmark_that_writes_to_its_cache_is_noticed(take: Callable[..., Measured]) -> None:
    import os

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
