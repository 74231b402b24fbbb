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
    "summarize": "summary",
    "totals": "summary",
}

__all__ = ["TraceError", "findings", "load", "summarize", "totals"]

if TYPE_CHECKING:
    from .errors import TraceError
    from .loading import load
    from .ranking import findings
    from .summary import summarize, totals

__getattr__ = lazily(__name__, _WHERE)
