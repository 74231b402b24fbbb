"""Change points that need not be found again: of a series they hang on nothing but its values and the rule."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import struct
from pathlib import Path

from .. import stats
from ..comparing.history import Change, Timeline, change_of, points_of
from ..stats import ChangePoint
from .cache import Cache, digest

#: To be raised where what is kept changes. What the rule is, its source tells.
FORM = 1


class ChangePoints:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def changes_of(self, line: Timeline) -> list[Change]:
        """As `comparing.history.changes_of`."""
        if line.few or line.negative:
            return []
        about = json.dumps([line.series.better, line.exact, line.series.points])
        key = digest(
            "change points", FORM, _rule(), about, struct.pack(f"<{len(line.values)}d", *line.values)
        )
        kept = self._cache.made(key, lambda: _packed(points_of(line)))
        return [change_of(line, ChangePoint(**one)) for one in json.loads(kept)]


def _packed(points: list[ChangePoint]) -> bytes:
    return json.dumps([dataclasses.asdict(one) for one in points]).encode()


@functools.cache
def _rule() -> bytes:
    """Digest of all that finds change points."""
    made = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(stats.__file__).parent.glob("*.py")):
        made.update(path.read_bytes())
    return made.digest()
