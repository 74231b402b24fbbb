"""Which importable names a folder or an installed distribution provides, without importing anything."""

from __future__ import annotations

import ast
import importlib.machinery
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

_SUFFIXES = (".py", *importlib.machinery.EXTENSION_SUFFIXES)
#: How deep below a folder a package may lie in folders without __init__.py.
_NAMESPACE_DEPTH = 4
#: Modules that carry out an editable install (setuptools, scikit-build-core, meson-python).
_EDITABLE_MODULE = re.compile(r"__editable__.*|_.*_editable(_loader|_impl)?|_editable_impl_.*")


@dataclass(frozen=True)
class ParentCopy:
    """The parent interpreter's install of the same project.

    names: dotted names that it provides. folders: what its editable install adds to sys.path.
    """

    names: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


def normalised(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _module_stem(filename: str) -> str | None:
    for suffix in _SUFFIXES:
        if filename.endswith(suffix):
            stem = filename.removesuffix(suffix).partition(".")[0]
            return stem if stem.isidentifier() else None
    return None


def owned_names(files: Iterable[str]) -> set[str]:
    """The fewest dotted names that cover these modules: packages with __init__, else single modules.

    files: paths relative to a folder of sys.path, with "/".
    """
    modules = []
    packages = set()
    for file in files:
        parts = PurePosixPath(file).parts
        stem = _module_stem(parts[-1]) if parts else None
        if stem is None or not all(part.isidentifier() for part in parts[:-1]):
            continue
        if stem == "__init__":
            packages.add(parts[:-1])
        modules.append((*parts[:-1], stem))
    names = set()
    for module in modules:
        depth = next((i for i in range(1, len(module)) if module[:i] in packages), len(module))
        names.add(".".join(module[:depth]))
    names.discard("__init__")
    return names


def importable(folder: Path) -> set[str]:
    """The names that a folder on sys.path provides; packages in folders without __init__.py by dotted name."""
    return owned_names(_module_files(folder, ""))


def _module_files(folder: Path, prefix: str, depth: int = 0) -> Iterator[str]:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    files = [e.name for e in listed if _module_stem(e.name) is not None and e.is_file()]
    init = next((name for name in files if _module_stem(name) == "__init__"), None)
    if init is not None and prefix:
        yield prefix + init
        return
    yield from (prefix + name for name in files)
    if depth < _NAMESPACE_DEPTH:
        for entry in listed:
            if entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir():
                yield from _module_files(folder / entry.name, f"{prefix}{entry.name}/", depth + 1)


def distributions_in(folder: Path) -> list[tuple[str, Distribution]]:
    """The distributions whose metadata lies directly in a folder, by normalised name."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    metadata = [folder / entry for entry in entries if entry.endswith((".dist-info", ".egg-info"))]
    return [(normalised(path.stem.partition("-")[0]), PathDistribution(path)) for path in metadata]


def editable_distributions(folder: Path) -> list[str]:
    """Names of the distributions in a folder that were installed as editable."""
    return [name for name, found in distributions_in(folder) if _installed_from(found)[1]]


def parent_copy(
    names: Iterable[str], roots: Sequence[Path], search: Iterable[str], sites: Iterable[str]
) -> ParentCopy:
    """What the parent's install of a project provides.

    names: normalised names of the project's distributions.
    roots: the project's folders in the local repository; what was installed from one is the project by any name.
    search: the parent's sys.path. sites: those of it that are site-packages.
    """
    wanted = set(names)
    real_roots = {os.path.realpath(root) for root in roots}
    real_sites = {os.path.realpath(site) for site in sites}
    provided: set[str] = set()
    folders: set[str] = set()
    for folder in dict.fromkeys(os.path.realpath(p) for p in search if p):
        for name, found in distributions_in(Path(folder)):
            if name not in wanted:
                source = _installed_from(found)[0]
                if source is None or os.path.realpath(source) not in real_roots:
                    continue
            if folder in real_sites:
                copied, added = _provided(found, Path(folder))
                provided |= copied
                folders |= added
            else:  # `setup.py develop`: the metadata lies in the working tree
                folders.add(folder)
    return ParentCopy(frozenset(provided), frozenset(folders))


def _installed_from(found: Distribution) -> tuple[str | None, bool]:
    """The local folder that a distribution was installed from (None if none), and whether as editable."""
    try:
        record = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return None, False
    url = urlparse(str(record.get("url", "")))
    info = record.get("dir_info")
    if not isinstance(info, dict) or url.scheme != "file":
        return None, False
    return unquote(url.path), bool(info.get("editable"))


def _provided(found: Distribution, site: Path) -> tuple[set[str], set[str]]:
    files = [str(file) for file in found.files or ()]
    top_level = (found.read_text("top_level.txt") or "").split()
    names = {name for name in owned_names(files) if not _EDITABLE_MODULE.fullmatch(name.partition(".")[0])}
    if not names:
        names = {name for name in top_level if name.isidentifier()}
    folders: set[str] = set()
    for file in files:
        if file.endswith(".pth") and "/" not in file:
            folders |= set(path_lines(site / file))
        elif "/" not in file and _EDITABLE_MODULE.fullmatch(PurePosixPath(file).stem):
            names |= names_in_hook(site / file)
    return names, folders


def path_lines(pth: Path) -> list[str]:
    """The folders that a .pth file adds."""
    try:
        lines = pth.read_text(errors="replace").splitlines()
    except OSError:
        return []
    plain = [
        line.strip() for line in lines if line.strip() and not line.startswith(("#", "import ", "import\t"))
    ]
    return [str(pth.parent / line) for line in plain]


def names_in_hook(module: Path) -> set[str]:
    """The project's names as an editable install's import hook states them, read without running it.

    setuptools writes them as the keys of MAPPING and NAMESPACES, meson-python and scikit-build-core as a set and a
    mapping handed to `install(...)`.
    """
    try:
        tree = ast.parse(module.read_text(errors="replace"))
    except (OSError, SyntaxError):
        return set()
    literals: list[ast.expr | None] = []
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id in ("MAPPING", "NAMESPACES") for t in targets):
                literals.append(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            literals.extend(
                node.value.args if isinstance(called, ast.Name) and called.id == "install" else ()
            )
    return _fewest(name for literal in literals for name in _strings(literal))


def _strings(literal: ast.expr | None) -> Iterator[str]:
    if isinstance(literal, ast.Dict):
        parts: Sequence[ast.expr | None] = literal.keys
    elif isinstance(literal, ast.Set):  # a list there is a build command
        parts = literal.elts
    else:
        return
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _fewest(names: Iterable[str]) -> set[str]:
    valid = {name for name in names if all(part.isidentifier() for part in name.split("."))}
    return {n for n in valid if not any(n.startswith(other + ".") for other in valid)}


def withheld_names(parent: Iterable[str], own: Iterable[str]) -> set[str]:
    """Those of the parent's names that the commit provides neither whole nor in part."""
    mine = set(own)

    def covered(name: str) -> bool:
        parts = name.split(".")
        above = any(".".join(parts[:i]) in mine for i in range(1, len(parts) + 1))
        return above or any(other.startswith(name + ".") for other in mine)

    return {name for name in parent if not covered(name)}
