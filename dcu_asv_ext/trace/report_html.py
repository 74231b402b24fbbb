"""A profile as one page that needs nothing but itself: figures, findings, a timeline, tables."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .analysis import Analysis
from .picture_data import picture
from .picture_names import Names, printable
from .picture_svg import STYLE, svg
from .picture_texts import ENGLISH, Texts
from .picture_window import MOST_ROWS
from .report_html_head import findings, header, safe
from .report_html_tables import tables, tables_data
from .report_html_timeline import timeline
from .table_json import table

#: In the order in which they need one another.
_SCRIPTS = ("text.js", "model.js", "view.js", "draw.js", "choose.js", "controls.js", "tables.js", "page.js")


def render_html(
    analysis: Analysis,
    *,
    title: str,
    overhead: float | None = None,
    notes: Sequence[str] = (),
    texts: Texts = ENGLISH,
    most_rows: int = MOST_ROWS,
) -> str:
    """The page. overhead: time of a profiled run over that of an unprofiled one, None where that is not known.

    notes: sentences to be shown below the figures. texts: every text of the page, see `picture_texts`.
    most_rows: how many rows the timeline carries at most; what is left out is told in the page.
    """
    return "".join(_parts(analysis, title, overhead, notes, texts, most_rows))


def write_html(
    path: str | os.PathLike[str],
    analysis: Analysis,
    *,
    title: str,
    overhead: float | None = None,
    notes: Sequence[str] = (),
    texts: Texts = ENGLISH,
    most_rows: int = MOST_ROWS,
) -> None:
    """`render_html` into a file, part by part; the file is there whole or not at all. Raises OSError."""
    whole = Path(path)
    part = whole.with_name(f"{whole.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(_parts(analysis, title, overhead, notes, texts, most_rows))
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)


def _parts(
    analysis: Analysis,
    title: str,
    overhead: float | None,
    notes: Sequence[str],
    texts: Texts,
    most_rows: int,
) -> Iterator[str]:
    names = Names()
    data = picture(analysis, most_rows, names)
    overview = svg(data, analysis.findings, 960, texts, texts["timeline_label"])
    yield _head(title, texts)
    yield f"<main>{header(analysis, title, overhead, notes, texts)}"
    yield findings(analysis.findings, texts, analysis.findings_note)
    yield timeline(analysis, data, overview, texts)
    rows = table(analysis, overhead=overhead)
    yield f"{tables(rows, texts)}</main>"
    marks = [[one.begin, one.end, printable(one.kind)] for one in analysis.findings]
    yield _json("data", {**data, "findings": marks, "tables": tables_data(rows, names)})
    yield _json("texts", dict(texts))
    yield f'<script type="module">{_script()}</script></body></html>\n'


def _head(title: str, texts: Texts) -> str:
    """Nothing but this page's own script may run, and nothing may be loaded from anywhere."""
    policy = (
        f"default-src 'none'; img-src data:; script-src {_digest(_script())}; "
        f"style-src {_digest(_style())} {_digest(STYLE)}; base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html><html lang="{safe(texts["language"])}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{safe(title)}</title><style>{_style()}</style></head><body>"
    )


@cache
def _script() -> str:
    folder = files(__package__).joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS)


@cache
def _style() -> str:
    return files(__package__).joinpath("assets").joinpath("report.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """As a content security policy names an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(name: str, value: Any) -> str:
    """A block of data that no name in it can end: every `<` is escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f'<script type="application/json" id="{name}">{text.replace("<", chr(92) + "u003c")}</script>\n'
