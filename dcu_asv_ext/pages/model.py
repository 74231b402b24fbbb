"""What the pages are made of: the commits, branches, machines and results of a project, and what is known of each
result without reading its files again."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..comparing.history import Commit
from ..comparing.model import FAILED, MISSING, OK, Key, ResultSet, Series
from .writing import Out

if TYPE_CHECKING:
    from ..comparing.identity import Identity
    from ..gates.policy import Policy
    from .cache import Cache


@dataclass(frozen=True, order=True)
class Place:
    """What a series is of. Pages name it by its position in `Work.places` (`pi`), addresses by its key."""

    machine: str
    env: str

    @property
    def key(self) -> str:
        return f"{self.machine}~{self.env}"


@dataclass(frozen=True)
class Entry:
    """One result: of a place and a commit (positions in `Work.places` and `Work.commits`).

    digest: hex, of all that is made of it: the bytes of asv's file and of the evidence, and what asv's descriptions
    tell of its benchmarks. The same digest is the same result. result, evidence: names of the files below the results
    folder with slashes; one of the two may not be there. The evidence's is its plain name, though it may be packed.
    """

    place: int
    commit: int
    digest: str
    result: str | None
    evidence: str | None


@dataclass(frozen=True)
class Branch:
    """line: all its commits, measured or not, oldest first; first parents only. commits: positions in `Work.commits`
    of those that the pages name, oldest first; numbers: the position of each of them in `line`. The head is the last
    of both. Without a repository: all that have results, by date."""

    name: str
    line: Sequence[Commit]
    commits: Sequence[int]
    numbers: Sequence[int]

    @property
    def head(self) -> int | None:
        return self.commits[-1] if self.commits else None


@dataclass(frozen=True, eq=False)
class Shape:
    """What most results of a history have in common, kept once for all of them: their keys in order, and for each key
    its series, version, protocol and set-up. Results that agree in all of it have the very same Shape, so that what
    is worked out for one of them (`shape.index`) holds for thousands."""

    keys: tuple[Key, ...]
    series: tuple[Series, ...]
    versions: tuple[str | None, ...]
    protocols: tuple[int | None, ...]
    set_ups: tuple[Identity | None, ...]
    index: Mapping[Key, int]


@dataclass(frozen=True, eq=False)
class Extract:
    """The figures of one result, as a history shows them (nothing is cut from them), by position in `shape.keys`.

    values: in the unit of the series, NaN where there is none; then `reasons` says why: "failed" or "missing", and a
    sentence. counts: of rounds. medians: the medians of the rounds, 7 digits, of all keys one after another; ends:
    where those of a key end. A key whose rounds are all equal to its value has a count, and no medians.
    facts: of the newest measurement, flat name -> text, without figures of the moment (comparing/facts.py).
    date: milliseconds since the epoch. dirty: of a changed working tree, which no history has. notes: what reading it
    passed over.
    """

    shape: Shape
    values: array[float]
    counts: array[int]
    medians: array[float]
    ends: array[int]
    reasons: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    date: int = 0
    dirty: bool = False
    notes: tuple[str, ...] = ()

    def state(self, at: int) -> str:
        """ "ok", "failed" or "missing"."""
        return self.reasons[at][0] if at in self.reasons else OK

    def rounds(self, at: int) -> Sequence[float] | int:
        """The rounds' medians; a number n where all n are equal to the value (0: no rounds are known)."""
        start = self.ends[at - 1] if at else 0
        return self.medians[start : self.ends[at]] if self.ends[at] > start else self.counts[at]

    def failed(self) -> Iterator[tuple[Key, str]]:
        return self._without(FAILED)

    def missing(self) -> Iterator[tuple[Key, str]]:
        return self._without(MISSING)

    def _without(self, wanted: str) -> Iterator[tuple[Key, str]]:
        for at, (state, reason) in self.reasons.items():
            if state == wanted:
                yield self.shape.keys[at], reason


@dataclass(frozen=True)
class Timeline:
    """The page of a kept trace. place, commit: positions. params: values of the parameters. file: below the pages'
    folder."""

    function: str
    place: int
    commit: int
    params: tuple[str, ...]
    file: str
    bytes: int


@dataclass(frozen=True)
class Project:
    """As asv.conf.json has it. hash_length: letters of a hash that asv's pages show."""

    name: str = ""
    url: str = ""
    show_commit_url: str = "#"
    hash_length: int = 8
    benchmark_dir: str = ""


@dataclass
class Work:
    """Everything that the data of the pages are made of, and where they are written.

    commits: all that the pages name, oldest first: measured ones, those of tags, and branch heads. Its positions
    (`ci`) and those of `places` (`pi`) stand for them everywhere. tags: name -> ci. entries: (pi, ci) -> result.
    benchmarks: asv's descriptions by name. extract, results: of an entry; an extract is cheap and kept, a whole
    result set is read from its files as `dcu-asv compare` reads it, which takes long; uncut: as that reads the
    results before the two sides (None: as `results`). All of them raise Unreadable.
    line_of: a commit's own first parents and itself, full hashes, oldest first; None where the repository does not
    know it. Asked of commits that lie on no branch's line.
    policy: of the gates; None with the reason in `policy_fault`. published_evidence, compare_all: settings.
    may_go_on: False once nobody should wait for more: what is optional then stops. notes: sentences on what was
    passed over, shown on the pages and on the console.

    What one builder leaves for the others: comparisons: (pi, ci before, ci after) of each file in c/; evidence: pi ->
    ci that have files in e/; matrices: (pi, ci) of each file in m/; parts: (function, pi) -> keys of its files in b/;
    combos: (function, pi) -> the combinations of parameters in each of these files; change_pairs: (pi, ci before,
    ci after), the two sides of each change point, newest first. evidence_files: (function, pi) -> the commits in each
    of its files in e/ (file n is the n-th list).
    """

    project: Project
    commits: list[Commit]
    branches: dict[str, Branch]
    tags: dict[str, int]
    places: list[Place]
    entries: dict[tuple[int, int], Entry]
    benchmarks: Mapping[str, Any]
    extract: Callable[[Entry], Extract]
    results: Callable[[Entry], ResultSet]
    results_dir: Path
    out: Out
    cache: Cache
    uncut: Callable[[Entry], ResultSet] | None = None
    line_of: Callable[[str], Sequence[str] | None] = lambda commit: None
    policy: Policy | None = None
    policy_fault: str = ""
    published_evidence: int = 20
    compare_all: bool = False
    may_go_on: Callable[[], bool] = lambda: True
    notes: list[str] = field(default_factory=list)
    comparisons: list[tuple[int, int, int]] = field(default_factory=list)
    evidence: dict[int, list[int]] = field(default_factory=dict)
    matrices: list[tuple[int, int]] = field(default_factory=list)
    parts: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    combos: dict[tuple[str, int], list[list[tuple[str, ...]]]] = field(default_factory=dict)
    change_pairs: list[tuple[int, int, int]] = field(default_factory=list)
    evidence_files: dict[tuple[str, int], list[list[int]]] = field(default_factory=dict)

    def measured(self, place: int) -> list[int]:
        """The commits that have a result there, oldest first."""
        return sorted(commit for where, commit in self.entries if where == place)


class Unreadable(Exception):
    """A result file that cannot be read (any more); the text says why. It is passed over, and told in the notes."""
