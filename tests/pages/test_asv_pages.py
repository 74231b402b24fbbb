"""asv's own pages, as `asv publish` leaves them with the plugin: every one works, and nothing else is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.prepared import Prepared, rounds_of

from .browser import Page
from .serving import BELOW, served

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's folder with a site below it that has no name which asv's pages would take for markup."""
    project = Prepared(tmp_path_factory.mktemp("project"))
    for number, commit in enumerate(project.commits(14)):
        level = 1e-3 if number < 7 else 2e-3
        project.write(commit, {"suite.slower": rounds_of(level, seed=number)}, hours=24 * number)
    root = tmp_path_factory.mktemp("server")
    project.asv("publish", "--html-dir", str(root / BELOW))
    return root


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


PAGES = {
    "grid": ("#/", "document.querySelectorAll('#summarygrid-display a').length"),
    "list": ("#/summarylist", "document.querySelectorAll('#summarylist-body table tbody tr').length"),
    "regressions": ("#/regressions", "document.querySelectorAll('#regressions-body table tbody tr').length"),
    "graph": ("#suite.slower.latency", "document.querySelectorAll('#main-graph canvas').length"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_content_and_asks_no_other_host(name: str, visitor: Page, address: str) -> None:
    place, shown = PAGES[name]
    visitor.visit(address + place)
    visitor.wait(f"{shown} > 0")
    asked = visitor.requests()
    assert len(asked) > 15
    assert [one for one in asked if not one.startswith((address, "data:"))] == []
    assert visitor.complaints() == []


def test_a_column_of_the_list_can_be_sorted(visitor: Page, address: str) -> None:
    """The one library whose version is not the one that asv asks for."""
    visitor.visit(address + "#/summarylist")
    visitor.wait("document.querySelectorAll('#summarylist-body table tbody tr').length > 0")
    visitor.click("#summarylist-body table thead th")
    assert (
        visitor.run("document.querySelectorAll('#summarylist-body th.asc, #summarylist-body th.desc').length")
        > 0
    )
    assert visitor.complaints() == []


def test_opened_as_a_file_it_says_what_to_do(visitor: Page, site: Path) -> None:
    visitor.open(site / BELOW / "index.html")
    visitor.wait("document.querySelector('[role=alert]') !== null")
    assert "asv preview" in visitor.run("document.querySelector('[role=alert]').textContent")
    assert [one for one in visitor.requests() if not one.startswith(("file:", "data:"))] == []
