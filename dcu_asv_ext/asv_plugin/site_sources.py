"""What the pages are made of, from a project's configuration, repository and results.

A result file that is as it was at an earlier publish is hashed, not parsed.
"""

from __future__ import annotations

import functools
import heapq
import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..comparing.model import ResultSet
from ..evidence.packing import packed_path
from ..gates.configuration import GateConfigError, policy_of
from ..pages import comparisons_history
from ..pages.cache import Cache, digest
from ..pages.extracts import Extracts
from ..pages.model import Entry, Extract, Place, Unreadable, Work
from ..pages.model import Project as About
from ..pages.writing import Out
from . import site_repository
from .result_files import ResultFile, ResultsError, read_file
from .results import Project
from .settings import Settings

T = TypeVar("T")

#: To be raised where what is kept of a result file changes.
_FORM = 1
#: Of asv's description of a benchmark: what results are read by.
_MATTERS = ("family", "kind", "param_names", "rounds", "type", "unit")
#: Whole result sets kept in memory.
_WHOLE = 4
#: What a commit is named by. Files of the site, links and git's arguments are made of it.
_HASH = re.compile(r"[0-9A-Za-z]{7,}")
#: Letters of one that is none.
_SHOWN = 40
#: Of those that were parsed.
_NEWEST = 64


@dataclass(frozen=True)
class _Head:
    """What must be known of a result file before anything is made of it. names: of asv's benchmarks in it, sorted."""

    machine: str
    env: str
    commit: str
    date: int
    names: tuple[str, ...]


class Sources:
    """Reads the result files of a project, each as few times as can be.

    only: results of these commits (full hashes), None: all. heads: of all files that could be read, by the digest of
    what is made of them; notes: on the others.
    """

    def __init__(self, project: Project, cache: Cache, only: Collection[str] | None = None) -> None:
        self.notes: list[str] = []
        self.heads: dict[str, _Head] = {}
        self.files: dict[str, ResultFile] = {}
        self._project, self._cache, self._only = project, cache, only
        self._extracts = Extracts(cache)
        self._made: dict[str, Extract] = {}
        self._newest: list[tuple[int, str, ResultSet]] = []
        self._lending: list[tuple[int, str, bytes]] = []
        self._names: dict[str, tuple[str, ...]] = {}
        self._abouts: dict[tuple[str, ...], bytes] = {}
        self._whole = functools.lru_cache(_WHOLE)(functools.partial(self._read, steady=True))
        self._uncut = functools.lru_cache(_WHOLE)(functools.partial(self._read, steady=False))
        for machine in project.machines():
            for file in project.files(machine):
                try:
                    self._take(file, machine)
                except ResultsError as fault:
                    self.notes.append(f"passed over: {self._below(fault)}")
        for _, name, packed in self._lending:
            comparisons_history.keep(cache, name, packed)
        self._lending.clear()

    def _take(self, file: ResultFile, machine: str) -> None:
        """Raises ResultsError."""
        content = _content(file, machine)
        key = digest("head", _FORM, content)
        head, results = self._kept_head(key), None
        if head is None:
            results = read_file(file, self._project.benchmarks, steady=False)
            head = self._keep_head(key, results)
        if not _HASH.fullmatch(head.commit):
            raise ResultsError(f"{machine}/{file.stem} tells no commit's hash, but {head.commit[:_SHOWN]!r}")
        if self._only is not None and head.commit not in self._only:
            return
        name = digest("result", _FORM, content, self._about(head.names)).hex()
        self.heads[name], self.files[name] = head, file
        if results is not None:
            self._made[name] = self._extracts.make(bytes.fromhex(name), results)
            self._remember(name, results)

    def _remember(self, name: str, results: ResultSet) -> None:
        """The newest are about to be compared, and lend their rounds. Those with evidence are too large to be kept
        whole."""
        if not results.records:
            _push(self._newest, results.date, name, lambda: results)
        else:
            _push(self._lending, results.date, name, lambda: comparisons_history.pack(results))

    def _kept_head(self, key: bytes) -> _Head | None:
        kept = self._cache.get(key)
        if kept is None:
            return None
        machine, env, commit, date, names = json.loads(kept)
        if names not in self._names:
            told = self._cache.get(bytes.fromhex(names))
            if told is None:
                return None
            self._names[names] = tuple(json.loads(told))
        return _Head(machine, env, commit, date, self._names[names])

    def _keep_head(self, key: bytes, results: ResultSet) -> _Head:
        names = tuple(sorted({one.asv_name for one in results.series.values()}))
        told = json.dumps(names).encode()
        place = digest("names", _FORM, told)
        self._cache.put(place, told)
        head = [results.machine, results.env, results.commit, results.date, place.hex()]
        self._cache.put(key, json.dumps(head).encode())
        return _Head(results.machine, results.env, results.commit, results.date, names)

    def _about(self, names: tuple[str, ...]) -> bytes:
        """Digest of what asv's descriptions tell of these benchmarks."""
        if names not in self._abouts:
            known = self._project.benchmarks
            told = [[known.get(name, {}).get(one) for one in _MATTERS] for name in names]
            self._abouts[names] = digest("about", _FORM, json.dumps(told))
        return self._abouts[names]

    # ---- for the builders

    def extract(self, entry: Entry) -> Extract:
        if entry.digest not in self._made:
            found = self._extracts.find(bytes.fromhex(entry.digest))
            if found is None:
                found = self._extracts.make(bytes.fromhex(entry.digest), self.uncut(entry))
            self._made[entry.digest] = found
        return self._made[entry.digest]

    def results(self, entry: Entry) -> ResultSet:
        return self._whole(entry.digest)

    def uncut(self, entry: Entry) -> ResultSet:
        return self._uncut(entry.digest)

    def _read(self, name: str, steady: bool) -> ResultSet:
        # Without evidence there is nothing to cut.
        found = next((one for _, known, one in self._newest if known == name), None)
        if found is not None:
            return found
        try:
            return read_file(self.files[name], self._project.benchmarks, steady=steady)
        except ResultsError as fault:
            raise Unreadable(self._below(fault)) from None

    def _below(self, fault: ResultsError) -> str:
        """What is published tells no paths of the machine."""
        return str(fault).replace(f"{self._project.results_dir}/", "")


