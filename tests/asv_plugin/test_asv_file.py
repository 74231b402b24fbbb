"""A result file as asv's own class reads it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from asv.results import Results

from dcu_asv_ext.asv_plugin import asv_file
from tests.asv_plugin.result_folder import COLUMNS, NAME, ResultFolder

PARAMS = [["1", "2"], ["'a'", "'b'"]]
ROWS = {
    "plain": [[1.5], [], "v1", 0, 0, *[None] * 6, [[1.0, 2.0]]],
    "short": [[2.5], []],
    "failed": [None, [], "v1"],
    "failed with parameters": [None, PARAMS, "v1"],
    "parameters": [
        [1.0, None, float("nan"), 4.0],
        PARAMS,
        "v2",
        0,
        0,
        *[None] * 6,
        [[1.0], None, None, [4.0]],
    ],
    "too few": [[1.0, 2.0], PARAMS, "v2"],
}


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path, 1)


@pytest.mark.parametrize("name", ROWS)
def test_the_figures_are_asv_s(folder: ResultFolder, name: str) -> None:
    path = folder.save(folder.commits[0], results={name: ROWS[name]})
    plain, mine = Results.load(str(path)), asv_file.load(path)
    params = plain.get_result_params(name) or []
    told = zip(
        itertools.product(*params),
        plain.get_result_value(name, params),
        plain.get_result_samples(name, params),
        strict=True,
    )
    assert repr(list(mine.results[name])) == repr(list(told))
    assert mine.results[name].version == plain.benchmark_version[name]


def test_what_it_tells_besides(folder: ResultFolder) -> None:
    path = folder.save(folder.commits[0], env_vars={"X": "1"}, requirements={"torch": "2.7"})
    plain, mine = Results.load(str(path)), asv_file.load(path)
    assert (mine.machine, mine.commit, mine.env) == ("box", plain.commit_hash, plain.env_name)
    assert (mine.date, mine.params, mine.env_vars) == (plain.date, plain.params, plain.env_vars)
    assert (mine.requirements, mine.python) == (plain._requirements, plain._python)
    assert list(mine.results) == [NAME]


@pytest.mark.parametrize(
    "changes",
    [{"params": {}}, {"results": []}, {"result_columns": COLUMNS[1:]}, {"version": 1}, {"version": 3}],
)
def test_what_asv_cannot_read_is_refused(folder: ResultFolder, changes: dict[str, Any]) -> None:
    from asv.util import UserError

    with pytest.raises((UserError, AttributeError, TypeError, ValueError, KeyError)):
        asv_file.load(folder.save(folder.commits[0], **changes))
