"""Which commits the pages compare, and the files that tell it: "c/<place>/<before>-<after>".

What anybody looks for first is always there (`heads`): the newest commit of each branch against the one before it,
the newest tags and the other branches. The others are made as long as nobody waits for them, and kept from then on.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from .cache import READERS, code_of, digest
from .comparisons_history import Lenders
from .comparisons_pair import compared
from .model import Branch, Entry, Unreadable, Work
from .writing import packed

#: Raised where a comparison's file tells it in another form.
FORM = 1
#: The packages whose code decides; where any of it changes, what it said before is out of date.
_DECIDE = (*READERS, "gates", "pages/comparisons_pair.py")
#: Tags that a branch's head is compared with: the newest that were measured.
TAGS = 3

#: So many that nobody waits for are made all the same: those of a short history, and of a new commit or two.
FEW = 12
#: Of the files of those that nobody waits for, unless all are asked for: a site holds some two hundred.
BYTES = 4 << 20
_LEFT_OUT = (
    f"of the comparisons of commits with the one before them those of the newest are published, {BYTES >> 20} MiB; "
    '"dcu": {"compare_all": true} publishes all of them'
)

_NOT_YET = (
    "{} comparisons of older commits are not made yet, since they take longer than asv's part of a publish: later "
    'publishes go on, and "dcu": {{"compare_all": true}} makes all of them at once'
)

PREDECESSOR, TAG, BRANCH = "predecessor", "tag", "branch"


class Pair(NamedTuple):
    """Positions in `Work.places` and `Work.commits`."""

    place: int
    before: int
    after: int


class Base(NamedTuple):
    """What a commit is compared with: the measured commit before it ("predecessor"), a tag or another branch."""

    kind: str
    name: str
    commit: int


class Comparer:
    """Makes comparisons, each at most once, and writes their files; those of an earlier publish whose sides, history
    and settings are as they were come from the cache."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lenders = Lenders(work)
        self._made = set(work.comparisons)

    def told(self, pair: Pair) -> dict[str, Any] | str:
        """The comparison, made if it is not there yet, or a sentence on why there is none."""
        try:
            text = self._text(pair)
        except (NotMeasured, Unreadable) as fault:
            return str(fault)
        self._put(pair, text)
        found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
        return found

    def publish(self, pair: Pair, make: bool = True) -> bool:
        """Whether the comparison has its file now. make: not only where it is kept."""
        if self.has(pair):
            return True
        try:
            text = self._text(pair) if make else self._kept(pair)
        except (NotMeasured, Unreadable):
            # The result is passed over everywhere, and told by who found it so.
            return False
        if text is not None:
            self._put(pair, text)
        return text is not None

    def has(self, pair: Pair) -> bool:
        return pair in self._made

    def _put(self, pair: Pair, text: str) -> None:
        if self.has(pair):
            return
        self._made.add(pair)
        before, after = (self._work.commits[one].short for one in pair[1:])
        self._work.out.put_packed(f"c/{pair.place}/{before}-{after}", text)
        self._work.comparisons.append((pair.place, pair.before, pair.after))

    def _text(self, pair: Pair) -> str:
        return self._kept(pair) or self._compare(pair)

    def _kept(self, pair: Pair) -> str | None:
        found = self._work.cache.get(self._key(pair, *self._sides(pair)))
        return None if found is None else found.decode()

    def _compare(self, pair: Pair) -> str:
        work = self._work
        before, after = self._sides(pair)
        history, notes = self._lenders.sets(self._lenders.entries(pair.place, pair.before))
        made = compared(
            work.results(before),
            work.results(after),
            history,
            notes=notes,
            policy=work.policy,
            policy_fault=work.policy_fault,
        )
        text = packed(made)
        work.cache.put(self._key(pair, before, after), text.encode())
        return text

    def _sides(self, pair: Pair) -> tuple[Entry, Entry]:
        """Raises NotMeasured."""
        found = []
        for commit in (pair.before, pair.after):
            entry = self._work.entries.get((pair.place, commit))
            if entry is None:
                place = self._work.places[pair.place]
                short = self._work.commits[commit].short
                raise NotMeasured(f"{short} was not measured on {place.machine} in {place.env}")
            found.append(entry)
        return found[0], found[1]

    def _key(self, pair: Pair, before: Entry, after: Entry) -> bytes:
        """Of all that the comparison hangs on. A result's digest tells its machine, environment and commit too."""
        history = [one.digest for one in self._lenders.entries(pair.place, pair.before)]
        settings = repr(self._work.policy) if self._work.policy is not None else self._work.policy_fault
        return digest("comparison", FORM, code_of(*_DECIDE), settings, before.digest, after.digest, *history)


class NotMeasured(Exception):
    """A side has no result; the text says which."""


def heads(work: Work) -> Iterator[tuple[Branch, int, int]]:
    """The newest measured commit of each branch at each place: (branch, place, commit)."""
    for branch in work.branches.values():
        for place in range(len(work.places)):
            if (found := _newest(work, branch, place)) is not None:
                yield branch, place, found


def _newest(work: Work, branch: Branch, place: int) -> int | None:
    return next((one for one in reversed(branch.commits) if (place, one) in work.entries), None)


def bases(work: Work, branch: Branch, place: int, head: int) -> Iterator[Base]:
    """What a branch's head is compared with."""
    line = branch.commits[: branch.commits.index(head)]
    before = next((one for one in reversed(line) if (place, one) in work.entries), None)
    if before is not None:
        yield Base(PREDECESSOR, work.commits[before].short, before)
    tagged = [(name, at) for name, at in work.tags.items() if at != head and (place, at) in work.entries]
    newest = sorted(tagged, key=lambda one: (work.commits[one[1]].date, one[1], one[0]), reverse=True)
    yield from (Base(TAG, name, at) for name, at in newest[:TAGS])
    for other in work.branches.values():
        at = _newest(work, other, place)
        if other.name != branch.name and at is not None and at != head:
            yield Base(BRANCH, other.name, at)


def build(work: Work) -> None:
    """The comparisons that nobody waits for: both sides of each change, and each commit against the one before it,
    the newest first. What is kept of an earlier publish is written first."""
    comparer, end = Comparer(work), work.out.bytes + BYTES
    pairs = list(wanted(work))
    for make in (False, True):
        open_pairs = [pair for pair in pairs if not comparer.has(pair)]
        wait = work.compare_all or (make and len(open_pairs) <= FEW)
        for number, pair in enumerate(open_pairs):
            if not work.compare_all and work.out.bytes >= end:
                work.notes.append(_LEFT_OUT)
                return
            if make and not wait and not work.may_go_on():
                work.notes.append(_NOT_YET.format(len(open_pairs) - number))
                return
            comparer.publish(pair, make)


def wanted(work: Work) -> Iterator[Pair]:
    """In the order of what is looked for first."""
    found = dict.fromkeys(Pair(*one) for one in work.change_pairs)
    found.update(dict.fromkeys(sorted(_neighbours(work), key=lambda one: (-one.after, one.place))))
    yield from found


def _neighbours(work: Work) -> Iterator[Pair]:
    """Each measured commit of a branch after the measured one before it."""
    for branch in work.branches.values():
        for place in range(len(work.places)):
            line = [one for one in branch.commits if (place, one) in work.entries]
            yield from (Pair(place, before, after) for before, after in itertools.pairwise(line))
