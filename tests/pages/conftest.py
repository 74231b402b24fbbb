"""What the tests of pages share: a browser with a tab for each test, and one published site.

`page` is for a page that needs nothing but itself: it must ask for nothing, and complain of nothing. `published` is
the site of `history.py`'s project, `address` where a server has it (`address + "dcu/index.html#/..."`), `visitor` a
tab to go there with; `tab` is one that must complain of nothing. `bare` is a small site that is opened as a file,
and `odd_site` one of odd measurements.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import bare_site, evidence_site
from .browser import Browser, Page, chromium
from .serving import Site, served, site


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("the pages cannot be tested: no Chromium is installed (apt-get install chromium)")
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    found = Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    found = browser.page()
    found.resize(1400, 1000)
    found.scheme("light")
    yield found
    assert found.requests() == []
    assert found.complaints() == []
    found.close()


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Its files are not to be changed."""
    return site(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="session")
def address(published: Site) -> Iterator[str]:
    with served(published.root) as found:
        yield found


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Page]:
    found = browser.page()
    found.resize(1400, 1000)
    yield found
    found.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """It must ask no other host for anything, and complain of nothing."""
    found = browser.page()
    found.resize(1400, 1000)
    found.scheme("light")
    yield found
    allowed = ("file:", "data:", "http://127.0.0.1:")
    assert [one for one in found.requests() if not one.startswith(allowed)] == []
    assert found.complaints() == []
    found.close()


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose one branch has no measured commit."""
    return bare_site.write(tmp_path_factory.mktemp("bare"), bare_site.INDEX, ["main"])


@pytest.fixture(scope="session")
def odd_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence and profiles of every odd shape, opened as a file. Its files are not to be changed."""
    folder = tmp_path_factory.mktemp("odd")
    evidence_site.write(folder)
    return folder