def _push(newest: list[tuple[int, str, T]], date: int, name: str, make: Callable[[], T]) -> None:
    """Keep the newest few, which alone are made."""
    if len(newest) < _NEWEST:
        heapq.heappush(newest, (date, name, make()))
    elif date > newest[0][0]:
        heapq.heapreplace(newest, (date, name, make()))


def _content(file: ResultFile, machine: str) -> bytes:
    """Digest of the bytes of both files, and of their names, which tell what the files themselves may not.

    Raises ResultsError.
    """
    parts = []
    evidence = file.evidence
    try:
        for path in (file.result, evidence, evidence and packed_path(evidence)):
            there = path is not None and path.is_file()
            parts.append(path.read_bytes() if path is not None and there else b"")
    except OSError as fault:
        raise ResultsError(f"{machine}/{file.stem} cannot be read ({fault.strerror or fault})") from None
    return digest("content", _FORM, machine, file.stem, *parts)


def make_pages(
    conf: Any,
    settings: Settings,
    repo: Any,
    range_spec: Any,
    folder: Path,
    kept: Path,
    may_go_on: Callable[[], bool],
) -> list[str]:
    """The pages and their data, in `folder`; the notes on it. Raises OSError where something cannot be written.

    conf, repo: asv's. range_spec: of the commits whose results count, as asv takes it. kept: folder of the cache.
    """
    from asv.plugins.git import Git

    from ..pages.building import build
    from ..site.pages_assets import copy_pages

    copy_pages(folder)
    cache = Cache(kept)
    project = Project(Path.cwd(), Path(conf.results_dir).resolve(), list(conf.branches), repo)
    if repo.dvcs == "git":
        local = Git.is_local_repo(conf.repo)
        project.git_dir = Path(conf.repo if local else conf.project).resolve()
    only = None
    if range_spec is not None:
        given = isinstance(range_spec, list)
        only = set(range_spec if given else repo.get_hashes_from_range(range_spec))
    work = work_of(conf, project, settings, Sources(project, cache, only), Out(folder / "data"), cache)
    work.may_go_on = may_go_on
    build(work)
    cache.close()
    return [*cache.notes, *work.notes]


def work_of(
    conf: Any, project: Project, settings: Settings, sources: Sources, out: Out, cache: Cache
) -> Work:
    """Everything that the builders need. conf: asv's configuration; project, sources: of the same project."""
    measured: dict[str, int] = {}
    for head in sources.heads.values():
        measured[head.commit] = max(head.date, measured.get(head.commit, 0))
    history = site_repository.history_of(project, measured)
    commits = {one.hash: place for place, one in enumerate(history.commits)}
    places = sorted({Place(one.machine, one.env) for one in sources.heads.values()})
    numbers = {one: number for number, one in enumerate(places)}
    entries: dict[tuple[int, int], Entry] = {}
    notes = [*sources.notes, *history.notes]
    for name, head in sources.heads.items():
        where = numbers[Place(head.machine, head.env)], commits[head.commit]
        file = sources.files[name]
        if where in entries:
            notes.append(
                f"passed over: {file.stem} of {head.machine}, since another file has the same commit and environment"
            )
            continue
        names = (_below(project.results_dir, one) for one in (file.result, file.evidence))
        entries[where] = Entry(*where, name, *names)
    policy, fault = _policy(settings)
    return Work(
        About(
            str(conf.project),
            str(conf.project_url or ""),
            str(conf.show_commit_url or ""),
            int(conf.hash_length),
            str(conf.benchmark_dir),
        ),
        history.commits,
        history.branches,
        history.tags,
        places,
        entries,
        project.benchmarks,
        sources.extract,
        sources.results,
        project.results_dir,
        out,
        cache,
        uncut=sources.uncut,
        line_of=functools.partial(site_repository.line_of, project),
        policy=policy,
        policy_fault=fault,
        published_evidence=settings.published_evidence,
        compare_all=settings.compare_all,
        notes=notes,
    )


def _below(folder: Path, path: Path | None) -> str | None:
    return None if path is None else path.relative_to(folder).as_posix()


def _policy(settings: Settings) -> tuple[Any, str]:
    """Of the gates, or None and why there is none."""
    try:
        return policy_of(dict(settings.gate)), ""
    except GateConfigError as fault:
        return None, str(fault)
