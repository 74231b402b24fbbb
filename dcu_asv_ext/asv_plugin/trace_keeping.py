"""Which kept traces stay: those of the newest commits of each machine and environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from ..evidence import traces
from ..evidence.store import SUFFIX
from .locks import Held, result_lock
from .result_files import list_files
from .session import Session, marker_of


@dataclass(frozen=True)
class Outdated:
    """Traces of one commit and environment. evidence: of theirs, whether or not it is there. bytes: on disk.
    held: why they stay for now."""

    evidence: Path
    bytes: int
    held: str = ""

    @property
    def file(self) -> str:
        return f"{self.evidence.parent.name}/{traces.folder_of(self.evidence).name}"


def outdated(folder: Path, keep: int, spared: Path | None = None) -> list[Outdated]:
    """Of a machine's folder those beyond the `keep` newest commits of their environment, by the commits' dates.

    spared: evidence whose traces stay whatever their commit's age, as those of the session that has just ended.
    Traces that no result and no evidence lies beside are of no commit, and beyond all.
    """
    stems = [name.removesuffix(traces.FOLDER) for name in os.listdir(folder) if name.endswith(traces.FOLDER)]
    known = {one.stem: one for one in list_files(folder)} if stems else {}
    by_env: dict[str, list[tuple[bool, int, str]]] = {}
    for stem in stems:
        file = known.get(stem)
        date = 0 if file is None else file.head()[1]
        by_env.setdefault(stem.partition("-")[2], []).append((file is not None, date, stem))
    found = []
    for dated in by_env.values():
        dated.sort(reverse=True)
        there = sum(1 for has_file, _, _ in dated if has_file)
        for _, _, stem in dated[min(keep, there) :]:
            evidence = folder / f"{stem}{SUFFIX}"
            if evidence != spared:
                found.append(Outdated(evidence, traces.size(evidence)))
    return sorted(found, key=lambda one: one.evidence.name)


def remove_outdated(
    found: Iterable[Outdated], dry_run: bool = False, mine: Collection[Path] = ()
) -> list[Outdated]:
    """Those that were removed (would be, in a dry run), and those that stay because a run writes beside them or is to
    be taken up. mine: evidence that this process itself holds. Raises OSError."""
    done = []
    for one in found:
        try:
            with nullcontext() if one.evidence in mine else _alone(one.evidence):
                if marker_of(one.evidence).exists():
                    done.append(replace(one, held="its session is not finished"))
                    continue
                if not dry_run:
                    traces.remove(one.evidence)
                done.append(one)
        except Held:
            done.append(replace(one, held="a run is writing it"))
    return done


@contextmanager
def _alone(evidence: Path) -> Iterator[None]:
    lock = result_lock(evidence)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def after_session(
    session: Session, keep: int, tell: Callable[[str], None], mine: Collection[Path] = ()
) -> None:
    """A session that kept traces has ended: older commits' go. What cannot be removed is told, and stays."""
    if session.evidence is None or not any(_kept(record) for record in session.records.values()):
        return
    try:
        done = remove_outdated(outdated(session.evidence.parent, keep, session.evidence), mine=mine)
    except OSError as fault:
        tell(f"traces of older commits could not be removed: {fault}")
        return
    gone = [one for one in done if not one.held]
    if gone:
        size = sum(one.bytes for one in gone) / (1 << 20)
        tell(
            f"the traces of {len(gone)} older {'commit' if len(gone) == 1 else 'commits'} were removed "
            f'({size:.1f} MiB; "keep_traces" is {keep}); what was read from them is in the evidence'
        )


def _kept(record: object) -> bool:
    profile = record.get("profile") if isinstance(record, dict) else None
    return isinstance(profile, dict) and bool(profile.get("trace"))
