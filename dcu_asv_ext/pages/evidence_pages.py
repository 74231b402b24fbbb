"""The evidence that is published, and its files: "e/<benchmark>/<place>-<number>", some commits in each.

A file is read for one benchmark alone. It has several commits because one of each would fill a disk's blocks with
little, and because what is the same in two measurements, which is most of it, packs together.
"""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..evidence.store import iter_lines
from . import matrices
from .cache import READERS, code_of, digest
from .evidence_choice import chosen
from .evidence_entries import FunctionEvidence, entries_of
from .model import Entry, Timeline, Unreadable, Work
from .writing import packed_text, slug

#: To be raised where what is kept of a commit's evidence changes.
FORM = 1
#: Whose code makes it.
_MADE_BY = (
    *READERS,
    *("pages/evidence_pages.py", "pages/evidence_entries.py", "pages/evidence_derived.py"),
)
#: Letters of the entries in one file, unless one alone has more: a fifteenth to a quarter of it is left when packed.
FULL = 500_000


def build(work: Work, timelines: Sequence[Timeline] = ()) -> None:
    """Writes "e/..." and "m/..."; leaves `work.evidence`, `work.evidence_files` and `work.matrices`.

    The evidence of older commits is made for the first time only as long as nobody waits.
    """
    left_out = 0
    for place, choices in itertools.groupby(chosen(work), key=lambda choice: choice.place):
        functions: dict[str, _Function] = {}
        for choice in choices:
            entry = work.entries[place, choice.commit]
            if choice.needed or is_kept(work, entry) or work.may_go_on():
                _take(work, entry, functions)
            else:
                left_out += 1
        for name, mine in sorted(functions.items()):
            told = [one for one in timelines if (one.function, one.place) == (name, place)]
            work.evidence_files[name, place] = [*_write(work, name, place, mine, told)]
    if left_out:
        work.notes.append(
            f"older results whose evidence is left to the next publish, since it takes long: {left_out}"
        )


def _take(work: Work, entry: Entry, functions: dict[str, _Function]) -> None:
    """Into the functions' files. A result that cannot be read is passed over, and told."""
    try:
        found = evidence_of(work, entry)
        matrices.publish(work, entry)
    except Unreadable as fault:
        work.notes.append(f"passed over: {fault}")
        return
    for one in found:
        mine = functions.setdefault(one.function, _Function(one.names))
        mine.entries += [(entry.commit, text) for text in one.entries]
    commits = work.evidence.setdefault(entry.place, [])
    commits.append(entry.commit)
    commits.sort()


# ---- of one result


def evidence_of(work: Work, entry: Entry) -> list[FunctionEvidence]:
    """Of each function that has some, as it was kept or made now. Raises Unreadable."""
    return _unpacked(work.cache.made(_key(entry), lambda: _packed(_make(work, entry))))


def is_kept(work: Work, entry: Entry) -> bool:
    return work.cache.get(_key(entry)) is not None


def _make(work: Work, entry: Entry) -> list[FunctionEvidence]:
    assert entry.evidence is not None
    results = work.results(entry)
    try:
        lines = [*iter_lines(work.results_dir / entry.evidence)]
    except OSError as fault:
        raise Unreadable(f"{entry.evidence} cannot be read ({fault.strerror or 'it is damaged'})") from None
    return entries_of(results, lines, entry.evidence, recorded=entry.result is not None)


def _key(entry: Entry) -> bytes:
    return digest("evidence", FORM, code_of(*_MADE_BY), entry.digest)


def _packed(functions: Iterable[FunctionEvidence]) -> bytes:
    """A line of JSON for each function, and one for each of its entries."""
    lines = []
    for one in functions:
        lines += [json.dumps([one.function, one.names, len(one.entries)]), *one.entries]
    return zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"), 6)


def _unpacked(data: bytes) -> list[FunctionEvidence]:
    lines = iter(zlib.decompress(data).decode("utf-8", "surrogatepass").split("\n"))
    found = []
    for line in lines:
        if not line:  # of a result without any evidence that can be read
            continue
        function, names, count = json.loads(line)
        found.append(FunctionEvidence(function, tuple(names), tuple(itertools.islice(lines, count))))
    return found


# ---- files


@dataclass
class _Function:
    """names: of the parameters, as the newest commit has them. entries: (ci, JSON text), in their files' order."""

    names: tuple[str, ...]
    entries: list[tuple[int, str]] = field(default_factory=list)


def _write(
    work: Work, function: str, place: int, mine: _Function, timelines: Sequence[Timeline]
) -> Iterator[list[int]]:
    """The commits of each file, in the files' order."""
    for number, entries in enumerate(_files(mine.entries)):
        commits = list(dict.fromkeys(commit for commit, _ in entries))
        head: Mapping[str, object] = {
            "function": function,
            "place": place,
            "names": mine.names,
            "traces": [
                {
                    "commit": work.commits[one.commit].hash,
                    "params": one.params,
                    "file": one.file,
                    "bytes": one.bytes,
                }
                for one in timelines
                if one.commit in commits
            ],
        }
        start = json.dumps(head, separators=(",", ":"), ensure_ascii=False)[:-1]
        text = f'{start},"commits":[{",".join(text for _, text in entries)}]}}'
        work.out.put_packed(f"e/{slug(function)}/{place}-{number}", packed_text(text))
        yield commits


def _files(entries: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    part: list[tuple[int, str]] = []
    letters = 0
    for one in entries:
        if part and letters + len(one[1]) > FULL:
            yield part
            part, letters = [], 0
        part.append(one)
        letters += len(one[1])
    yield part
