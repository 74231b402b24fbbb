"""`dcu-asv quickstart DIR`: a configuration, a first benchmark and a CI script, into a user's repository."""

from __future__ import annotations

import argparse
import importlib
import importlib.resources
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .doctor.configuration import NAMES, PLUGIN, Config, ConfigError, find_config, load_config
from .doctor.places import GitFailed, git

FINE, BROKEN = 0, 3
CI_FILE = "ci/benchmarks.sh"
#: All that asv makes lies below one folder; what can be made again is not committed.
_IGNORED = "env/\nhtml/\nresults/*/*.session\n"


class CannotStart(Exception):
    """The text says why and what to do, and what was written before, if anything."""


@dataclass
class Done:
    """written, kept: paths relative to `folder`. to_add: keys for the configuration that was there already.

    notes: what was guessed. commands: what to type next.
    """

    folder: str
    project: str
    branch: str
    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    config_file: str = NAMES[0]
    to_add: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", metavar="DIR", help="the repository, or the folder of a project in it")
    parser.add_argument(
        "--project", metavar="NAME", help="the project's name (default: pyproject.toml's, or the folder's)"
    )
    parser.add_argument("--json", action="store_true", help="print what was done as one JSON object")


def run(options: argparse.Namespace) -> int:
    try:
        done = start(Path(options.dir), options.project, dict(os.environ))
    except CannotStart as why:
        if options.json:
            print(json.dumps({"error": str(why)}, indent=1))
        else:
            print(f"dcu-asv quickstart: {why}", file=sys.stderr)
        return BROKEN
    print(json.dumps(asdict(done), indent=1) if options.json else _told(done))
    return FINE


def start(folder: Path, project: str | None, environ: Mapping[str, str]) -> Done:
    """Write what is not there; overwrite nothing. Raises CannotStart."""
    top = _repository(folder, environ)
    folder = folder.resolve()
    try:
        found = find_config(None, folder)
        config = None if found is None else load_config(found)
    except ConfigError as error:
        raise CannotStart(str(error)) from None
    notes: list[str] = []
    name = project or (str(config.get("project", "")) if config else "") or _project_name(folder, notes)
    done = Done(str(folder), name, _branch(folder, environ, notes), notes=notes)
    values = config.values if config is not None else _configuration(done, folder, top)
    _write_all(folder, _files(values, done, config is None), done)
    if config is not None:
        done.config_file = config.path.name
        done.kept.insert(0, config.path.name)
        done.to_add = missing_keys(config)
    done.commands = _commands(folder, done, environ)
    return done


def _repository(folder: Path, environ: Mapping[str, str]) -> Path:
    """The top of the repository that holds the folder. Raises CannotStart."""
    if not folder.is_dir():
        raise CannotStart(f"{folder} is no folder; name the folder of a git repository")
    try:
        top = git(folder, "rev-parse", "--show-toplevel", environ=environ)
    except GitFailed as failed:
        if "not a git repository" in str(failed):
            raise CannotStart(f"{folder} is no git repository; run git init there first") from None
        if "dubious ownership" in str(failed):
            raise CannotStart(
                f"git refuses {folder.resolve()}, because another user owns it; "
                f"run git config --global --add safe.directory {folder.resolve()}"
            ) from None
        raise CannotStart(f"git cannot read {folder}: {failed}") from None
    return Path(top).resolve()


def _project_name(folder: Path, notes: list[str]) -> str:
    path = folder / "pyproject.toml"
    if path.is_file():
        try:
            content = _toml().loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            notes.append(f"pyproject.toml cannot be read ({error}), so the project is named after its folder")
            return folder.name
        for table in (content.get("project"), (content.get("tool") or {}).get("poetry")):
            if isinstance(table, dict) and isinstance(table.get("name"), str):
                return str(table["name"])
    return folder.name


def _toml() -> Any:
    try:
        return importlib.import_module("tomllib")
    except ModuleNotFoundError:  # Python 3.10, where asv brings tomli
        return importlib.import_module("tomli")


def _branch(folder: Path, environ: Mapping[str, str], notes: list[str]) -> str:
    try:
        return git(folder, "symbolic-ref", "--short", "HEAD", environ=environ)
    except GitFailed:
        pass
    listed = git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads", environ=environ).split()
    if not listed:
        raise CannotStart(
            f"{folder} has no branch checked out, and none at all; check one out (git switch -c main)"
        )
    branch = next((one for one in ("main", "master") if one in listed), listed[0])
    notes.append(f"HEAD is on no branch, so the branch {branch} is taken")
    return branch


