"""What axe-core finds wrong with a page as it is shown."""

from __future__ import annotations

from pathlib import Path

from .browser import Page

_AXE = Path(__file__).with_name("vendor") / "axe-core-4.14.1" / "axe.min.js"
#: Of axe's four impacts.
GRAVE = ("serious", "critical")

_RUN = """
axe.run(document, {resultTypes: ["violations"], preload: false}).then(({violations}) => violations.map((one) => ({
  impact: one.impact,
  text: `${one.id}: ${one.help}: ` + one.nodes.map((node) => node.target.join(" ")).join(", "),
})))
"""


def violations(page: Page) -> list[str]:
    """Those of impact serious or critical: the rule, and the elements that break it."""
    if page.run("typeof axe") == "undefined":
        page.run(_AXE.read_text(encoding="utf-8") + ";0")
    return [one["text"] for one in page.run(_RUN) if one["impact"] in GRAVE]
