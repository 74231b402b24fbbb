"""asv's pages after they were made to need no other host."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path

import asv
import pytest

from dcu_asv_ext.site.libraries import LIBRARIES, VENDOR
from dcu_asv_ext.site.offline import SiteError, make_offline

WWW = Path(asv.__file__).parent / "www"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    made = tmp_path / "html"
    shutil.copytree(WWW, made)
    return made


def loaded(page: str) -> list[str]:
    """Whatever a page loads by itself."""
    tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page)
    return [one for tag in tags for one in re.findall(r'(?:src|href)="([^"]*)"', tag)]


def test_asvs_page_loads_nothing_from_elsewhere_and_everything_it_did(site: Path) -> None:
    before = loaded((site / "index.html").read_text())
    make_offline(site)
    after = loaded((site / "index.html").read_text())
    assert len(after) == len(before)
    assert [one for one in after if "//" in one] == []
    missing = [one for one in after if not (site / one).is_file() and one != "regressions.xml"]
    assert missing == []
    assert sum(one.startswith("vendor/") for one in after) == len(LIBRARIES)


def test_no_check_of_the_other_hosts_copy_is_left(site: Path) -> None:
    make_offline(site)
    page = (site / "index.html").read_text()
    assert "integrity" not in page and "crossorigin" not in page


def test_what_asv_has_checked_is_what_is_shipped() -> None:
    """asv's page carries the hash of each library; where npm ships the same file, ours must have that hash."""
    page = (WWW / "index.html").read_text()
    same = 0
    for address, place in LIBRARIES.items():
        found = re.search(re.escape(address) + r'" integrity="(sha256|sha512)-([^"]*)"', page)
        assert found is not None, address
        digest = hashlib.new(found[1], (VENDOR / place).read_bytes()).digest()
        same += base64.b64encode(digest).decode() == found[2]
    assert same >= 4


def test_every_library_comes_with_its_licence() -> None:
    for folder in VENDOR.iterdir():
        texts = [one.read_text(encoding="utf-8") for one in folder.iterdir()]
        assert any("MIT" in one or "Permission is hereby granted" in one for one in texts), folder.name


def test_an_unknown_library_is_refused_in_one_sentence(site: Path) -> None:
    page = site / "index.html"
    page.write_text(page.read_text().replace("jquery-3.3.1.min.js", "jquery-9.9.9.min.js"))
    with pytest.raises(SiteError, match=r"jquery-9\.9\.9\.min\.js, which this package does not have"):
        make_offline(site)


def test_links_that_people_follow_stay(site: Path) -> None:
    make_offline(site)
    assert 'href="https://github.com/airspeed-velocity/asv/"' in (site / "index.html").read_text()


def test_the_error_page_sends_nobody_to_the_internet(site: Path) -> None:
    make_offline(site)
    page = (site / "error.html").read_text()
    assert "internet" not in page and "vendor" in page
