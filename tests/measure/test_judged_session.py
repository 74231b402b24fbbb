"""Real measurements on the CPU whose results are judged: right ones, wrong ones, modified inputs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.measure import correctness
from dcu_asv_ext.measure.session import Measured
from dcu_asv_ext.measure.spec import Samples

from .conftest import METRICS


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


def test_a_reset_comes_before_the_outputs_of_a_mutating_function(take: Callable[..., Measured]) -> None:
    """Right code whose buffer has to be filled anew before each call."""
    buffer = torch.zeros(4)

    def doubled(x: torch.Tensor) -> torch.Tensor:
        return buffer.mul_(x)

    record = take(
        doubled,
        setup=lambda: (torch.arange(4.0),),
        reset=lambda: buffer.fill_(2.0),
        mutates=True,
        reference=lambda x: x * 2.0,
        check=lambda output: bool((output == torch.arange(4.0) * 2.0).all()),
    ).record
    assert record.status == "ok"


def test_a_reference_beside_a_check_judges_timed_outputs_too(take: Callable[..., Measured]) -> None:
    calls = [0]

    def sometimes_wrong(x: torch.Tensor) -> torch.Tensor:
        calls[0] += 1
        return x + (1.0 if calls[0] in (3, 4, 5) else 0.0)  # warm-up, memory and latency, not the fresh one

    done = take(
        sometimes_wrong,
        setup=lambda: (torch.ones(4),),
        reference=lambda x: x,
        check=lambda output: True,
    )
    assert done.record.status.startswith("wrong result")
    assert done.record.correctness["timed_outputs"] == [0]


@pytest.mark.parametrize("how", ["check", "mutating reference"])
def test_every_argument_set_is_judged(take: Callable[..., Measured], how: str) -> None:
    sets = Samples([(torch.full((2,), 1.0),), (torch.full((2,), 2.0),)])

    def wrong_on_the_second(x: torch.Tensor) -> torch.Tensor:
        return x * 3.0 if float(x[0]) == 2.0 else x

    judged: dict[str, Any] = (
        {"check": lambda output: float(output[0]) in (1.0, 2.0)}
        if how == "check"
        else {"reference": lambda x: x, "mutates": True}
    )
    done = take(wrong_on_the_second, setup=lambda: sets, **judged)
    assert done.record.status.startswith("wrong result")


def test_fresh_sets_are_torn_down_as_well(take: Callable[..., Measured]) -> None:
    open_now = [0]

    def setup() -> tuple[torch.Tensor]:
        open_now[0] += 1
        return (torch.ones(2),)

    def teardown(x: torch.Tensor) -> None:
        open_now[0] -= 1

    take(lambda x: x.add_(1), setup=setup, teardown=teardown, mutates=True, reference=lambda x: x + 1)
    assert open_now[0] == 0


def test_an_output_without_elements_has_no_error(take: Callable[..., Measured]) -> None:
    record = take(lambda: torch.ones(4)[:0], reference=lambda: torch.ones(4)[:0]).record
    assert "no elements" in record.missing["max_error"]
    assert outcome(json.loads(record.to_line()), "max_error").state == "missing"


def test_what_cannot_be_measured_stays_na_when_the_result_is_wrong(take: Callable[..., Measured]) -> None:
    record = take(lambda: torch.ones(2), reference=lambda: torch.zeros(2)).record
    line = json.loads(record.to_line())
    assert record.status.startswith("wrong result")
    assert outcome(line, "peak_reserved").state == "missing"
    assert outcome(line, "latency").state == "failed"


def test_cold_start_is_asked_after_the_whole_process_used_the_users_caches(
    take: Callable[..., Measured], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dcu_asv_ext.measure import session

    cache = tmp_path / "users"
    cache.mkdir()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))
    monkeypatch.setattr(session, "_whole_process", lambda *about: (cache / "kernel").write_text("compiled"))
    record = take(lambda: None, cache="shared", metrics=("latency", "cold_start", "process_wall")).record
    assert record.switches["cache"]["was_empty"] is False
    assert "not empty" in record.missing["cold_start"]


def test_a_reference_may_cover_some_parameters_only(take: Callable[..., Measured]) -> None:
    def reference() -> torch.Tensor:
        raise NotImplementedError("only for n up to 64")

    record = take(lambda: torch.ones(2), reference=reference).record
    reason = "the reference has no result for these parameters: only for n up to 64"
    assert record.status == "ok"
    assert record.correctness == {"unchecked": reason}
    assert outcome(record.to_dict(), "max_error").reason == reason
    assert outcome(record.to_dict(), "latency").state == "ok"


def test_what_a_partial_reference_did_judge_counts(take: Callable[..., Measured]) -> None:
    """A wrong first argument set is wrong though the reference gives up at the second."""

    def reference(number: int) -> torch.Tensor:
        if number == 2:
            raise NotImplementedError
        return torch.tensor([0.0])

    sets = Samples([1, 2])
    record = take(
        lambda number: torch.tensor([float(number)]), setup=lambda: sets, reference=reference
    ).record
    assert record.status.startswith("wrong result: 1 of 1 elements differ")


def test_the_rounding_of_the_output_is_recorded(take: Callable[..., Measured]) -> None:
    for dtype in (torch.float16, torch.float32):
        record = take(lambda dtype=dtype: torch.ones(2, dtype=dtype), reference=lambda: torch.ones(2)).record
        assert record.correctness["epsilon"] == pytest.approx(torch.finfo(dtype).eps, rel=1e-5)
