"""Everything that is computed from a trace, each once and only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .model import Trace

if TYPE_CHECKING:
    from .activity import Activity
    from .detectors.scope import Scope
    from .finding import Finding
    from .gaps import Gaps
    from .kernels import KernelRow
    from .operators import OperatorRow
    from .sources import Sources
    from .waits import CopyGroup, Launches, SyncGroup


class Analysis:
    """Of one trace; the parts are described where they are made.

    overhead: how many times as long a profiled step took as one that is not, where that was measured. doubtful: it
    was, and could not be determined.
    """

    def __init__(self, trace: Trace, overhead: float | None = None, doubtful: bool = False) -> None:
        self.trace = trace
        self.overhead = overhead
        self.doubtful = doubtful

    @cached_property
    def totals(self) -> dict[str, Any]:
        from .summary import totals

        return totals(self.trace)

    @cached_property
    def activities(self) -> list[Activity]:
        from .activity import activities

        return activities(self.trace)

    @cached_property
    def sources(self) -> Sources:
        from .sources import Sources

        return Sources(self.trace)

    @cached_property
    def launches(self) -> Launches:
        from .launches import launches

        return launches(self)

    @cached_property
    def gaps(self) -> Gaps:
        """In the order of time, of every device."""
        from .gaps import gaps

        return gaps(self)

    @cached_property
    def copies(self) -> Sequence[CopyGroup]:
        """The longest first."""
        from .copies import copies

        return copies(self)

    @cached_property
    def syncs(self) -> Sequence[SyncGroup]:
        """Those that cost most first."""
        from .syncs import syncs

        return syncs(self)

    @cached_property
    def kernels(self) -> Sequence[KernelRow]:
        """By name and shape, the longest first."""
        from .kernels import kernels

        return kernels(self.trace)

    @cached_property
    def operators(self) -> Sequence[OperatorRow]:
        """By name, the longest on the device first."""
        from .operators import operators

        return operators(self)

    @cached_property
    def calls(self) -> dict[str, Any] | None:
        """Of a profile pass of a measurement what its calls alone do, as `digest` tells it; else None."""
        from .profile_pass import calls

        return calls(self)

    @cached_property
    def scope(self) -> Scope:
        from .detectors.scope import Scope

        return Scope(self)

    @property
    def findings_note(self) -> str:
        """What of the trace no finding is about, and why; "" where they are about all of it."""
        return self.scope.note if len(self.trace.device) else ""

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Ranked by the time that they could give back."""
        from .ranking import ranked

        return ranked(self)
