"""Whatever is given, the answer is a comparison or one clear sentence; one bad pair harms no other."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats import compare, compare_suite

GOOD = [[1.0, 1.1], [1.05, 1.0]]
NOT_COMPARABLE = "not comparable"

Side = list[list[float]]


def flat(*levels: float) -> Side:
    return [[level] * 3 for level in levels]


def unusable(found: Any) -> list[bool]:
    return [one.verdict == NOT_COMPARABLE for one in found]


# ---- histories


NO_HISTORIES: list[Any] = [
    5,
    [None],
    [3.0],
    [[None, None]],
    [[1.0, 2.0]],
    [[["a"], ["b"]]],
    ["ab"],
    {0: GOOD},
    [[[[1.0], [2.0]], [[3.0], [1.0]]]],
]


@pytest.mark.parametrize("history", NO_HISTORIES, ids=repr)
@pytest.mark.parametrize("sides", [(GOOD, GOOD), (flat(0, 1), flat(1, 0))], ids=["logs", "zeros"])
def test_what_is_no_history_is_one_sentence(history: Any, sides: tuple[Side, Side]) -> None:
    with pytest.raises(
        ValueError, match=r"^history: it must be a sequence of runs, each a sequence of rounds"
    ):
        compare(*sides, history=history)


@pytest.mark.parametrize("history", NO_HISTORIES, ids=repr)
@pytest.mark.parametrize("sides", [(GOOD, GOOD), (flat(0, 1), flat(1, 0))], ids=["logs", "zeros"])
def test_what_is_no_history_of_one_pair_harms_no_other(history: Any, sides: tuple[Side, Side]) -> None:
    found = compare_suite([sides, (GOOD, GOOD)], history=[history, None])
    assert unusable(found) == [True, False]
    assert found[0].reason.startswith("history: it must be")
    assert found.comparable


def test_a_missing_sample_of_an_earlier_run_is_skipped() -> None:
    run = [[1.0, 1.1], [1.2, 1.1]]
    hole: Any = [*run, [1.0, None]]
    assert compare(GOOD, GOOD, history=[hole]) == compare(GOOD, GOOD, history=[run])


def test_exact_figures_need_no_history() -> None:
    found = compare_suite([([[5]], [[6]])], exact=True, history=[5])  # type: ignore[list-item]
    assert found[0].verdict == "regression"


# ---- what can be read once only


def test_generators() -> None:
    def made(level: float) -> Any:
        return ([level, level] for _ in range(2))

    assert compare(made(5), made(6), exact=True).verdict == "regression"
    assert compare(made(5), made(6)) == compare([[5, 5]] * 2, [[6, 6]] * 2)
    found = compare_suite([(made(5), [[6]]), (GOOD, GOOD)], exact=[True, False])
    assert found[0].verdict == "regression" and not unusable(found)[1]
    inner = compare([(x for x in one) for one in GOOD], GOOD)  # type: ignore[misc]
    assert inner == compare(GOOD, GOOD)
    past = [GOOD, [[1.0, 1.2], [1.1, 1.1]]]
    pairs = ((one, one) for one in [GOOD, GOOD])
    assert (
        compare_suite(pairs, history=(run for run in [past, past]))[0]
        == compare_suite([(GOOD, GOOD)] * 2, history=[past, past])[0]
    )


# ---- settings and known differences


@pytest.mark.parametrize(
    "settings",
    [
        {"margin": None},
        {"margin": "a"},
        {"margin": [[0.01]]},
        {"equivalence": "5 %"},
        {"direction": [["lower"]]},
    ],
    ids=repr,
)
def test_settings_of_a_suite_that_are_none(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        compare_suite([(GOOD, GOOD)], **settings)


def test_an_array_of_no_dimension_is_one_value() -> None:
    found = compare_suite([(GOOD, GOOD)] * 2, margin=np.array(0.02), direction=np.array("higher"))  # type: ignore[arg-type]
    assert found.rows == compare_suite([(GOOD, GOOD)] * 2, margin=0.02, direction="higher").rows


@pytest.mark.parametrize("given", ["driver", ["driver"], ("driver",)])
def test_known_differences_as_one_text_or_several(given: Any) -> None:
    assert compare_suite([(GOOD, GOOD)], differences=given).reason.endswith("(driver)")


def test_known_differences_refuse_figures_of_every_kind() -> None:
    zeros, counts = (flat(0, 1, 0.5), flat(9, 9.1, 9.2)), ([[5]], [[6]])
    found = compare_suite([(GOOD, GOOD), zeros, counts], exact=[False, False, True], differences=["driver"])
    assert unusable(found) == [True] * 3
    assert [one.verdict for one in found.corrected[1:]] == ["regression", "regression"]


# ---- the ends of the range


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (flat(1e-300, 1e-300), flat(1e300, 1e300)),
        (flat(1e300, 1e300), flat(1e-300, 1e-300)),
        (flat(1e-300, 1e300), flat(1, 1)),
        (flat(0, 1e200), flat(1e200, 0)),
        (flat(0, 8e307), flat(8e307, 8e307)),
        (flat(5e-324, 1e-323), flat(5e-324, 5e-324)),
        (flat(0, 5e-324), flat(5e-324, 1e-323)),
    ],
    ids=["far up", "far down", "rounds far apart", "squares", "sums", "smallest", "smallest and zero"],
)
def test_numbers_at_the_ends_of_the_range_warn_of_nothing(before: Side, after: Side) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = compare(before, after)
        (beside,) = compare_suite([(before, after)])
    assert alone.verdict == beside.verdict != NOT_COMPARABLE
    assert not math.isnan(alone.p_value) and alone.ci_low <= alone.ratio <= alone.ci_high


def test_samples_whose_mean_would_be_infinite() -> None:
    huge = [[1e308, 1.7e308]] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="before: round 1 holds an infinite sample"):
            compare(huge, GOOD)
        assert unusable(compare_suite([(huge, huge), (GOOD, GOOD)])) == [True, False]
        assert compare(GOOD, GOOD, history=[huge]) == compare(GOOD, GOOD)
        zeros = flat(0, 1), flat(1, 0)
        assert compare(*zeros, history=[huge, GOOD]) == compare(*zeros, history=[GOOD])


@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_histories_at_the_ends_of_the_range_lend_their_spread(factor: float) -> None:
    """Where zeros forbid logarithms, and the rounds have no spread of their own."""
    past = [[[factor * x for x in one] for one in run] for run in (flat(0.0, 5.0, 1.0), flat(2.0, 8.0, 0.0))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare(flat(0.0, 0.0), flat(factor, factor), history=past)
    assert found.verdict == "inconclusive"
    expected = np.median([np.std([0.0, 5.0, 1.0], ddof=1), np.std([2.0, 8.0, 0.0], ddof=1)])
    assert found.spread == pytest.approx(factor * expected)


# ---- words


def test_the_words_agree_with_the_figures() -> None:
    same = compare([[1.0], [1.03]], [[1.01], [1.02]])
    assert (same.verdict, same.ci_high > 1.05) == ("no change", True)
    assert same.reason.startswith("the 90 % interval, -") and same.reason.endswith("lies within 5 %")
    one = compare([[1.0]], [[1.0]])
    assert (one.verdict, one.rounds_needed) == ("inconclusive", 1)
    assert one.reason.endswith("1 more round a side would settle it")
