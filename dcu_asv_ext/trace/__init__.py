"""Chrome traces of torch's profiler, read without torch: totals, tables, findings, a picture.

Names are imported when first used: the commands that read no trace need none of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_WHERE = {
    "TraceError": "errors",
    "findings": "ranking",
    "load": "loading",
    "render_html": "report_html",
    "render_svg": "picture_svg",
    "summarize": "summary",
    "totals": "summary",
}

__all__ = ["TraceError", "findings", "load", "render_html", "render_svg", "summarize", "totals"]

if TYPE_CHECKING:
    from .errors import TraceError
    from .loading import load
    from .picture_svg import render_svg
    from .ranking import findings
    from .report_html import render_html
    from .summary import summarize, totals

__getattr__ = lazily(__name__, _WHERE)
