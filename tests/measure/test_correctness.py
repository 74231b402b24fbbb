"""Which outputs are kept, how much of them, and what a check may return."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.measure import correctness
from dcu_asv_ext.measure.correctness import Keeper, judge, judge_check, keep, subset_of
from dcu_asv_ext.measure.errors import StructureError
from dcu_asv_ext.measure.spec import Spec


def spec(**options: Any) -> Spec:
    return Spec(family="suite.bench", name="bench", module="suite", function=lambda: None, **options)


def feed(keeper: Keeper, count: int) -> None:
    for number in range(count):
        if keeper.wants(number):
            keeper.take(number, torch.full((2,), float(number)))


@pytest.mark.parametrize(("count", "numbers"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2])])
def test_first_and_last_are_kept(count: int, numbers: list[int]) -> None:
    keeper = Keeper(0, last_number=count - 1)
    feed(keeper, count)
    found = [one.number for one in keeper.finish()]
    assert (found[0], found[-1]) == (numbers[0], numbers[-1])
    assert found == sorted(set(found))


def test_those_in_between_are_random_and_reproducible() -> None:
    def between(seed: int) -> list[int]:
        keeper = Keeper(seed)
        feed(keeper, 200)
        first, *others = keeper.finish()
        assert first.number == 0
        assert 1 <= len(others) <= 2
        for one in others:
            assert float(one.leaves["output"][0]) == one.number
        return [one.number for one in others]

    found = [between(seed) for seed in range(60)]
    assert found == [between(seed) for seed in range(60)]
    latest = [numbers[-1] for numbers in found]
    assert len(set(latest)) > 30
    assert 60 < sum(latest) / len(latest) < 140


def test_kept_outputs_are_copies() -> None:
    """The benchmark may write the next result into the same buffer."""
    buffer = torch.ones(3)
    array = numpy.ones(3)
    kept = keep(0, [buffer, array])
    buffer += 1
    array += 1
    assert [one.tolist() for one in kept.leaves.values()] == [[1.0] * 3, [1.0] * 3]


def test_of_large_outputs_a_fixed_subset_is_kept_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correctness, "KEEP_BYTES", 1000)
    monkeypatch.setattr(correctness, "SUBSET", 64)
    output = torch.arange(10_000.0).reshape(100, 100)
    kept = keep(4, output)
    assert kept.subset is not None
    assert kept.leaves["output"].numel() == 64
    right = judge(spec(), [kept], output, output.clone())
    assert right.wrong == "" and right.record["subset"] is True
    assert right.record["timed_outputs"] == [4]
    # Only the timed output is wrong, not the one that is compared whole.
    bad = keep(5, output + 1)
    found = judge(spec(), [kept, bad], output, output.clone())
    assert "64 of 64" in found.wrong
    assert not found.record["correct"]


def test_the_subset_of_a_size_is_always_the_same() -> None:
    count = correctness.SUBSET * 3
    assert torch.equal(subset_of(count), subset_of(count))
    assert subset_of(count).numel() == correctness.SUBSET
    assert subset_of(count).max() < count
    assert torch.equal(subset_of(5), torch.arange(5))


def test_a_wrong_timed_output_counts_though_the_fresh_one_is_right() -> None:
    reference = torch.tensor([1.0, 4.0])
    found = judge(spec(), [keep(7, torch.tensor([1.0, 3.0]))], reference.clone(), reference)
    assert found.record["max_error"] == 0.25
    assert found.record["mean_error"] == 0.125
    assert "1 of 2 elements differ" in found.wrong


def test_a_zero_reference_has_a_reason() -> None:
    found = judge(spec(), [], torch.full((2,), 1e-7), torch.zeros(2))
    assert found.wrong == ""
    assert "zero everywhere" in found.missing["max_error"] == found.missing["mean_error"]


GOOD: list[Any] = [
    True,
    numpy.bool_(True),
    torch.tensor(True),
    0.5,
    torch.tensor(0.5),
    (0.5, 0.6),
    (torch.tensor(1), 1),
]


@pytest.mark.parametrize(
    "verdict", [*GOOD, numpy.float32(0.5), 3, (numpy.float64(0.1), torch.tensor(0.2))], ids=repr
)
def test_check_forms_that_pass(verdict: Any) -> None:
    found = judge_check(spec(), [verdict])
    assert found.record["correct"] and found.wrong == ""
    if isinstance(verdict, tuple):
        assert found.record["task_metric"] == float(verdict[0])


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (False, "returned False"),
        (numpy.bool_(False), "returned False"),
        (torch.tensor(False), "returned False"),
        ((0.7, 0.6), r"0\.7 exceeds 0\.6"),
        (math.nan, "no finite number"),
        ((math.nan, 1.0), "no finite number"),
        (math.inf, "no finite number"),
        (torch.tensor(math.inf), "no finite number"),
    ],
    ids=repr,
)
def test_check_forms_that_fail(verdict: Any, words: str) -> None:
    found = judge_check(spec(), [verdict])
    assert not found.record["correct"]
    import re

    assert re.search(words, found.wrong), found.wrong


def test_atol_is_the_tolerance_of_a_bare_number() -> None:
    assert judge_check(spec(atol=0.4), [0.5]).wrong
    assert not judge_check(spec(atol=0.6), [0.5]).wrong
    assert not judge_check(spec(), [0.5]).wrong


@pytest.mark.parametrize(
    "nonsense",
    [None, "fine", [0.1, 0.2], {"loss": 1}, 1j, torch.ones(2), (0.1, "x"), (0.1, None), numpy.ones(3)],
    ids=repr,
)
def test_nonsense_from_a_check_is_said_in_one_sentence(nonsense: Any) -> None:
    with pytest.raises(StructureError, match=r"check returned .*; return True or False, a number") as caught:
        judge_check(spec(), [nonsense])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([1.0, 3.0, 2.0], 3.0),
        ([0.0, -1.0], 0.0),
        ([-2.0, -1.0, -3.0], -1.0),
        ([-1.0, 0.0], 0.0),
    ],
)
def test_the_worst_task_metric_is_recorded(verdicts: list[Any], worst: float) -> None:
    assert judge_check(spec(), verdicts).record["task_metric"] == worst


@pytest.mark.parametrize("verdicts", [[math.nan, 0.1], [0.1, math.nan], [0.1, math.nan, 0.2]])
def test_a_nan_among_task_metrics_is_not_forgotten(verdicts: list[float]) -> None:
    found = judge_check(spec(), verdicts)
    assert math.isnan(found.record["task_metric"])
    assert not found.record["correct"]
    assert "no finite number" in found.missing["task_metric"]


def test_a_check_without_a_number_says_so() -> None:
    assert judge_check(spec(), [True]).missing["task_metric"] == "the check returned no number"
