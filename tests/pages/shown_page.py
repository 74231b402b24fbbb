"""What a page shows, and its state in the address."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

from .browser import Page


def texts(page: Page, selector: str) -> list[str]:
    """Of each element of a selector."""
    found: list[str] = page.run(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent.trim())"
    )
    return found


def query(page: Page) -> dict[str, str]:
    """The first value of each name in the address."""
    parts = urlsplit(page.run("location.hash").removeprefix("#"))
    return {name: values[0] for name, values in parse_qs(parts.query).items()}
