"""The set-up that a measurement hung on, in one object: results of another set-up are another series.

asv keeps apart what its environments tell (Python, torch, the kind of device); the evidence tells the rest: driver,
threads, governor, switches, inputs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import marshal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .differences import differences, undeclared
from .facts import MATTERS, merged, record_facts, role
from .model import Difference

#: Facts told in a sentence about a change.
_TOLD = 3


@dataclass(frozen=True, eq=False)
class Identity:
    """facts: those that matter to a comparison (`facts.role`), flat name -> text. digest: of them, 12 hex digits."""

    facts: Mapping[str, str]
    digest: str


class Identities:
    """Of evidence records of one benchmark, one after another. Most tell the same as the one before, and share its
    identity; so do those that tell the same anywhere else."""

    def __init__(self) -> None:
        self._raw: tuple[Any, ...] = ()
        self._last: Identity | None = None

    def of(self, record: Mapping[str, Any]) -> Identity:
        raw = _raw(record)
        if self._last is None or raw != self._raw:
            # Three times as fast as JSON, which a history would feel; it never leaves this process.
            self._raw, self._last = raw, _identity(marshal.dumps(raw, 2))
        return self._last


def identity_of(record: Mapping[str, Any]) -> Identity:
    return Identities().of(record)


def _raw(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """As much of a record as `record_facts` makes facts that matter of."""
    software, given, switches = record["software"], record["input"], record["switches"]
    cache = switches.get("cache")
    return (
        record["device"],
        software.get("packages"),
        software.get("environment"),
        # Whether the caches were empty, and written, is each measurement's own.
        {**switches, "cache": {"mode": cache.get("mode")} if isinstance(cache, dict) else cache},
        given.get("tensors"),
        given.get("sets"),
        record["boundary"].get("inputs_on"),
        record.get("host"),
    )


@functools.lru_cache(maxsize=16384)
def _identity(raw: bytes) -> Identity:
    device, packages, environment, switches, tensors, sets, inputs_on, host = marshal.loads(raw)
    record = {
        "device": device,
        "software": {"packages": packages, "environment": environment},
        "switches": switches,
        "input": {"tensors": tensors, "sets": sets},
        "boundary": {"inputs_on": inputs_on},
        "host": host,
    }
    return of_facts(record_facts(record))


def of_facts(facts: Mapping[str, str]) -> Identity:
    kept = {name: value for name, value in sorted(facts.items()) if role(name) == MATTERS}
    if "software.python" in kept:
        # Patch releases are one Python.
        kept["software.python"] = ".".join(kept["software.python"].split(".")[:2])
    return Identity(kept, hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:12])


def together(found: Iterable[Identity]) -> Identity | None:
    """Of several rounds; None for none. A fact in which they differ reads "mixed: ..."."""
    distinct = list({one.digest: one for one in found}.values())
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    return of_facts(merged(one.facts for one in distinct))


@functools.lru_cache(maxsize=16384)
def agree(one: Identity | None, other: Identity | None) -> bool:
    """Whether nothing that both tell differs. Old evidence tells less, and asv's own files nothing."""
    if one is None or other is None or one.digest == other.digest:
        return True
    return not changed(one.facts, other.facts)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    """The facts that matter and differ."""
    return undeclared(differences(before, after))


def told(found: Sequence[Difference]) -> str:
    """ "device.driver was X, is Y; host.governor was ..."."""
    named = [f"{one.name} was {one.before}, is {one.after}" for one in found[:_TOLD]]
    more = f" (and {len(found) - _TOLD} more)" if len(found) > _TOLD else ""
    return "; ".join(named) + more


class SetUps:
    """The set-ups of one series. facts: of each, as far as its results tell them."""

    def __init__(self) -> None:
        self.facts: list[dict[str, str]] = []
        self._last = 0
        self._known: dict[tuple[str, int], bool] = {}

    def number(self, one: Identity | None) -> int:
        """Of a result; results are asked for in the order of their commits.

        It belongs to the set-up before it unless they contradict each other, else to the newest that it does not
        contradict, else it begins one. What it tells is known of its set-up from then on.
        """
        if one is None:
            return self._last
        tried = [self._last, *reversed(range(len(self.facts)))] if self.facts else []
        found = next((number for number in tried if self._fits(one, number)), None)
        if found is None:
            self.facts.append(dict(one.facts))
            found = len(self.facts) - 1
            self._known[one.digest, found] = True
        self._last = found
        return found

    def _fits(self, one: Identity, number: int) -> bool:
        key = one.digest, number
        if key not in self._known:
            self._known[key] = not changed(self.facts[number], one.facts)
            if self._known[key]:
                self.facts[number].update(one.facts)
        return self._known[key]
