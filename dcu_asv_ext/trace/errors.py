"""What can be wrong with a trace."""

from __future__ import annotations


class TraceError(Exception):
    """A file that cannot be read as a trace at all; the text is one sentence that names it."""


class EmptyTrace(TraceError):
    """A whole trace in which nothing was recorded."""
