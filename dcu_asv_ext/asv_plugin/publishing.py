"""`asv publish`: what is looked at before a site is published, and what is made beside asv's own part of it."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv import util
from asv.console import log
from asv.repo import get_repo

from ..evidence.store import iter_lines, list_evidence, parse_line
from ..pages.cache import Cache
from . import site_speed, steps

if TYPE_CHECKING:
    from .settings import Settings

#: New objects after which garbage is looked for.
_OBJECTS = 200_000
#: Notes that the console shows.
_TOLD = 20
_WAY_ROUND = '"dcu": {"pages": false} in asv.conf.json publishes asv\'s own alone'


def publish_run(settings_of: Callable[[Any], Settings], original: Any) -> Any:
    """For asv's `Publish.run`. settings_of: of asv's configuration; raises asv's UserError."""

    def run(cls: Any, conf: Any, range_spec: Any = None, pull: bool = True) -> Any:
        settings = settings_of(conf)
        target = _target(conf)
        _refuse_simulated(conf, settings)
        repo = get_repo(conf)
        if pull:
            # Here, and not in the middle of asv's part: what works beside it needs the same commits.
            repo.pull()
        results = Path(conf.results_dir) if settings.verdict == "dcu" else None
        kept = target.with_name(f".{target.name}-cache")
        with (
            _few_collections(),
            _built_beside(conf, settings) as site,
            # First, since what it imports takes long, and both processes need it.
            steps.publishing(results, repo.get_revisions, kept if settings.pages else None),
            _pages(conf, settings, repo, range_spec, kept, site),
            site_speed.publishing(),
        ):
            done = original(cls, conf, range_spec, pull=False)
        if settings.pages:
            log.info(
                f"dcu-asv: the history is in {target / 'dcu' / 'index.html'}; a browser opens it as a file, too"
            )
        return done

    return run


@contextmanager
def _few_collections() -> Iterator[None]:
    """A publish makes millions of objects that stay, in no cycles: looking for garbage takes a tenth of its time."""
    kept = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *kept[1:])
    try:
        yield
    finally:
        gc.set_threshold(*kept)


def _target(conf: Any) -> Path:
    """The folder of the site. What lies there goes, so that nothing may that a site is made from."""
    try:
        target = Path(conf.html_dir).resolve()
    except (OSError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())
        raise util.UserError(f"dcu-asv: html_dir {conf.html_dir!r} cannot be followed ({reason})") from None
    for kept in (".", conf.results_dir, conf.benchmark_dir, conf.env_dir, conf.repo):
        if Path(kept).resolve().is_relative_to(target):
            raise util.UserError(
                f"dcu-asv: a site takes the place of its folder, and {target} holds {Path(kept).resolve()}: "
                "choose another html_dir, best a folder that does not exist yet"
            )
    return target


def _refuse_simulated(conf: Any, settings: Settings) -> None:
    found = [] if settings.publish_simulated else simulated_files(Path(conf.results_dir))
    if found:
        raise util.UserError(
            f"dcu-asv: {len(found)} result files hold figures of a simulated device (the first: {found[0]}); "
            'they are no measurements. Remove them, or set "dcu": {"publish_simulated": true}.'
        )


def simulated_files(results: Path) -> list[str]:
    """Evidence files (relative names) with a measurement of a simulated device.

    One file is one environment, so the first line whose device was described speaks for it; the line of a process
    that crashed describes none. Of a file that cannot be read nothing is published.
    """
    found = []
    folders = sorted(one for one in results.iterdir() if one.is_dir()) if results.is_dir() else []
    for path in (path for folder in folders for path in list_evidence(folder)):
        with suppress(OSError):
            if _simulated(path):
                found.append(str(path.relative_to(results)))
    return found


def _simulated(evidence: Path) -> bool:
    for line in iter_lines(evidence):
        record = parse_line(line)
        device = record["device"] if record is not None else None
        if isinstance(device, dict) and "simulated" in device:
            return bool(device["simulated"])
    return False


@contextmanager
def _built_beside(conf: Any, settings: Settings) -> Iterator[Path]:
    """asv begins a publish by deleting the old site: here it makes the new one elsewhere, for the time being."""
    from ..site.offline import SiteError, make_offline
    from .site_building import BuildError, beside

    target = conf.html_dir
    try:
        with beside(Path(target)) as place:
            conf.html_dir = str(place)
            yield place
            if settings.offline:
                make_offline(place)
    except (BuildError, SiteError) as fault:
        raise util.UserError(f"dcu-asv: {fault}") from fault
    except OSError as fault:
        raise util.UserError(
            f"dcu-asv: the site cannot be made ({_reason(fault)}); the old one is as it was"
        ) from None
    finally:
        conf.html_dir = target


def _reason(fault: OSError) -> str:
    """Of several files that could not be copied the first tells why."""
    several = isinstance(fault, shutil.Error) and isinstance(fault.args[0], list)
    return " ".join(str(fault.args[0][0][-1] if several else fault).split())


@contextmanager
def _pages(
    conf: Any, settings: Settings, repo: Any, range_spec: Any, kept: Path, site: Path
) -> Iterator[None]:
    """This package's own pages: made while the block runs, beside `site`, which they enter at its end.

    kept: folder of what was worked out at earlier publishes.
    """
    if not settings.pages:
        yield
        return
    from ..site.navigation import link_pages
    from .site_worker import WorkerError, at_work

    notes = _with_cache(kept, Cache.begin)
    folder = site.parent / "dcu"

    def task(may_go_on: Callable[[], bool]) -> list[str]:
        from .site_sources import make_pages

        return make_pages(conf, settings, repo, range_spec, folder, kept, may_go_on)

    try:
        with at_work(task) as worker:
            yield
            notes += worker.finish()
    except WorkerError as fault:
        raise util.UserError(f"dcu-asv: its own pages could not be made: {fault}. {_WAY_ROUND}.") from None
    folder.rename(site / "dcu")
    link_pages(site)
    if range_spec is None:
        notes += _with_cache(kept, Cache.prune)
    _tell(dict.fromkeys(notes))


def _with_cache(folder: Path, do: Callable[[Cache], None]) -> list[str]:
    """Its notes. Nothing is kept open, since a connection must not be carried into a forked process."""
    cache = Cache(folder)
    do(cache)
    cache.close()
    return cache.notes


def _tell(notes: Iterable[str]) -> None:
    told = list(notes)
    for one in told[:_TOLD]:
        log.warning(f"dcu-asv: {one}")
    if len(told) > _TOLD:
        log.warning(f"dcu-asv: {len(told) - _TOLD} more notes are on the overview page")
