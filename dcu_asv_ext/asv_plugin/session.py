"""One asv session over one (machine, commit, environment): its evidence, its place, and how it is resumed.

While a session is unfinished a small `<stem>.session` file lies beside the evidence. A run that finds one that nobody
holds takes the interrupted session up again: what it had measured is answered from the evidence.
"""

from __future__ import annotations

import datetime
import json
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evidence.record import OK, SKIPPED, WRONG
from ..evidence.store import SUFFIX, read, replace_text
from .locks import FileLock, result_lock

MARKER = ".session"

#: (family, parameter index or None, round)
Key = tuple[str, "int | None", int]


@dataclass
class Session:
    """attributes: asv's `-a` values and --quick; a session is only resumed with the same ones.

    evidence: None where asv will not save (dry run). records: what was measured, by key.
    rounds: (family, index, metric) -> how often asv has asked for it, which is the round.
    """

    identity: str
    commit: str | None
    env: str
    machine: str | None
    attributes: dict[str, Any]
    evidence: Path | None = None
    resumed: dict[Key, dict[str, Any]] = field(default_factory=dict)
    records: dict[Key, dict[str, Any]] = field(default_factory=dict)
    rounds: dict[tuple[str, int | None, str], int] = field(default_factory=dict)
    order: int = 0
    started_at: str = ""
    lock: FileLock | None = None

    @property
    def marker(self) -> Path | None:
        if self.evidence is None:
            return None
        return marker_of(self.evidence)

    def next_round(self, family: str, index: int | None, metric: str) -> int:
        key = (family, index, metric)
        self.rounds[key] = self.rounds.get(key, 0) + 1
        return self.rounds[key]

    def restart(self) -> None:
        """asv starts over with this commit: a new session, whose first measurement is a new round 1."""
        self.identity = _new_identity()
        self.started_at = _now()
        self.order = 0
        self.rounds.clear()
        self.records.clear()
        self.resumed.clear()
        self.mark()

    def mark(self) -> None:
        """Leave the sign by which the next run knows an interrupted session. Raises OSError."""
        if self.marker is None:
            return
        about = {"session": self.identity, "started_at": self.started_at, "attributes": self.attributes}
        replace_text(self.marker, json.dumps(about, indent=1) + "\n")

    def next_order(self) -> int:
        self.order += 1
        return self.order

    def finish(self) -> None:
        """asv has saved everything: the session is not interrupted any more."""
        if self.marker is not None:
            with suppress(FileNotFoundError):
                self.marker.unlink()
        self.resumed.clear()


def marker_of(evidence: Path) -> Path:
    """Where the sign of an unfinished session lies."""
    return evidence.with_name(evidence.name.removesuffix(SUFFIX) + MARKER)


def evidence_of(marker: Path) -> Path:
    """The evidence that an unfinished session's sign belongs to."""
    return marker.with_name(marker.name.removesuffix(MARKER) + SUFFIX)


def begin(
    evidence: Path | None, commit: str | None, env: str, machine: str | None, attributes: dict[str, Any]
) -> Session:
    """A new session, or the interrupted one of this evidence file if it was asked for in the same way.

    Raises locks.Held where another run is writing the same result file.
    """
    # As the marker will give them back: a tuple (`-a repeat=1,5,0.1`) is a list there.
    attributes = json.loads(json.dumps(attributes))
    session = Session(_new_identity(), commit, env, machine, attributes, evidence, started_at=_now())
    if evidence is None:
        return session
    session.lock = result_lock(evidence)
    session.lock.acquire()
    assert session.marker is not None
    earlier = _read_marker(session.marker)
    if earlier is not None and earlier["attributes"] == attributes:
        session.identity, session.started_at = earlier["session"], earlier["started_at"]
        for record in read(evidence).records:
            if record.get("session") == session.identity:
                session.order = max(session.order, record.get("order") or 0)
                if str(record["status"]).startswith((OK, SKIPPED, WRONG)):
                    session.resumed[record["benchmark"], record["param_index"], record["round"]] = record
    session.mark()
    return session


def _new_identity() -> str:
    return uuid.uuid4().hex[:12]


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _read_marker(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    needed = {"session": str, "started_at": str, "attributes": dict}
    if not isinstance(found, dict) or any(not isinstance(found.get(k), t) for k, t in needed.items()):
        return None
    return found
