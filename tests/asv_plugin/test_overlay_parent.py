"""An interpreter that is itself a virtual environment and holds an editable install of the project."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .overlay_project import SETUPTOOLS, Project, valued, write

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An interpreter that is a virtual environment over this one, and its site-packages."""
    folder = tmp_path_factory.mktemp("scratch") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/*/site-packages")
    lines = [f"import site; site.addsitedir({path!r})" for path in sys.path if path.endswith("-packages")]
    (site / "below.pth").write_text("\n".join(lines) + "\n")
    return str(folder / "bin" / "python"), site


LEAKS = """
    import importlib, tinyproj

    def track_value():
        return tinyproj.value()

    def track_leaks():
        found = 0
        for name in ("tinyproj.newer", "helper_module", "leftover"):
            try:
                importlib.import_module(name)
                found += 1
            except ModuleNotFoundError:
                pass
        return found
"""


@pytest.mark.parametrize("kind", ["setuptools", "front hook and path"])
def test_the_parents_editable_install_does_not_reach_the_commits(
    tmp_path: Path, scratch: tuple[str, Path], kind: str
) -> None:
    python, site = scratch
    project = Project(tmp_path, python)
    commit = project.commit(valued(1))
    # The working tree is ahead of the commit, and installed as editable beside asv.
    packages = SETUPTOOLS.replace('["tinyproj"]', '["tinyproj", "helper_module"]')
    tree = {
        "tinyproj/__init__.py": "def value(): return 99",
        "tinyproj/newer.py": "",
        "helper_module/__init__.py": "",
    }
    write(project.repo, {**tree, "pyproject.toml": packages, "leftover.py": ""})
    before = set(site.iterdir())
    if kind == "setuptools":
        options = "--no-deps --no-index --no-build-isolation --disable-pip-version-check -q -e"
        subprocess.run([python, "-m", "pip", "install", *options.split(), str(project.repo)], check=True)
    else:
        _front_hook_and_path(site, project.repo)
    try:
        told = subprocess.check_output([python, "-c", "import tinyproj; print(tinyproj.value())"], text=True)
        assert told == "99\n"
        project.benchmarks(LEAKS)
        project.configure()
        project.asv("run")
    finally:
        for path in set(site.iterdir()) - before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert project.results(commit)["track_value"] == 1
    assert project.results(commit)["track_leaks"] == 0


def _front_hook_and_path(site: Path, tree: Path) -> None:
    """What meson-python leaves, a finder at the very front that answers for packages and their modules; and
    what hatchling leaves, the tree on the path."""
    loader = f"""
        import os, sys
        from importlib.util import spec_from_file_location

        class Finder:
            def __init__(self, names):
                self.names = names

            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in self.names:
                    place = os.path.join({str(tree)!r}, *name.split("."))
                    for file in (os.path.join(place, "__init__.py"), place + ".py"):
                        if os.path.isfile(file):
                            return spec_from_file_location(name, file)

        def install(name, names, path, command):
            sys.meta_path.insert(0, Finder(names))

        install("tinyproj", {{"tinyproj", "helper_module"}}, {str(tree)!r}, ["true"])
    """
    write(
        site,
        {
            "_tinyproj_editable_loader.py": loader,
            "tinyproj-editable.pth": f"import _tinyproj_editable_loader\n{tree}\n",
        },
    )
    record = "_tinyproj_editable_loader.py,,\ntinyproj-editable.pth,,\n"
    write(
        site,
        {
            "tinyproj-1.0.dist-info/RECORD": record,
            "tinyproj-1.0.dist-info/METADATA": "Name: tinyproj\nVersion: 1.0\n",
        },
    )
