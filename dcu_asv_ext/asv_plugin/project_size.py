"""The installed size of a commit's own project: what a user of the project would have to carry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .install import STARTUP_MODULE, STARTUP_PTH, site_packages_of
from .overlay_names import distributions_in

#: What an installer writes about its own doing; it holds paths of this machine.
_INSTALLERS_OWN = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
#: Brought into an environment by Python's ensurepip, to install the project with.
_TOOLS = frozenset({"pip", "setuptools", "wheel"})


def project_size(folder: Path, copied: bool) -> dict[str, int]:
    """`package_size` (bytes) and `files` of the project in a commit's environment.

    copied: the project has no packaging, and is a copy of its sources.
    Counted are site-packages and what the installed distributions put elsewhere (scripts, data), each file once;
    not counted: byte code, links, what the installer wrote about itself, and our start-up module.
    Raises OSError.
    """
    site_packages = site_packages_of(folder)
    tools = set(_files_of_tools(site_packages))
    found: dict[tuple[int, int], int] = {}
    for path in _project_files(folder, site_packages, copied):
        if path in tools or path.is_symlink():
            continue
        status = path.stat()
        found[status.st_dev, status.st_ino] = status.st_size
    return {"package_size": sum(found.values()), "files": len(found)}


def project_facts(env: Any) -> Mapping[str, Any]:
    """The evidence's `project`: what an overlay environment knows of its commit's install; of another kind of
    environment the reason why nothing is known."""
    told = getattr(env, "project_facts", None)
    if told is not None:
        facts: Mapping[str, Any] = told()
        return facts
    return {
        "missing": f"a {env.tool_name} environment does not tell which of its files are the project's; "
        '"environment_type": "overlay" does'
    }


def _project_files(folder: Path, site_packages: Path, copied: bool) -> Iterator[Path]:
    if copied:
        yield from _files_below(folder / "sources")
    for path in _files_below(site_packages):
        if path.name != STARTUP_PTH and path.stem != STARTUP_MODULE:
            yield path
    for _, distribution in distributions_in(site_packages):
        for file in distribution.files or ():
            path = Path(os.path.normpath(site_packages / str(file)))
            inside = path.is_relative_to(folder) and not path.is_relative_to(site_packages)
            if inside and path.suffix != ".pyc" and path.is_file():
                yield path


def _files_below(root: Path) -> Iterator[Path]:
    for base, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if name != "__pycache__"]
        about_install = base.endswith((".dist-info", ".egg-info"))
        for name in names:
            if not name.endswith(".pyc") and not (about_install and name in _INSTALLERS_OWN):
                yield Path(base, name)


def _files_of_tools(site_packages: Path) -> Iterator[Path]:
    for name, distribution in distributions_in(site_packages):
        # A project that happens to bear such a name was installed from a folder, which pip writes down (PEP 610).
        if name in _TOOLS and distribution.read_text("direct_url.json") is None:
            for file in distribution.files or ():
                yield Path(os.path.normpath(site_packages / str(file)))


def _raise(error: OSError) -> None:
    raise error
