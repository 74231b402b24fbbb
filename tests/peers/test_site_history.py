"""The made-up history is one as `asv run` leaves it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.results import Project
from dcu_asv_ext.comparing.model import EVIDENCE, OK, Key
from peers.site_history import METRICS, write


def test_asv_and_the_commands_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "made"
    hashes = write(root, 3, functions=2, evidence=1)
    monkeypatch.chdir(root)
    project = Project.open()
    assert project.notes == []
    sets = project.history()
    assert [one.commit for one in sets] == hashes
    assert {len(one.sides) for one in sets} == {2 * len(METRICS)}
    newest = sets[-1].sides[Key("suite_0.kernel_00", "latency")]
    assert (newest.state, newest.source, len(newest.rounds), newest.conflict) == (OK, EVIDENCE, 5, "")
    assert all(side.state == OK and side.conflict == "" for one in sets for side in one.sides.values())
    assert sorted(os.listdir(root)) == ["asv.conf.json", "benchmarks", "repo", "results"]
