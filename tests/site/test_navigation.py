"""The ways from asv's pages to ours."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import asv
import pytest

from dcu_asv_ext.site.navigation import link_pages
from dcu_asv_ext.site.offline import SiteError, make_offline

WWW = Path(asv.__file__).parent / "www"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    shutil.copytree(WWW, tmp_path / "site")
    return tmp_path / "site"


def items(site: Path) -> list[str]:
    page = (site / "index.html").read_text(encoding="utf-8")
    return re.findall(r'<li id="(nav-li-[^"]*)"', page)


def test_the_overview_stands_among_asvs_pages_and_the_benchmarks_page_behind_its_name(site: Path) -> None:
    link_pages(site)
    assert items(site) == [
        *("nav-li-", "nav-li-summarylist", "nav-li-regressions"),
        *("nav-li-dcu", "nav-li-graphdisplay", "nav-li-dcu-benchmark"),
    ]


def test_nothing_of_the_page_is_lost(site: Path) -> None:
    before = (site / "index.html").read_text(encoding="utf-8").splitlines()
    link_pages(site)
    after = iter((site / "index.html").read_text(encoding="utf-8").splitlines())
    assert [line for line in before if line not in after] == []  # each of them, in the same order


def test_it_does_not_matter_whether_the_page_was_made_to_work_offline_first(site: Path) -> None:
    make_offline(site)
    link_pages(site)
    assert "nav-li-dcu-benchmark" in items(site)


@pytest.mark.parametrize(
    ("wanted", "instead"),
    [('id="nav-li-graphdisplay"', 'id="graph"'), ("</body>", ""), ("</body>", "</body></body>")],
)
def test_a_page_that_is_not_as_it_is_known_is_refused_in_one_sentence_and_left_alone(
    site: Path, wanted: str, instead: str
) -> None:
    page = site / "index.html"
    page.write_text(page.read_text(encoding="utf-8").replace(wanted, instead), encoding="utf-8")
    before = page.read_bytes()
    with pytest.raises(SiteError, match=r'no navigation bar that this package knows.*"pages": false') as told:
        link_pages(site)
    assert "\n" not in str(told.value)
    assert page.read_bytes() == before


def test_without_a_page_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="cannot be read"):
        link_pages(tmp_path)
