"""Which line of the user's code a row comes from."""

from __future__ import annotations

from .model import Trace


class Sources:
    """Lines of code of a trace's rows."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