def _configuration(done: Done, folder: Path, top: Path) -> dict[str, Any]:
    values: dict[str, Any] = {
        "version": 1,
        "project": done.project,
        "project_url": "#",
        "repo": os.path.relpath(top, folder),
        "branches": [done.branch],
        "environment_type": "overlay",
        "plugins": [PLUGIN],
        "benchmark_dir": "benchmarks",
        "env_dir": ".asv/env",
        "results_dir": ".asv/results",
        "html_dir": ".asv/html",
        "default_benchmark_timeout": 600,
    }
    packaged = any((folder / one).is_file() for one in ("pyproject.toml", "setup.py"))
    if folder != top and packaged:
        values["repo_subdir"] = folder.relative_to(top).as_posix()
    return values


def missing_keys(config: Config) -> dict[str, Any]:
    """What an existing configuration lacks, as the whole value of each key."""
    needed: dict[str, Any] = {}
    plugins = config.get("plugins") or []
    listed = list(plugins) if isinstance(plugins, list) else [plugins]
    if PLUGIN not in listed:
        needed["plugins"] = [*(one for one in listed if one != PLUGIN[1:]), PLUGIN]
    if config.get("environment_type") != "overlay":
        needed["environment_type"] = "overlay"
    return needed


def _files(values: Mapping[str, Any], done: Done, with_config: bool) -> dict[str, str]:
    """Path -> text, for all that quickstart may write."""
    suite = str(values.get("benchmark_dir") or "benchmarks").rstrip("/")
    script = _template("benchmarks.sh")
    for mark, text in (
        ("@BRANCH@", done.branch),
        ("@HTML@", str(values.get("html_dir") or "html")),
        ("@RESULTS@", str(values.get("results_dir") or "results")),
    ):
        script = script.replace(mark, text)
    files = {}
    if with_config:
        files[NAMES[0]] = json.dumps(values, indent=4) + "\n"
        files[".asv/.gitignore"] = _IGNORED
    files[f"{suite}/__init__.py"] = ""
    files[f"{suite}/example.py"] = _template("example.py")
    files[CI_FILE] = script
    return files


def _template(name: str) -> str:
    return (importlib.resources.files(__package__) / "templates" / f"{name}.txt").read_text(encoding="utf-8")


def _write_all(folder: Path, files: Mapping[str, str], done: Done) -> None:
    for name in files:
        _refuse_obstacle(folder, name)
    for name, text in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "x", encoding="utf-8") as stream:
                stream.write(text)
            if name.endswith(".sh"):
                path.chmod(path.stat().st_mode | 0o111)
        except FileExistsError:
            done.kept.append(name)
            continue
        except OSError as error:
            so_far = f" ({', '.join(done.written)} written before)" if done.written else ""
            raise CannotStart(
                f"{path} cannot be written ({error.strerror or error}){so_far}; make {folder} writable"
            ) from None
        done.written.append(name)


def _refuse_obstacle(folder: Path, name: str) -> None:
    path = folder / name
    if path.exists() and not path.is_file():
        raise CannotStart(f"{path} is in the way, because a file has to go there; rename it")
    for parent in path.relative_to(folder).parents:
        if (folder / parent).exists() and not (folder / parent).is_dir():
            raise CannotStart(f"{folder / parent} is in the way, because a folder has to go there; rename it")


def _commands(folder: Path, done: Done, environ: Mapping[str, str]) -> list[str]:
    machine = "asv machine --yes"
    if re.fullmatch(r"[0-9a-f]{12}", os.uname().nodename):
        machine += " --machine NAME"
    commands = [machine, f"asv run {shlex.quote(done.branch)}^!", "asv publish && asv preview"]
    try:
        git(folder, "rev-parse", "--verify", "--quiet", "HEAD", environ=environ)
    except GitFailed:
        done.notes.append("the repository has no commit yet, and asv measures commits: commit first")
    return commands


def _told(done: Done) -> str:
    lines = [f"{done.project} in {done.folder}, branch {done.branch}"]
    lines += [f"  written  {name}" for name in done.written]
    lines += [f"  kept     {name} (it was there already)" for name in done.kept]
    lines += [f"Note: {note}." for note in done.notes]
    if done.to_add:
        # Without the outer braces: these lines go among the others of an object.
        keys = json.dumps(done.to_add, indent=4).splitlines()[1:-1]
        lines += ["", f"{done.config_file} is left as it is. Add to it (or replace):", *keys]
    elif done.config_file in done.kept:
        lines += [f"{done.config_file} has all the keys that are needed already."]
    lines += ["", "Next:", f"  cd {shlex.quote(done.folder)}", *(f"  {one}" for one in done.commands)]
    lines += ["", "If something does not work: dcu-asv doctor"]
    return "\n".join(lines)
