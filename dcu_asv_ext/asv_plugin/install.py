"""How the project of one commit gets into its environment, offline and without touching any other package."""

from __future__ import annotations

import configparser
import importlib.metadata
import importlib.util
import json
import os
import py_compile
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv import util
from asv.console import log

from . import overlay_startup
from .overlay_names import importable
from .overlay_store import write_atomically

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

#: The start-up module and the line that imports it. Last in order: the commit's own .pth lines come first.
STARTUP_MODULE = "_dcu_overlay"
STARTUP_PTH = "zz_dcu_overlay.pth"

_FIND_NAMES = """
import importlib.util, json, sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
found = {}
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        spec = None
    found[name] = None if spec is None else [spec.origin, list(spec.submodule_search_locations or [])]
print(json.dumps(found))
"""


class InstallError(util.UserError, util.ProcessError):  # type: ignore[misc]
    """A commit that cannot be installed; the text says why and what to do.

    A UserError, so that asv prints the sentence; a ProcessError, so that `asv run` over a range marks this commit
    as failed and goes on with the others.
    """

    def __init__(self, sentence: str) -> None:
        Exception.__init__(self, sentence)
        self.sentence = sentence
        self.retcode = 1
        self.stdout = self.stderr = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Packaging:
    """How a folder of sources wants to be built.

    backend: module of the build backend; None where there is no packaging at all.
    in_tree: the backend is part of the sources.
    requires: what [build-system] asks for, as written.
    """

    backend: str | None
    in_tree: bool = False
    requires: tuple[str, ...] = ()


def packaging_of(root: Path) -> Packaging:
    """Raises InstallError for a pyproject.toml that cannot be read."""
    path = root / "pyproject.toml"
    settings: dict[str, Any] = {}
    if path.is_file():
        try:
            settings = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InstallError(f"pyproject.toml of the commit cannot be read: {error}") from error
    build = settings.get("build-system")
    if isinstance(build, dict):
        backend = str(build.get("build-backend") or "setuptools.build_meta")
        requires = tuple(str(r) for r in build.get("requires", ()))
        return Packaging(backend, "backend-path" in build, requires)
    if "project" in settings or (root / "setup.py").is_file() or _describes_a_package(root / "setup.cfg"):
        return Packaging("setuptools.build_meta")
    return Packaging(None)


def _describes_a_package(setup_cfg: Path) -> bool:
    if not setup_cfg.is_file():
        return False
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(setup_cfg.read_text(encoding="utf-8", errors="replace"))
    except configparser.Error as error:
        raise InstallError(f"setup.cfg of the commit cannot be read: {error}") from error
    return parser.has_section("metadata") or parser.has_section("options")


def check_backend(packaging: Packaging, commit: str) -> None:
    """Raises InstallError where the build backend is not installed beside asv."""
    if packaging.backend is None or packaging.in_tree:
        return
    module = packaging.backend.partition(":")[0]
    needs = " ".join(repr(r) for r in packaging.requires) or "'setuptools'"
    if not _importable(module):
        raise InstallError(
            f"commit {commit[:8]} is built by {module!r}, which is not installed beside asv; "
            f"install it there: {sys.executable} -m pip install {needs}"
        )
    if module.startswith("setuptools") and not _importable("wheel") and _setuptools_wants_wheel():
        raise InstallError(
            f"commit {commit[:8]} is built by setuptools, and the one beside asv needs 'wheel' for that; "
            f"install it there: {sys.executable} -m pip install wheel"
        )


def _importable(module: str) -> bool:
    """Whether a module is there. Imports no regular package: only folders without __init__ are looked into."""
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return False
        if spec is None:
            return False
        if spec.origin is not None:
            return True
    return True


def _setuptools_wants_wheel() -> bool:
    version = importlib.metadata.version("setuptools").split(".")
    return [int(part) for part in version[:2] if part.isdigit()] < [70, 1]


def missing_requirements(packaging: Packaging) -> list[str]:
    """Those of [build-system] requires that are not installed beside asv, as written."""
    from packaging.requirements import InvalidRequirement, Requirement

    missing = []
    for text in packaging.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            missing.append(text)
            continue
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(text)
    return missing


def pip_arguments(target: Path) -> list[str]:
    """Arguments to python that install a folder or a wheel: this project alone, from what is at hand."""
    options = "--isolated --disable-pip-version-check --no-input --no-cache-dir -q install"
    # --ignore-installed: the parent's copy of the same project must neither count as installed nor be removed.
    options += (
        " --no-deps --no-index --no-build-isolation --use-pep517 --ignore-installed --no-warn-script-location"
    )
    return ["-m", "pip", *options.split(), str(target)]


