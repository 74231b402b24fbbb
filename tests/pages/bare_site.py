"""A site of made-up data that is opened as a file, to try on it what all pages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcu_asv_ext.pages.writing import Out
from dcu_asv_ext.site.pages_assets import copy_pages

from .browser import Page

HASH = "ab" * 20
INDEX: dict[str, Any] = {
    "format": 1,
    "project": "<b>kernels</b>",
    "project_url": "javascript:alert(1)",
    "show_commit_url": "https://example.org/commit/",
    "made_at": "2026-01-02T03:04:05+00:00",
    "version": "1.2",
    "commits": [[HASH, 1_767_312_000_000, "Subject with <i>marks</i>"], ["cd" * 20, 0, ""]],
    "branches": [{"name": "main", "commits": [0, 1], "numbers": [0, 3], "head": 1}],
    "tags": [],
    "places": [{"machine": "m", "env": "e", "key": "m~e", "device": None, "product": None, "facts": {}}],
    "functions": [],
    "metrics": {},
    "comparisons": [],
    "evidence": {},
    "matrices": [],
    "notes": [],
}
EMPTY = {"changes": [], "events": [], "set_ups": [], "restarts": [], "too_short": 4, "notes": []}


def write(folder: Path, index: dict[str, Any], branches: list[str]) -> Path:
    copy_pages(folder)
    out = Out(folder / "data")
    out.put("index", index)
    out.put("overview", {"branches": [{"name": name, "heads": []} for name in branches]})
    out.put("changes", {"branches": [{"name": name, **EMPTY} for name in branches]})
    return folder / "index.html"


def go(page: Page, site: Path, route: str) -> Page:
    page.visit("about:blank")
    page.visit(f"{site.as_uri()}#/{route}")
    page.wait("!!document.querySelector('main h1') && !document.querySelector('main[aria-busy]')")
    page.settle()
    return page


def main_text(page: Page) -> str:
    found: str = page.run("document.querySelector('main').innerText")
    return found


def slips(page: Page) -> list[str]:
    """Values that were never meant for people, in what the page shows."""
    return [one for one in ("null", "undefined", "NaN", "[object") if one in main_text(page)]
