"""A set-up that cannot work: one sentence, a failing exit, and nothing measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from .watching import evidence_files, lines
from .workbench import Workbench

pytestmark = pytest.mark.e2e

SUITE = """
import dcu_asv_ext as dcu

@dcu.benchmark(metrics=["latency"], rounds=1, repeat=1)
def step():
    open({mark!r}, "a").write("measured")
    return 1
"""


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path, SUITE.format(mark=str(tmp_path / "mark")))
    made.commit({"tinyproj.py": ""})
    return made


def refused(bench: Workbench, *words: str) -> None:
    out = bench.asv("run", code=1)
    said = " ".join(out.split())
    for word in words:
        assert word in said
    assert "Traceback" not in out
    assert not (bench.root / "mark").exists(), "nothing was measured"


def test_a_file_in_the_place_of_the_results_folder(bench: Workbench) -> None:
    (bench.suite / "results").write_text("")
    refused(bench, "dcu-asv: ", "results/box/machine.json cannot be written", "make the folder writable")


def test_evidence_that_cannot_be_written(bench: Workbench) -> None:
    """Permissions do not stop root, so a folder stands where the evidence was."""
    bench.asv("run", "--quick")
    (bench.root / "mark").unlink()
    (path,) = evidence_files(bench)
    path.unlink()
    path.mkdir()
    refused(bench, "dcu-asv: the results folder", path.name, "nothing was measured")


def test_an_unknown_key(bench: Workbench) -> None:
    bench.configure(plugins=[".dcu_asv_ext.asv_plugin"], dcu={"verdikt": "asv"})
    refused(bench, 'unknown key "verdikt" in "dcu" of asv.conf.json (did you mean "verdict"?)')
    assert not lines(bench)


def test_a_value_that_means_nothing(bench: Workbench) -> None:
    bench.configure(plugins=[".dcu_asv_ext.asv_plugin"], dcu={"keep_environments": 0})
    refused(bench, '"keep_environments" must be a whole number of at least 1, not 0')
