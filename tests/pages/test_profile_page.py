"""The page of a kept profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import evidence_site, history
from .accessibility import violations
from .browser import Page
from .evidence_site import COMMITS, NAME
from .serving import Site
from .shown_page import texts
from .test_evidence import place_of, shown, visit

PLACE = f"dcu-1~{history.ENV}"
Go = Callable[..., Page]


@pytest.fixture
def go(visitor: Page, address: str) -> Iterator[Go]:
    """Goes to the profile of a benchmark of the published site."""

    def there(name: str, commit: str, **query: str) -> Page:
        visit(visitor, f"{address}dcu/index.html", place_of(name, PLACE, commit, "profile", **query))
        return visitor

    yield there
    assert visitor.complaints() == []


@pytest.fixture
def odd(visitor: Page, odd_site: Path) -> Iterator[Go]:
    """Goes to the profile of a shape of `evidence_site`, as a file."""

    def there(shape: str, **query: str) -> Page:
        place = place_of(NAME, evidence_site.PLACE, COMMITS[0], "profile", params=shape, **query)
        visit(visitor, (odd_site / "index.html").resolve().as_uri(), place)
        return visitor

    yield there
    assert visitor.complaints() == []


def test_figures_findings_and_tables_are_those_of_the_record(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    facts = texts(page, ".part-figures dd")
    assert any("the latency without it" in one and one.startswith("1.19") for one in facts)
    assert "3 calls" in facts
    names = texts(page, ".part-kernels tbody th")
    assert set(names) == {"matmul_kernel", "add_kernel", "relu_kernel"}
    assert set(texts(page, ".part-operators tbody th")) >= {"aten::mm", "aten::add", "aten::relu"}
    assert len(texts(page, ".profile-finding")) >= 1


def test_the_timeline_stands_in_the_page_and_alone(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    source = page.run("document.querySelector('iframe').getAttribute('src')")
    assert (published.html / "dcu" / source).is_file()
    assert page.run("document.querySelector('.part-timeline a').getAttribute('href')") == source
    assert page.run("document.querySelector('iframe').title") != ""


def test_it_steps_from_profile_to_profile(go: Go, published: Site) -> None:
    main = published.history.main
    page = go(history.FUSED, main[-1])
    assert main[-2][:8] in texts(page, ".evidence-step")[0]
    page.run("document.querySelector('.evidence-step').click()")
    page.wait(f"location.hash.includes('{main[-2][:8]}')")
    shown(page, "profile")
    assert "2 calls" in texts(page, ".part-figures dd")
    # The commit before has evidence, and no profile.
    assert [one for one in texts(page, ".evidence-step") if main[-3][:8] in one] == []


def test_without_a_profile_the_command_stands_there(go: Go, published: Site) -> None:
    head = published.history.main[-1]
    page = go(history.MATMUL, head, params="256,'float16'")
    assert texts(page, ".nothing code") == [
        f"dcu-asv profile 'gemm.matmul(256, float16)' --commit {head[:8]}"
    ]


def test_a_cost_below_one_is_none_and_a_missing_device_has_its_reason(odd: Go) -> None:
    page = odd("profiled", round="0.1")
    assert "could not be determined (the machine was busy)" in texts(page, ".part-figures dd")
    assert texts(page, ".part-kernels tbody th") == ["gemm"]
    # 2 launches and 3 ms of a call, of the sums over ten
    assert texts(page, ".part-kernels tbody td")[1:3] == ["2", "3 ms"]
    page = odd("profiled", round="0.2")
    assert "the trace has no rows of a device" in texts(page, ".part-kernels p")
    assert "dcu-asv profile" in texts(page, ".part-timeline code")[0]
    assert "torch's profiler is not there" in texts(odd("unprofiled"), ".nothing")[0]


def test_it_is_no_wider_than_a_narrow_screen(odd: Go, visitor: Page) -> None:
    visitor.resize(390, 800)
    assert odd("profiled").run("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(go: Go, published: Site, visitor: Page, scheme: str) -> None:
    visitor.scheme(scheme)
    assert violations(go(history.FUSED, published.history.main[-1])) == []