def prepare_pip(env: Any) -> None:
    """pip comes from the parent; where the parent has none, from the one that Python carries."""
    if _importable("pip"):
        return
    if not _importable("ensurepip"):
        raise InstallError(
            f"pip is not installed beside asv, and this Python carries none; install pip for {sys.executable}"
        )
    log.debug("pip is not installed beside asv: using the one that Python carries")
    env.run_executable("python", ["-m", "ensurepip", "--default-pip"], dots=False)


def build_and_install(env: Any, root: Path, packaging: Packaging, commit: str) -> None:
    """Install the project in `root` by pip. Raises InstallError."""
    check_backend(packaging, commit)
    prepare_pip(env)
    if not any((root / name).is_file() for name in ("pyproject.toml", "setup.py")):
        # pip wants one of them; with setup.cfg alone this is what setuptools' documentation says to add.
        (root / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        )
    run_build_step(env, lambda: pip_install(env, root), packaging, commit)


def pip_install(env: Any, target: Path) -> None:
    environ = {**os.environ, **env.build_env_vars}
    env.run_executable("python", pip_arguments(target), cwd=env.env_folder, env=environ, dots=False)


def run_build_step(env: Any, step: Any, packaging: Packaging, commit: str) -> None:
    """`step()`, its failure as one sentence. asv has printed what the failing command printed."""
    try:
        step()
    except util.ProcessError as error:
        if isinstance(error, InstallError):
            raise
        hint = ""
        missing = missing_requirements(packaging)
        if missing:
            wanted = " ".join(repr(text) for text in missing)
            hint = f"; its build asks for what is not installed beside asv: {sys.executable} -m pip install {wanted}"
        reason = "timed out" if error.retcode == util.TIMEOUT_RETCODE else f"exit status {error.retcode}"
        raise InstallError(
            f"the project of commit {commit[:8]} could not be installed ({reason}){hint}"
        ) from error


def copy_sources(root: Path, folder: Path) -> list[Path]:
    """A copy of sources without packaging; the folders of it that belong on the path.

    Copied, not linked: the checkout changes with every commit, and a benchmark may write beside its modules.
    """
    target = folder / "sources"
    shutil.copytree(root, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    inner = target / "src"
    if inner.is_dir() and not (inner / "__init__.py").exists() and importable(inner):
        return [inner, target]
    return [target]


def provided_names(site_packages: Path, sources: Iterable[Path]) -> set[str]:
    """The names that a commit's environment brings, apart from those of the standard library."""
    names = importable(site_packages) - {STARTUP_MODULE}
    for folder in sources:
        names |= importable(folder)
    return {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}


def site_packages_of(folder: Path) -> Path:
    """The site-packages of a virtual environment."""
    scheme = "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix"
    place = {"base": str(folder), "platbase": str(folder)}
    return Path(sysconfig.get_path("purelib", scheme, vars=place))


def startup_source() -> str:
    return Path(overlay_startup.__file__).read_text(encoding="utf-8")


def write_startup(site_packages: Path, arguments: dict[str, Sequence[str]]) -> None:
    """Write the start-up module with its arguments, unless it is there already."""
    call = "".join(f"    {name}={tuple(value)!r},\n" for name, value in arguments.items())
    text = f"{startup_source()}\n\nstart(\n{call})\n"
    path = site_packages / f"{STARTUP_MODULE}.py"
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        write_atomically(path, text)
        # Left to Python, a rewrite within the same second would not count.
        py_compile.compile(str(path), doraise=True)
    pth = site_packages / STARTUP_PTH
    if not pth.is_file():
        write_atomically(pth, f"import {STARTUP_MODULE}\n")


def verify(env: Any, names: Iterable[str], folder: Path, commit: str) -> None:
    """Ask a fresh process where the project's modules would come from. Raises InstallError if not from `folder`."""
    tops = sorted({name.partition(".")[0] for name in names})
    if not tops:
        return
    out = env.run_executable("python", ["-c", _FIND_NAMES, *tops], cwd=str(folder), dots=False)
    inside = folder.resolve()
    for name, found in json.loads(out.splitlines()[-1]).items():
        if found is None:
            raise InstallError(f"{name!r} of commit {commit[:8]} was installed but cannot be found by Python")
        origin, locations = found
        places = locations if origin is None else [origin]
        if not any(Path(place).resolve().is_relative_to(inside) for place in places):
            raise InstallError(
                f"{name!r} of commit {commit[:8]} would be imported from {places[0]}, not from the commit's own "
                "environment, so every commit would measure that copy; remove it (ASV_PYTHONPATH, an editable "
                "install beside asv), or rename the module"
            )
