"""The extracts of a place as columns: of each key its figures over all commits, and the runs of these that belong to
one timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..comparing.history import parts
from ..comparing.model import FAILED, Key, Series
from .model import Extract, Shape, Unreadable, Work

if TYPE_CHECKING:
    from ..comparing.identity import Identity

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
#: (commit, why there is no figure).
Gaps = list[tuple[int, str]]


@dataclass(frozen=True, eq=False)
class Block:
    """Extracts that agree in their shape, and in where the rounds' medians of each key lie. commits: rising.
    values, counts: (commits, keys). medians: (commits, all rounds); those of a key end at `ends`."""

    shape: Shape
    commits: Ints
    values: Floats
    counts: Ints
    medians: NDArray[np.float32]
    ends: Sequence[int]


@dataclass(frozen=True, eq=False)
class Column:
    """The finite figures of a key at a place, by commit. medians: of the rounds, one point after another; `lengths`
    of a point are 0 where its `counts` rounds are all equal to its value. blocks: which of `origins` a point is of.
    """

    key: Key
    commits: Ints
    values: Floats
    counts: Ints
    medians: Floats
    lengths: Ints
    blocks: Ints
    origins: Sequence[Origin]

    def take(self, places: Ints) -> Column:
        """The points at these positions, in this order."""
        starts = np.cumsum(self.lengths) - self.lengths
        lengths = self.lengths[places]
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Column(
            self.key,
            self.commits[places],
            self.values[places],
            self.counts[places],
            self.medians[np.repeat(starts[places], lengths) + inside],
            lengths,
            self.blocks[places],
            self.origins,
        )

    @property
    def series(self) -> Series:
        """As the newest result has it."""
        return self.origins[int(self.blocks[-1])].series


@dataclass(frozen=True, eq=False)
class Origin:
    """What a key's figures in one block hang on."""

    series: Series
    version: str | None
    protocol: int | None
    identity: Identity | None

    def same(self, other: Origin) -> bool:
        """Whether no timeline ends between them."""
        return (
            self.version == other.version
            and self.protocol == other.protocol
            and (self.identity is other.identity or _digest(self.identity) == _digest(other.identity))
        )


@dataclass(frozen=True)
class Part:
    """Points of a column that may be compared with each other. series: as the newest of the whole column has it."""

    column: Column
    series: Series
    version: str | None
    protocol: int | None
    set_up: Mapping[str, str]


@dataclass(frozen=True)
class _Run:
    """Neighbouring points from `place` up to `end` that hang on the same."""

    place: int
    end: int
    version: str | None
    protocol: int | None
    identity: Identity | None


@dataclass
class Columns:
    """All results of one place. dirty: commits that were measured from a changed tree; they have no figures here.
    notes: what was passed over."""

    blocks: list[Block]
    failed: dict[Key, Gaps] = field(default_factory=dict)
    missing: dict[Key, Gaps] = field(default_factory=dict)
    dirty: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def keys(self) -> list[Key]:
        return sorted({key for block in self.blocks for key in block.shape.keys})

    def column(self, key: Key) -> Column | None:
        """None where it never had a finite figure."""
        mine = [block for block in self.blocks if key in block.shape.index]
        pieces = [_piece(block, block.shape.index[key]) for block in mine]
        made = Column(
            key,
            np.concatenate([block.commits for block in mine]),
            np.concatenate([piece[0] for piece in pieces]),
            np.concatenate([piece[1] for piece in pieces]),
            np.concatenate([piece[2] for piece in pieces]),
            np.concatenate([piece[3] for piece in pieces]),
            np.repeat(np.arange(len(mine)), [len(block.commits) for block in mine]),
            [_origin(block.shape, block.shape.index[key]) for block in mine],
        )
        order = np.argsort(made.commits, kind="stable")
        order = order[np.isfinite(made.values[order])]
        return made.take(order) if len(order) else None


def read(work: Work, place: int) -> Columns:
    """Of the results of a place (a position in `work.places`)."""
    grouped: dict[tuple[int, bytes], list[tuple[int, Extract]]] = defaultdict(list)
    found = Columns([])
    for commit in work.measured(place):
        try:
            extract = work.extract(work.entries[place, commit])
        except Unreadable as fault:
            found.notes.append(f"passed over: {fault}")
            continue
        found.notes += extract.notes
        if extract.dirty:
            found.dirty.append(commit)
            continue
        grouped[id(extract.shape), extract.ends.tobytes()].append((commit, extract))
        for at, (state, reason) in extract.reasons.items():
            gaps = found.failed if state == FAILED else found.missing
            gaps.setdefault(extract.shape.keys[at], []).append((commit, reason))
    found.blocks = [_block(members) for members in grouped.values()]
    return found


def split(column: Column) -> Iterator[Part]:
    """The column's timelines, by the rules of `comparing.history`."""
    series = column.series
    for version, protocol, set_up, runs in parts(list(_runs(column))):
        whole = len(runs) == 1 and runs[0].end - runs[0].place == len(column.commits)
        points = (
            column if whole else column.take(np.concatenate([np.arange(one.place, one.end) for one in runs]))
        )
        yield Part(points, series, version, protocol, set_up)


def _runs(column: Column) -> Iterator[_Run]:
    blocks = column.blocks
    start, last = 0, len(blocks)
    for end in [*(np.flatnonzero(np.diff(blocks)) + 1).tolist(), last]:
        origin = column.origins[blocks[start]]
        if end == last or not origin.same(column.origins[blocks[end]]):
            yield _Run(start, end, origin.version, origin.protocol, origin.identity)
            start = end


def _digest(identity: Identity | None) -> str | None:
    return None if identity is None else identity.digest


def _origin(shape: Shape, at: int) -> Origin:
    return Origin(shape.series[at], shape.versions[at], shape.protocols[at], shape.set_ups[at])


def _block(members: Sequence[tuple[int, Extract]]) -> Block:
    first = members[0][1]
    return Block(
        first.shape,
        np.array([commit for commit, _ in members]),
        np.array([np.asarray(one.values) for _, one in members]),
        np.array([np.asarray(one.counts) for _, one in members], dtype=np.intp),
        np.array([np.asarray(one.medians) for _, one in members]),
        first.ends.tolist(),
    )


def _piece(block: Block, at: int) -> tuple[Floats, Ints, Floats, Ints]:
    """Values, counts, medians and their lengths."""
    start, end = block.ends[at - 1] if at else 0, block.ends[at]
    medians = block.medians[:, start:end].astype(np.float64).ravel()
    lengths = np.full(len(block.commits), end - start, dtype=np.intp)
    return block.values[:, at], block.counts[:, at], medians, lengths
