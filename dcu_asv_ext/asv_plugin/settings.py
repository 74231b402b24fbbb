"""The `"dcu": {...}` section of asv.conf.json."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..evidence.traces import KEEP_TRACES, TRACE_LIMIT_MB


class SettingsError(Exception):
    """An entry of the section that cannot be taken; the text says which."""


@dataclass(frozen=True)
class Settings:
    """verdict: "dcu" or "asv", whose rule decides in compare and publish.
    card: "wait" or "refuse" when another run holds the card. share_card: measure although it is held.
    publish_simulated: let figures of a simulated device be published.
    offline: let the published pages load their libraries from the site itself, and from no other host.
    keep_environments: commit environments kept on disk per base environment.
    trace_limit_mb: MiB of a kept trace; a larger one is not kept. keep_traces: commits per machine and environment
    whose traces are kept, the newest; 0: none are.
    pages: publish this package's own pages beside asv's. published_evidence: commits per machine and environment
    whose measurements are published whole, the newest; 0: only those at change points, tags and branch heads.
    compare_all: make every comparison of the pages, and not only as many as asv's own part leaves time for.
    gate: what `dcu-asv gate` asks, as it stands there; gates/configuration.py knows what may be in it.
    """

    verdict: str = "dcu"
    card: str = "wait"
    share_card: bool = False
    publish_simulated: bool = False
    offline: bool = True
    keep_environments: int = 30
    trace_limit_mb: int = TRACE_LIMIT_MB
    keep_traces: int = KEEP_TRACES
    pages: bool = True
    published_evidence: int = 20
    compare_all: bool = False
    gate: Mapping[str, Any] = field(default_factory=dict)


#: Whole numbers that may be 0.
_MAY_BE_NONE = frozenset({"keep_traces", "published_evidence"})
_CHOICES = {"verdict": ("dcu", "asv"), "card": ("wait", "refuse")}


def settings_of(conf: Any) -> Settings:
    """The section of a loaded asv configuration; defaults where it is absent. Raises SettingsError."""
    given = getattr(conf, "dcu", None)
    if given is None:
        return Settings()
    if not isinstance(given, dict):
        raise SettingsError(f'"dcu" in asv.conf.json must be an object, not {given!r}')
    known = {one.name: one for one in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; known: {', '.join(known)}"
            raise SettingsError(f'unknown key "{name}" in "dcu" of asv.conf.json{hint}')
        _check(name, value)
    return Settings(**given)


def _check(name: str, value: Any) -> None:
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise SettingsError(f'"dcu": "{name}" must be one of {", ".join(_CHOICES[name])}, not {value!r}')
        return
    wanted = type(getattr(Settings(), name))
    if wanted is dict:
        if not isinstance(value, dict):
            raise SettingsError(f'"dcu": "{name}" must be an object, not {value!r}')
        return
    least = 0 if name in _MAY_BE_NONE else 1
    if type(value) is not wanted or (wanted is int and value < least):
        meaning = "true or false" if wanted is bool else f"a whole number of at least {least}"
        raise SettingsError(f'"dcu": "{name}" must be {meaning}, not {value!r}')
