"""A profile for the terminal: what was profiled, totals, findings, operators, questions, kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..trace.finding import Finding
from . import figures
from .profile_page import Page
from .profile_totals import head, profiled, totals
from .table import Style

#: So many findings are told in full, unless all are asked for.
MOST_FINDINGS = 8


def render(page: Page, style: Style) -> str:
    """The whole page, without a newline at its end."""
    blocks = [list(head(page, style)), list(totals(page, style)), list(findings(page, style))]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def findings(page: Page, style: Style) -> Iterator[str]:
    """Ranked, each with its next step."""
    found = page.analysis.findings
    if not found:
        yield "findings: nothing found"
        return
    shown = found if style.everything else found[:MOST_FINDINGS]
    yield from style.wrapped(f"findings, by the time that they could give back ({profiled(page)})")
    for number, one in enumerate(shown, 1):
        yield from _finding(number, one, style)
    if len(shown) < len(found):
        yield f"  {len(found) - len(shown)} smaller ones: --all"


def _finding(number: int, one: Finding, style: Style) -> Iterator[str]:
    size = f"up to {figures.quantity(one.seconds, 'seconds')} ({figures.percent(one.share)})"
    effect = "" if one.end_to_end else ", not end to end"
    place = f"  {one.source}" if one.source else ""
    mark = f"{number:>3}. "
    yield from style.wrapped(figures.printable(f"{one.kind}: {size}{effect}{place}"), mark)
    indent = " " * len(mark)
    yield from style.wrapped(figures.printable(one.text), indent)
    yield from style.wrapped(figures.printable(one.next_step), f"{indent}next: ")


def heading(pages: Sequence[Page]) -> str:
    """Above several traces of one run: which ranks there are, and which are missing."""
    ranks = sorted({page.rank[0] for page in pages if page.rank is not None})
    sizes = {page.rank[1] for page in pages if page.rank is not None} - {None}
    if not ranks:
        return ""
    text = f"ranks {', '.join(map(str, ranks))}"
    if len(sizes) == 1:
        (size,) = sizes
        assert size is not None
        lost = sorted(set(range(size)) - set(ranks))
        text += f" of a run of {size}" + (f"; without {', '.join(map(str, lost))}" if lost else "")
    return text
