"""Making a results folder small again: evidence packed, old evidence thinned. asv's own files are never touched."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..comparing.model import EVIDENCE, FAILED, Key, Side
from ..comparing.reading import is_sound
from ..comparing.sessions import moment, sessions_of
from ..evidence import packing, store
from ..evidence.thinning import thin
from .locks import Held, result_lock
from .result_files import ResultFile, ResultsError, read_file
from .session import marker_of

Record = dict[str, Any]


@dataclass
class Pruned:
    """One evidence file. before, after: bytes on disk. dropped, thinned: measurements. kept: why nothing was done.
    damaged: it cannot be read."""

    file: str
    before: int
    after: int
    dropped: int = 0
    thinned: int = 0
    kept: str = ""
    damaged: bool = False


def prune_file(
    file: ResultFile,
    benchmarks: Mapping[str, Any],
    older_than: datetime.datetime | None,
    dry_run: bool = False,
) -> Pruned:
    """Pack a finished commit's evidence, and thin what was measured before `older_than` (None: nothing).

    An unfinished session's evidence, one that a run is writing, and one that cannot be read stay as they are, with
    the reason in `kept`. Raises OSError where the folder cannot be written.
    """
    path = file.evidence
    assert path is not None
    size = _size(path)
    done = Pruned(f"{path.parent.name}/{path.name}", size, size)
    if marker_of(path).exists():
        done.kept = "its session is not finished: `asv run` of this commit takes it up"
        return done
    try:
        with _locked(path):
            try:
                lines = list(store.iter_lines(path))
            except OSError as fault:
                done.kept, done.damaged = str(fault), True
                return done
            if older_than is not None:
                lines = _thinned(file, benchmarks, lines, older_than, done)
            _store(path, lines, done, dry_run)
    except Held:
        done.kept = "a run is writing it"
    except ResultsError as fault:
        done.kept = str(fault)
    return done


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = result_lock(path)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in (path, packing.packed_path(path)) if one.is_file())


def _store(path: Path, lines: Sequence[str], done: Pruned, dry_run: bool) -> None:
    text = "".join(lines)
    data = packing.packed(text)
    done.after = len(data)
    as_it_is = not path.exists() and not done.dropped and not done.thinned
    if dry_run or as_it_is:
        return
    # One file after the other: between the two a reader finds both forms, and each line once. What goes has to be
    # gone from the plain form before the packed one is written.
    if path.exists() and (done.dropped or done.thinned):
        store.unpack(path)
        store.replace_text(path, text)
    packing.replace_bytes(packing.packed_path(path), data)
    path.unlink(missing_ok=True)


def _thinned(
    file: ResultFile,
    benchmarks: Mapping[str, Any],
    lines: Sequence[str],
    older_than: datetime.datetime,
    done: Pruned,
) -> list[str]:
    """The lines that stay. Lines that are no evidence stay as they are."""
    records = [store.parse_line(line) for line in lines]
    sound = [record for record in records if record is not None and is_sound(record)]
    # Which rounds asv's file is made of does not hang on where they became steady.
    replaced = _replaced(sound, read_file(file, benchmarks, steady=False).sides)
    kept = []
    for line, record in zip(lines, records, strict=True):
        if record is None or not is_sound(record) or not _is_old(record, older_than):
            kept.append(line)
        elif _place(record) in replaced:
            done.dropped += 1
        elif (made := thin(record)) is record:
            kept.append(line)
        else:
            done.thinned += 1
            kept.append(json.dumps(made, separators=(",", ":")) + "\n")
    return kept


def _is_old(record: Record, older_than: datetime.datetime) -> bool:
    started = moment(str(record["started_at"]))
    return started is not None and started < older_than


#: (benchmark, values of its parameters, session, round)
_Place = tuple[str, tuple[str, ...], str, int]


def _place(record: Record) -> _Place:
    return (
        record["benchmark"],
        tuple(record["params"].values()),
        str(record["session"] or ""),
        record["round"],
    )


def _replaced(records: Iterable[Record], sides: Mapping[Key, Side]) -> set[_Place]:
    """Measurements that no figure of asv's file is made of. Where a benchmark's figures do not all come from the
    evidence, or one has failed, none of its measurements counts as replaced."""
    groups: dict[tuple[str, tuple[str, ...]], list[Record]] = {}
    for record in records:
        groups.setdefault((record["benchmark"], tuple(record["params"].values())), []).append(record)
    of_group: dict[tuple[str, tuple[str, ...]], list[Side]] = {}
    for key, side in sides.items():
        of_group.setdefault((key.benchmark, key.params), []).append(side)
    found: set[_Place] = set()
    for group, own in groups.items():
        known = of_group.get(group, [])
        if not any(side.rounds for side in known) or any(_keeps_all(side) for side in known):
            continue
        used = {(*group, one.session, one.number) for side in known for one in side.rounds}
        newest = {_place(record) for record in sessions_of(own)[-1]}
        found |= {_place(record) for record in own} - used - newest
    return found


def _keeps_all(side: Side) -> bool:
    return side.state == FAILED or bool(side.conflict) or (bool(side.rounds) and side.source != EVIDENCE)
