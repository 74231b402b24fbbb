"""Seconds of `asv publish` with the plugin and without, first and again, and the room that the site takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import packed_history, site_history
from .report import Row

_TURNS = 3
_WITH, _WITHOUT, _BARE = "with", "without", "bare"


def rows(root: Path, data: Path | None) -> list[Row]:
    """data: the folder that has the packed history of a real project, None to do without."""
    # The evidence of 60 commits is read and published the first time, and asv has no like of it.
    found = _told(root / "made", "200 made-up commits x 200 series", _made(200), None)
    if data is not None:
        packed = data / "django_asv_results.tar.gz"

        def unpack(place: Path, plugin: bool) -> None:
            packed_history.unpack(packed, place, plugin)

        found += _told(root / "django", "django's 200 commits x 66 series", unpack, 1.2)
    return found


def long_rows(root: Path) -> list[Row]:
    """Ten times the history, with 40 functions of five metrics."""
    seconds, sizes = {}, {}
    for commits in (200, 2000):
        for name in (_WITH, _WITHOUT):
            place = root / f"{name}-{commits}"
            site_history.write(place, commits, plugin=name == _WITH)
            taken = [_publish(place, fresh=True) for _ in range(_TURNS if commits == 200 else 1)]
            seconds[name, commits] = min(taken) / commits
            sizes[name, commits] = _room(place / "html")
    largest = max(one.stat().st_size for one in (root / f"{_WITH}-2000" / "html" / "dcu").rglob("*.js"))
    return [
        Row("publish, a result of 2 000 commits to one of 200", seconds[_WITH, 2000], seconds[_WITH, 200], "s", 1.1),
        Row("publish of 2 000 commits", seconds[_WITH, 2000], seconds[_WITHOUT, 2000], "s a result", 1.2, "asv"),
        Row("site of 2 000 commits", sizes[_WITH, 2000] / 1e6, sizes[_WITHOUT, 2000] / 1e6, "MB", 3.0, "asv"),
        Row("largest file that a page loads", largest / 1e6, None, "MB", 2.0),
    ]  # fmt: skip


def _made(commits: int) -> Callable[[Path, bool], None]:
    def make(place: Path, plugin: bool) -> None:
        site_history.write(place, commits, plugin=plugin)

    return make


def _told(root: Path, what: str, make: Callable[[Path, bool], None], reach: float | None) -> list[Row]:
    """By turns, since the machine has other work too; of each the least. reach: of a first publish."""
    for name in (_WITH, _WITHOUT, _BARE):
        make(root / name, name != _WITHOUT)
    packed_history.configure(root / _BARE, True, pages=False)
    first: dict[str, list[float]] = {_WITH: [], _WITHOUT: []}
    again: dict[str, list[float]] = {_WITH: [], _WITHOUT: [], _BARE: []}
    for _ in range(_TURNS):
        newest = _newest(root / _WITH)
        aside = [shutil.move(one, root / one.name) for one in newest]
        for name, taken in first.items():
            taken.append(_publish(root / name, fresh=True))
        for one, old in zip(newest, aside, strict=True):
            shutil.move(old, one)
        for name, taken in again.items():
            taken.append(_publish(root / name, fresh=False))
    best = {name: min(taken) for name, taken in again.items()}
    share = max(best[_WITH] - best[_BARE], 0.0)
    return [
        Row(f"publish, {what}, first", min(first[_WITH]), min(first[_WITHOUT]), "s", reach, "asv"),
        Row(f"publish, {what}, after one more", best[_WITH], best[_WITHOUT], "s", 1.0, "asv, whole"),
        Row("  of that, our pages", share, best[_WITH], "s", 0.2, "the whole"),
    ]


def _newest(project: Path) -> list[Path]:
    """The files of the newest commit."""
    log = ["git", "-C", str(project / "repo"), "log", "-1", "--format=%H", "main"]
    commit = subprocess.run(log, capture_output=True, text=True, check=True).stdout.strip()
    return sorted((project / "results").glob(f"*/{commit[:8]}-*"))


def _publish(project: Path, fresh: bool) -> float:
    """fresh: without what an earlier publish has left."""
    if fresh:
        for one in (project / "html", *project.glob(".html-cache")):
            shutil.rmtree(one, ignore_errors=True)
    here = Path.cwd()
    begin = time.perf_counter()
    command = [sys.executable, "-m", "asv", "publish", "--no-pull"]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(here)}
    )
    taken = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(f"asv publish failed in {project}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return taken


def _room(folder: Path) -> int:
    """Bytes on the disk."""
    return sum(512 * one.stat().st_blocks for one in folder.rglob("*") if one.is_file())
