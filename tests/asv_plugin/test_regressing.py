"""Regressions among steps: by asv's rule, also where more is better or the machine changed."""

from __future__ import annotations

import pickle

import pytest
from asv.step_detect import detect_regressions

from dcu_asv_ext.asv_plugin.regressing import Found, Step, find_regressions


def steps(
    *levels: float, higher: bool = False, machine: tuple[int, ...] = (), error: float = 0.1
) -> list[Step]:
    """Ten commits on each level."""
    return [
        Step((10 * i, 10 * i + 10, level, level - 1, error), higher, i in machine)
        for i, level in enumerate(levels)
    ]


def found(given: list[Step], threshold: float = 0.05) -> Found:
    return find_regressions(detect_regressions, given, threshold)


def test_steps_are_what_asv_reads() -> None:
    step = Step((0, 10, 1.5, 1.0, 0.1), higher=True)
    left, right, value, smallest, error = step
    assert (left, right, value, smallest, error) == (0, 10, 1.5, 1.0, 0.1)
    assert pickle.loads(pickle.dumps(step)) == step


def test_asvs_own_steps_are_asvs_alone() -> None:
    plain = [(0, 10, 10.0, 9.0, 0.1), (10, 20, 20.0, 19.0, 0.1)]
    assert find_regressions(detect_regressions, plain, 0.05) == detect_regressions(plain, 0.05)
    assert find_regressions(detect_regressions, [], 0.05) == (None, None, None)


@pytest.mark.parametrize("levels", [(10.0, 12.0), (10.0, 12.0, 10.0), (10.0, 8.0, 9.0, 12.0), (0.0, 3.0)])
def test_where_less_is_better_nothing_changes(levels: tuple[float, ...]) -> None:
    given = steps(*levels)
    assert found(given) == detect_regressions(given, 0.05)


class TestMoreIsBetter:
    def test_a_drop_is_the_regression_with_the_values_measured(self) -> None:
        assert found(steps(100.0, 80.0, higher=True)) == (80.0, 100.0, [(9, 10, 100.0, 80.0)])

    def test_a_rise_is_none(self) -> None:
        assert found(steps(80.0, 100.0, higher=True)) == (None, None, None)

    def test_the_threshold_is_asvs(self) -> None:
        given = steps(100.0, 80.0, higher=True)
        assert found(given, 0.2) != (None, None, None)
        assert found(given, 0.3) == (None, None, None)

    def test_errors_are_turned_too(self) -> None:
        assert found(steps(100.0, 80.0, higher=True, error=15.0)) != (None, None, None)
        assert found(steps(100.0, 80.0, higher=True, error=17.0)) == (None, None, None)

    def test_a_fall_to_zero_is_one_although_zero_has_no_reciprocal(self) -> None:
        assert found(steps(100.0, 0.0, higher=True)) == (0.0, 100.0, [(9, 10, 100.0, 0.0)])
        assert found(steps(0.0, 100.0, higher=True)) == (None, None, None)


class TestMachineChanged:
    def test_its_step_is_left_out(self) -> None:
        assert found(steps(10.0, 20.0, machine=(1,))) == (None, None, None)
        assert found(steps(10.0, 20.0, 24.0, machine=(1,))) == (24.0, 20.0, [(19, 20, 20.0, 24.0)])

    def test_a_faster_machine_hides_no_regression(self) -> None:
        """asv alone takes the earlier regression for undone."""
        given = steps(10.0, 12.0, 6.0, 9.0, machine=(2,))
        assert detect_regressions(given, 0.05)[2] == [(29, 30, 6.0, 9.0)]
        last, best, jumps = found(given)
        assert (last, best) == (9.0, 5.0), "on the last machine"
        assert jumps == [(9, 10, 10.0, 12.0), (29, 30, 6.0, 9.0)], "each on its own machine"

    def test_a_slower_machine_hides_no_recovery(self) -> None:
        assert found(steps(10.0, 12.0, 24.0, 20.0, machine=(2,))) == (None, None, None)

    def test_several_in_a_row(self) -> None:
        last, best, jumps = found(steps(10.0, 12.0, 6.0, 18.0, 20.0, machine=(2, 3)), threshold=0.15)
        assert (last, best) == (20.0, 15.0)
        assert jumps == [(9, 10, 10.0, pytest.approx(12.0))]

    def test_where_more_is_better(self) -> None:
        given = steps(100.0, 80.0, 160.0, 120.0, higher=True, machine=(2,))
        last, best, jumps = found(given)
        assert (last, best) == (pytest.approx(120.0), pytest.approx(200.0))
        assert jumps == [(9, 10, 100.0, pytest.approx(80.0)), (29, 30, pytest.approx(160.0), 120.0)]

    def test_what_the_machine_did_from_zero_is_none_and_what_came_after_is(self) -> None:
        assert found(steps(0.0, 20.0, machine=(1,))) == (None, None, None)
        last, best, jumps = found(steps(0.0, 20.0, 24.0, machine=(1,)))
        assert (last, best, jumps) == (24.0, 20.0, [(19, 20, 20.0, 24.0)])

    def test_each_level_is_shown_on_its_own_machine(self) -> None:
        last, best, jumps = found(steps(0.0, 2.0, 12.0, 14.0, machine=(2,)))
        assert jumps == [(9, 10, 0.0, 2.0), (29, 30, 12.0, 14.0)]
        assert (last, best) == (14.0, 10.0), "the machine added ten"


class TestShares:
    def shares(self, *levels: float, higher: bool = False, machine: tuple[int, ...] = ()) -> list[Step]:
        return [
            Step((10 * i, 10 * i + 10, level, level, 0.001), higher, i in machine, points=True)
            for i, level in enumerate(levels)
        ]

    def test_where_less_is_better_a_rise_is_a_regression(self) -> None:
        assert found(self.shares(0.1, 0.3)) == (0.3, 0.1, [(9, 10, 0.1, 0.3)])

    def test_where_more_is_better_a_fall_is_one_also_to_nothing(self) -> None:
        assert found(self.shares(0.4, 0.0, higher=True)) == (0.0, 0.4, [(9, 10, 0.4, 0.0)])
        assert found(self.shares(0.1, 0.4, higher=True)) == (None, None, None)

    def test_the_machines_step_is_a_difference(self) -> None:
        last, best, jumps = found(self.shares(0.1, 0.3, 0.35, machine=(1,)))
        assert (last, best) == (0.35, pytest.approx(0.3))
        assert jumps == [(19, 20, pytest.approx(0.3), 0.35)]
