"""`dcu-asv merge`: results of several machines or nodes in one results folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import FINE, WRONG_USE
from .options import add_config, add_json
from .reporting import OutputError, emit, print_json

if TYPE_CHECKING:
    from ..asv_plugin.merging import Plan
    from ..asv_plugin.results import Project

_ABOUT = """\
Each DIR is a results folder (with benchmarks.json and a folder for each machine) of the same project,
measured elsewhere. Its machines, results and evidence are brought into the results folder of the
asv.conf.json here, or that of --into. Of a benchmark that both have for one commit, machine and
environment the later result stands, and all evidence is kept, each measurement once. DIR is not
changed. It is all or nothing: a merge that stops half way leaves the results as they were.

Two machines of one name that are not the same (other CPU, other memory) are refused, unless one is
named anew.

examples:
  dcu-asv merge /from/node7/results /from/node8/results
  dcu-asv merge node7 node8 --rename node8/localhost=node8
  dcu-asv merge node* --rename-clashes --dry-run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add("folders", metavar="DIR", nargs="+", type=Path, help="a results folder of the same project")
    add("--into", metavar="RESULTS", type=Path, help="the folder to bring them into (made if absent)")
    add_config(parser)
    add(
        "--rename",
        metavar="[DIR/]OLD=NEW",
        action="append",
        default=[],
        help="how a machine of DIR (or of every DIR) is called here; repeatable",
    )
    add("--rename-clashes", action="store_true", help="call machines of a clashing name NAME-2, NAME-3, ...")
    add("--dry-run", action="store_true", help="tell what would be done, and do nothing")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.locks import Held, result_lock
    from ..asv_plugin.results import ResultsError
    from ..asv_plugin.swapping import Changed, Unclear

    try:
        target, commits = _target(options)
        lock = result_lock(target / "merge")
        lock.acquire()
        try:
            found = _merge(target, commits, options)
        finally:
            lock.release()
        if options.json:
            print_json(_as_object(found, target, options.dry_run))
        else:
            emit(_text(found, target, options.dry_run))
        return FINE
    except Held:
        sentence = "another merge into this folder is under way"
    except Changed as fault:
        sentence = f"{fault} (by a run?), so nothing was merged; merge again when it is done"
    except Unclear as fault:
        sentence = f"{fault}; look into both, put together what you need, and remove the first"
    except (ResultsError, OutputError) as fault:
        sentence = str(fault)
    except OSError as fault:
        sentence = f"nothing was merged: {fault}"
    print(f"dcu-asv merge: {sentence}", file=sys.stderr)
    return WRONG_USE


#: Hashes of commits -> those that the repository has; None: there is no repository to ask.
_Commits = Callable[[set[str]], set[str]] | None


def _target(options: argparse.Namespace) -> tuple[Path, _Commits]:
    """The folder that is written, and how commits are looked for. Raises ResultsError."""
    from ..asv_plugin.results import Project, ResultsError

    if options.into is None:
        project = Project.open(options.config)
        return project.results_dir.resolve(), _asking(project)
    target = options.into.resolve()
    if target.exists() and not target.is_dir():
        raise ResultsError(f"--into {options.into} is no folder")
    if options.config is None and not Path("asv.conf.json").is_file():
        return target, None
    return target, _asking(Project.open(options.config))


def _asking(project: Project) -> _Commits:
    return None if project.git_dir is None else project.known_commits


def _merge(target: Path, commits: _Commits, options: argparse.Namespace) -> Plan:
    from ..asv_plugin import merging, swapping
    from ..asv_plugin.results import ResultsError

    if not options.dry_run and swapping.recover(target):
        print("dcu-asv merge: what an interrupted merge had left was cleared away", file=sys.stderr)
    names = merging.Names(_renames(options.rename), options.rename_clashes)
    found = merging.plan(target, options.folders, names, commits)
    writing = merging.being_written(target)
    if writing:
        raise ResultsError(f"a run is measuring into {target} ({writing}); merge when it is done")
    if not options.dry_run and (found.files or found.gone or found.copies):
        swapping.replace_folder(target, found.files, found.gone, found.copies)
    return found


def _renames(given: list[str]) -> dict[str, str]:
    from ..asv_plugin.results import ResultsError

    found: dict[str, str] = {}
    for one in given:
        old, equals, new = one.partition("=")
        if not equals or not old or not new or "/" in new or new.startswith(".") or not new.isprintable():
            raise ResultsError(f"--rename {one}: write OLD=NEW, or DIR/OLD=NEW")
        folder, slash, name = old.rpartition("/")
        key = f"{Path(folder)}/{name}" if slash else name
        if found.setdefault(key, new) != new:
            raise ResultsError(f"--rename {one}: {key} is to be called {found[key]} already")
    return found


def _as_object(found: Plan, target: Path, dry_run: bool) -> dict[str, object]:
    return {
        "into": str(target),
        "dry_run": dry_run,
        "machines": sorted(found.machines),
        "new": found.new,
        "united": found.united,
        "measurements": found.measurements,
        "known": found.known,
        "renamed": found.renamed,
        "notes": found.notes,
        "files": sorted(found.files),
        "traces": sorted(found.copies),
    }


def _text(found: Plan, target: Path, dry_run: bool) -> str:
    would = "would be" if dry_run else "were"
    lines = [
        f"{found.new} results of {', '.join(sorted(found.machines))} {would} brought into {target}, "
        f"{found.united} united with what was there",
        f"{found.measurements} measurements {would} added to the evidence, {found.known} were there already",
    ]
    if found.copies:
        lines.append(f"{len(found.copies)} traces {would} copied")
    return "\n".join([*lines, *found.renamed, *(f"note: {one}" for one in found.notes)])
