"""What a caller asks of one measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evidence.traces import TRACE_LIMIT_MB
from .spec import Repeat, Spec


@dataclass(frozen=True)
class ProfileRequest:
    """A profile that the caller asks for, whether or not the benchmark does.

    only: nothing else is measured but what its overhead is told by. stacks: with Python frames. first: the first call
    too. trace, first_trace: where the traces are to be written, compressed where the name ends with .gz.
    """

    only: bool = False
    stacks: bool = False
    first: bool = False
    trace: Path | None = None
    first_trace: Path | None = None


@dataclass
class Options:
    """How asv asked for this measurement.

    repeat: asv's, or the benchmark's own. quick: one call a pass. batch: pass -> calls per sample, from earlier
    evidence of this benchmark, parameters and machine.
    evidence: beside which traces are kept, up to `trace_limit` bytes each (None: nowhere).
    """

    repeat: Repeat = 0
    quick: bool = False
    batch: Mapping[str, int] = field(default_factory=dict)
    evidence: Path | None = None
    trace_limit: int = TRACE_LIMIT_MB << 20
    profile: ProfileRequest | None = None


@dataclass
class Request:
    """What is to be measured and how.

    params: name -> value; labels: name -> asv's own string for it.
    cache_root: folder of the session's on-disk caches (None: this process alone).
    user_caches: the user's own values of the cache variables.
    about: fields of the record that only the caller knows (round, session, order, commit, env, machine; dirty, head
    and variant where they are not what they are by themselves).
    imports: seconds that this process took to import torch and what measures (None: torch was there before).
    """

    spec: Spec
    params: Mapping[str, Any]
    labels: Mapping[str, str]
    param_index: int | None = None
    options: Options = field(default_factory=Options)
    cache_root: Path | None = None
    user_caches: Mapping[str, str | None] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    imports: float | None = None
