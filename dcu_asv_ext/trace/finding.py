"""What a finding is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """Something in a trace that costs time.

    kind: a short fixed name, such as "unexpected synchronisation". seconds: that the whole would be shorter by at
    most, 0 where `end_to_end` is False. share: of the profiled time, that what it is about takes; the same time where
    all of it could be given back. text: one or two sentences with the figures. next_step: what to do about it.
    begin, end: ns of `Trace`, of its first and last event. events: how many. source: `file:line function`, or "".
    end_to_end: whether removing it would shorten the whole; False is also said in `text`. device: -1 where none.
    data: figures for machines.
    """

    kind: str
    seconds: float
    text: str
    next_step: str
    share: float
    begin: int
    end: int
    events: int
    source: str = ""
    end_to_end: bool = True
    device: int = -1
    data: Mapping[str, Any] = field(default_factory=dict)
