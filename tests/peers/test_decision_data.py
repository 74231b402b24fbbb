"""Pairs cut from runs: disjoint sides, the right history, the rounds that asv concatenated."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from peers.decision_data import HISTORY, half_of, load_django, split, suites


def numbered(runs: int = 24, processes: int = 20, values: int = 3) -> np.ndarray:
    """Every value tells where it stands: run * 10000 + process * 100 + value."""
    run, process, value = np.ogrid[:runs, :processes, :values]
    return (run * 10_000 + process * 100 + value).astype(np.float64)


def test_sides_are_disjoint_processes_of_one_run_with_their_first_values() -> None:
    trials = split({"a": numbered()}, 5, 2, groups=2)
    assert len(trials) == 2 * 4
    assert trials.before.shape == trials.after.shape == (8, 5, 2)
    for first in range(0, 8, 2):
        sides = [trials.before[first], trials.after[first], trials.before[first + 1], trials.after[first + 1]]
        together = np.concatenate(sides)
        assert set(together[:, 0] // 10_000) == {HISTORY + first / 2}
        assert len(set(together[:, 0] // 100 % 100)) == 20
        np.testing.assert_array_equal(together % 100, np.tile([0.0, 1.0], (20, 1)))


def test_history_is_the_runs_right_before() -> None:
    whole = split({"a": numbered()}, 5, 2).history
    cut = split({"a": numbered()}, 5, 2, same_design=True).history
    assert whole is not None and cut is not None
    assert whole.shape == (4, HISTORY, 20, 3) and cut.shape == (4, HISTORY, 5, 2)
    for kept in (whole, cut):
        for number, runs in enumerate(kept[:, :, 0, 0] // 10_000):
            np.testing.assert_array_equal(runs, np.arange(number, number + HISTORY))


def test_only_the_after_side_is_changed() -> None:
    trials = split({"a": numbered()}, 5, 3)
    slower = trials.changed(1.5)
    np.testing.assert_array_equal(slower.before, trials.before)
    np.testing.assert_array_equal(slower.after, 1.5 * trials.after)


def test_a_suite_takes_as_many_runs_as_it_needs() -> None:
    drawn = list(suites({"a": numbered(), "b": numbered()}, least=7))
    assert [len(suite) for suite in drawn] == [8, 8]
    assert set(drawn[0].before[:, 0, 0] // 10_000) == {20.0, 21.0}


def test_halves_follow_the_name_alone() -> None:
    names = [f"benchmark_{number}" for number in range(200)]
    halves = [half_of(name) for name in names]
    assert halves == [half_of(name) for name in names]
    assert 70 < halves.count("dev") < 130


def packed(folder: Path, commits: list[dict[str, tuple[str, Any]]]) -> None:
    with tarfile.open(folder / "django_asv_results.tar.gz", "w:gz") as archive:
        for number, results in enumerate(commits):
            rows = {name: [version, samples] for name, (version, samples) in results.items()}
            content = {"date": number, "result_columns": ["version", "samples"], "results": rows}
            data = json.dumps(content).encode()
            member = tarfile.TarInfo(f"results/machine/{9 - number}.json")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_consecutive_commits_of_one_version(tmp_path: Path) -> None:
    packed(
        tmp_path,
        [
            {"a": ("1", [[1, 2, 3, 4]]), "b": ("1", [[5, 6]])},
            {"a": ("1", [[2, 3, 4, 5]]), "b": ("2", [[5, 6]])},
            {"a": ("1", [[3, 4, 5, 6]]), "b": ("2", [None])},
        ],
    )
    first, second = load_django(tmp_path)
    assert first.names == second.names == ["a#0"]
    np.testing.assert_array_equal(first.pairs[0], [[[1, 2], [3, 4]], [[2, 3], [4, 5]]])
    assert first.histories == [[]]
    assert second.histories is not None
    np.testing.assert_array_equal(second.histories[0], [[[1, 2], [3, 4]]])
    np.testing.assert_allclose(first.common_shift, np.log(3.5 / 2.5))
