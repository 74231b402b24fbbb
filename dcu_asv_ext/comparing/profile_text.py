"""A profile for the terminal: what was profiled, totals, findings, operators, questions, kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..trace import table_text
from ..trace.finding import Finding
from . import figures
from .profile_choice import Choice
from .profile_page import Page
from .profile_totals import head, profiled, totals
from .table import Style

#: So many findings are told in full, unless all are asked for.
MOST_FINDINGS = 8
#: Rows of the tables where no number is asked for; of kernels below the operators fewer.
MOST_ROWS, MOST_KERNELS = 15, 8


def render(page: Page, style: Style, choice: Choice | None = None) -> str:
    """The whole page, without a newline at its end."""
    choice = choice or Choice()
    parts = [list(head(page, style)), list(totals(page, style)), list(findings(page, style))]
    blocks = ["\n".join(part) for part in parts if part]
    if not choice.kernels:
        blocks.append(_table(page, style, choice, MOST_ROWS))
    if choice.kernels and not len(page.analysis.trace.device):
        blocks.append("No kernels: the trace has no rows of a device.")
    if len(page.analysis.trace.device):
        most = MOST_ROWS if choice.kernels else MOST_KERNELS
        blocks.append(_table(page, style, replace(choice, kernels=True), most))
    return "\n\n".join(blocks)


def _table(page: Page, style: Style, choice: Choice, most: int) -> str:
    top = choice.top if choice.top is not None else None if style.everything else most
    return table_text.render(
        page.analysis,
        choice.selection(top),
        by_shape=choice.by_shape,
        kernels=choice.kernels,
        overhead=page.overhead,
        width=style.width,
    )


def findings(page: Page, style: Style) -> Iterator[str]:
    """Ranked, each with its next step."""
    found = page.analysis.findings
    note = page.analysis.findings_note
    if not found:
        yield from style.wrapped("findings: nothing found" + (f" ({note})" if note else ""))
        return
    shown = found if style.everything else found[:MOST_FINDINGS]
    yield from style.wrapped(f"findings, by the time that they could give back ({profiled(page)})")
    if note:
        yield from style.wrapped(note, "  ")
    for number, one in enumerate(shown, 1):
        yield from _finding(number, one, style)
    if len(shown) < len(found):
        yield f"  {len(found) - len(shown)} smaller ones: --all"


def _finding(number: int, one: Finding, style: Style) -> Iterator[str]:
    share = f"{figures.percent(one.share)} of the profiled time"
    size = f"up to {figures.quantity(one.seconds, 'seconds')}, {share}"
    if not one.end_to_end:
        size = f"nothing to gain end to end ({share})"
    place = f", at {one.source}" if one.source else ""
    mark = f"{number:>3}. "
    yield from style.wrapped(figures.printable(f"{one.kind}: {size}{place}"), mark)
    indent = " " * len(mark)
    yield from style.wrapped(figures.printable(one.text), indent)
    yield from style.wrapped(figures.printable(one.next_step), f"{indent}next: ")


def told_ranks(ranks: Sequence[tuple[int, int | None]]) -> str:
    """Below several traces of one run: which ranks there are, and which are missing; "" where there are none."""
    if not ranks:
        return ""
    there = sorted({rank for rank, _ in ranks})
    text = f"ranks {', '.join(map(str, there))}"
    sizes = {size for _, size in ranks}
    if len(sizes) == 1 and (size := sizes.pop()) is not None:
        lost = sorted(set(range(size)) - set(there))
        text += f" of a run of {size}" + (f"; without {', '.join(map(str, lost))}" if lost else "")
    return text
