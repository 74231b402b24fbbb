"""A browser for all tests of pages, and a tab for each: it must ask for nothing, and complain of nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .browser import Browser, Page, chromium


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
