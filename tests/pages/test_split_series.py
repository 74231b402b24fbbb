"""Series of a function that are cut into several files between combinations of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.pages.writing import Out

from . import bare_site
from .browser import Page

VALUES = ["1", "2", "3", "4"]
FUNCTION = {
    "name": "big.kernel", "slug": "big-1", "label": "big.kernel", "kind": "workload", "ours": True,
    "params": [{"name": "n", "values": VALUES}], "metrics": ["latency"], "asv": {"latency": "big.kernel.latency"},
    "units": {"latency": "seconds"},
    "places": {"0": {"parts": ["b/big-1/0", "b/big-1/0-1"], "starts": [0, 2], "combos": [[one] for one in VALUES]}},
}  # fmt: skip


def line(value: str) -> dict[str, Any]:
    timeline = {"version": "1", "protocol": 1, "set_up": None, "h": None, "commits": [0, 1]}
    level = float(value)
    return {
        "metric": "latency", "params": [value], "failed": [], "missing": [],
        "timelines": [{**timeline, "values": [level, level], "rounds": [1, 1]}],
    }  # fmt: skip


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = {**bare_site.INDEX["places"][0], "commits": [0, 1]}
    index = {**bare_site.INDEX, "places": [place], "functions": [FUNCTION]}
    page = bare_site.write(tmp_path_factory.mktemp("split"), index, ["main"])
    out = Out(page.parent / "data")
    for key, values in (("b/big-1/0", VALUES[:2]), ("b/big-1/0-1", VALUES[2:])):
        out.put(key, {"function": "big.kernel", "place": 0, "lines": [line(one) for one in values]})
    return page


def parts(tab: Page) -> list[str]:
    """The series' files that the tab has asked for."""
    return sorted(one.split("data/b/")[1].split(".js")[0] for one in tab.requests() if "data/b/" in one)


def test_only_the_file_of_what_is_drawn_is_loaded(tab: Page, split: Path) -> None:
    bare_site.go(tab, split, "benchmark/big-1?p.n=3")
    assert parts(tab) == ["big-1/0-1"]
    assert tab.run("[...document.querySelectorAll('.plot')].map((one) => one.dataset.points)") == ["2"]
    tab.click(".plot summary")
    tab.wait("document.querySelector('.plot details').textContent.includes('3 s')")


def test_combinations_of_several_files_are_drawn_together(tab: Page, split: Path) -> None:
    bare_site.go(tab, split, "benchmark/big-1?p.n=2|4")
    assert parts(tab) == ["big-1/0", "big-1/0-1"]
    assert tab.run("[...document.querySelectorAll('.plot')].map((one) => one.dataset.points)") == ["4"]


def test_a_pair_that_was_not_compared_shows_the_figures_of_every_file(tab: Page, split: Path) -> None:
    bare_site.go(tab, split, "compare?place=m~e&function=big-1")
    tab.wait("document.querySelectorAll('main tbody tr').length === 4")
    assert parts(tab) == ["big-1/0", "big-1/0-1"]
