"""Parts of a record whose writer is not trusted: what is not of the kind that is asked for is not there."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any, TypeGuard


def at(record: Any, *path: str) -> Any:
    """What lies at the end of a path of names; None where the path does not go on."""
    for name in path:
        record = record.get(name) if isinstance(record, Mapping) else None
    return record


def group_of(record: Any, *path: str) -> Mapping[str, Any]:
    """The group there; {} for anything else."""
    found = at(record, *path)
    return found if isinstance(found, Mapping) else {}


def number(record: Any, *path: str) -> float | None:
    """The finite number there; None for anything else."""
    value = at(record, *path)
    return value if is_number(value) and math.isfinite(value) else None


def is_number(value: Any) -> TypeGuard[float]:
    """Truth values are none, and neither are integers that no float can hold."""
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= sys.float_info.max)
