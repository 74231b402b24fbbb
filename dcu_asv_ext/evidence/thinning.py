"""What of an old measurement may go: nothing that a figure, an interval or a verdict is made from."""

from __future__ import annotations

from typing import Any

from ..trace.digest_tables import MOST as TABLES
from ..trace.digest_tables import capped
from .record import SAMPLED

#: Of what was alive at the peak, and of what grew.
HOLDERS = 5
#: Of each table of a profile.
ROWS = 10
#: Of a fault's traceback and output; its last words say what happened.
LETTERS = 1000

RULE = (
    "of an old measurement stay: every sample, the warm-up, the memory figures, the facts, and of the card's "
    "readings the summary of each pass; of what is alive at the peak or grows "
    f"the {HOLDERS} largest stay, of each table of a profile the first {ROWS} rows, of a fault's text the last "
    f"{LETTERS} letters. "
    "Old measurements that asv's file has replaced go whole, except each benchmark's newest session"
)

_READINGS = ("times", *SAMPLED)


def thin(record: dict[str, Any]) -> dict[str, Any]:
    """The record without its bulk; the same object where there is nothing to take. `thinned` says what went."""
    changes = {
        name: value
        for name, value in (
            ("sampled", _sampled(record.get("sampled"))),
            ("memory", _memory(record.get("memory"))),
            ("profile", _profile(record.get("profile"))),
            ("error", _error(record.get("error"))),
        )
        if value is not None
    }
    if not changes:
        return record
    return {**record, **changes, "thinned": sorted({*record.get("thinned", ()), *changes})}


def _sampled(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict) or not any(name in given for name in _READINGS):
        return None
    return {name: value for name, value in given.items() if name not in _READINGS}


def _memory(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    made = dict(given)
    for group, names in (("alive", "holders"), ("growth", "grew")):
        found = given.get(group)
        if isinstance(found, dict) and len(found.get(names) or ()) > HOLDERS:
            made[group] = _largest(found, names)
    return made if made != given else None


def _largest(group: dict[str, Any], names: str) -> dict[str, Any]:
    held = sorted(group[names], key=lambda one: -one["bytes"])
    made = {**group, names: held[:HOLDERS]}
    if "rest" in group:
        # So that the parts still add up.
        made["rest"] = (group["rest"] or 0) + sum(one["bytes"] for one in held[HOLDERS:])
    return made


def _profile(given: Any) -> dict[str, Any] | None:
    """What is cut off is one row, so that each table still adds up."""
    if not isinstance(given, dict):
        return None
    made = dict(given)
    for name in TABLES:
        rows = given.get(name)
        if isinstance(rows, list) and len(rows) > ROWS + 1 and all(isinstance(row, list) for row in rows):
            made[name] = capped(name, rows, ROWS)
    found = given.get("findings")
    if isinstance(found, list):
        made["findings"] = found[:ROWS]
    return made if made != given else None


def _error(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    made = {
        name: value[-LETTERS:] if isinstance(value, str) and len(value) > LETTERS else value
        for name, value in given.items()
    }
    return made if made != given else None
