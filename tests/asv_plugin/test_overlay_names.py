"""What a folder or a distribution provides, told from files alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import ClassVar

import pytest

from dcu_asv_ext.asv_plugin import install
from dcu_asv_ext.asv_plugin.install import InstallError, Packaging
from dcu_asv_ext.asv_plugin.overlay_names import (
    editable_distributions,
    importable,
    names_in_hook,
    owned_names,
    parent_copy,
    withheld_names,
)

from .overlay_project import SETUPTOOLS, write


def test_packages_whole_and_namespace_packages_by_their_parts() -> None:
    files = [
        "pkg/__init__.py",
        "pkg/deep/mod.py",
        "single.py",
        f"native{EXTENSION_SUFFIXES[0]}",
        "ns/one/__init__.py",
        "ns/two.py",
        "pkg-1.0.dist-info/METADATA",
        "../../bin/tool.py",
        "data/table.csv",
    ]
    assert owned_names(files) == {"pkg", "single", "native", "ns.one", "ns.two"}


def test_a_folder_is_read_like_a_list_of_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/sub/x.py": "", "ns/inner/m.py": "", "a.py": "", "notes/readme.md": ""},
    )
    write(tmp_path, {"not-a-name/m.py": "", "__pycache__/a.py": ""})
    assert importable(tmp_path) == {"pkg", "ns.inner.m", "a"}


def test_withheld_is_what_the_commit_has_neither_whole_nor_in_part() -> None:
    parent = {"pkg", "gone", "ns.gone", "ns.kept", "regular"}
    own = {"pkg", "ns.kept", "regular.part"}
    assert withheld_names(parent, own) == {"gone", "ns.gone"}
    assert withheld_names({"ns.part"}, {"ns"}) == set()


@pytest.mark.parametrize(
    ("hook", "names"),
    [
        ("MAPPING: dict = {'proj': '/t', 'o.part': '/x'}\nNAMESPACES = {'ns': []}", {"proj", "o.part", "ns"}),
        ("MAPPING = {'proj': '/tree/proj'}", {"proj"}),
        ("install('dist-name', {'proj', 'helper'}, '/build', ['ninja'], False)", {"proj", "helper"}),
        ("install({'proj': '/t/__init__.py', 'proj.sub': '/t/sub.py'}, {}, None, False, [])", {"proj"}),
        ("def broken(:", set()),
    ],
    ids=["setuptools", "setuptools-old", "meson-python", "scikit-build-core", "unreadable"],
)  # fmt: skip
def test_names_in_an_editable_hook(tmp_path: Path, hook: str, names: set[str]) -> None:
    (tmp_path / "hook.py").write_text(hook)
    assert names_in_hook(tmp_path / "hook.py") == names


def dist_info(
    site: Path, name: str, files: list[str], source: Path | None = None, editable: bool = False
) -> None:
    folder = f"{name}-1.0.dist-info"
    record = "".join(f"{file},,\n" for file in [*files, f"{folder}/RECORD", f"{folder}/METADATA"])
    write(site, {f"{folder}/RECORD": record, f"{folder}/METADATA": f"Name: {name}\nVersion: 1.0\n"})
    if source is not None:
        origin = {"url": source.as_uri(), "dir_info": {"editable": True} if editable else {}}
        write(site, {f"{folder}/direct_url.json": json.dumps(origin)})


def test_the_parents_copy_by_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    dist_info(site, "Tiny_Proj", ["proj/__init__.py", "helper.py"])
    dist_info(site, "unrelated", ["unrelated.py"])
    found = parent_copy({"tiny-proj"}, (), [str(site)], [str(site)])
    assert found.names == {"proj", "helper"}
    assert not found.folders


def test_the_parents_copy_by_the_folder_it_was_installed_from(tmp_path: Path) -> None:
    site, tree = tmp_path / "site", tmp_path / "my tree"
    write(tree, {"proj.py": ""})
    write(site, {"__editable__.other.pth": f"{tree}\n"})
    dist_info(site, "other_name", ["__editable__.other.pth"], tree, editable=True)
    found = parent_copy(set(), (tree,), [str(site), str(tree)], [str(site)])
    assert found.folders == {str(tree)}
    assert editable_distributions(site) == ["other-name"]
    assert parent_copy(set(), (tmp_path,), [str(site)], [str(site)]) == parent_copy(set(), (), [], [])


def test_the_hook_of_an_editable_install_is_read_and_itself_not_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"__editable___p_1_finder.py": "MAPPING = {'proj': '/t'}", "__editable__.p.pth": "import x\n"},
    )
    dist_info(tmp_path, "p", ["__editable___p_1_finder.py", "__editable__.p.pth"])
    found = parent_copy({"p"}, (), [str(tmp_path)], [str(tmp_path)])
    assert found.names == {"proj"}
    assert not found.folders


def test_a_develop_install_leaves_its_metadata_in_the_tree(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"tree/proj.egg-info/PKG-INFO": "Name: proj\n", "tree/proj.egg-info/top_level.txt": "proj\n"},
    )
    found = parent_copy({"proj"}, (), [str(tmp_path / "tree")], [str(tmp_path / "site")])
    assert found.folders == {str(tmp_path / "tree")}


@pytest.mark.parametrize(
    ("files", "backend"),
    [
        ({"pyproject.toml": SETUPTOOLS}, "setuptools.build_meta"),
        ({"pyproject.toml": "[build-system]\nrequires = ['flit']\nbuild-backend = 'flit.api'"}, "flit.api"),
        ({"pyproject.toml": "[project]\nname = 'x'"}, "setuptools.build_meta"),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 80"}, None),
        ({"pyproject.toml": "[tool.ruff]", "setup.py": ""}, "setuptools.build_meta"),
        ({"setup.cfg": "[metadata]\nname = x"}, "setuptools.build_meta"),
        ({"setup.cfg": "[flake8]\nmax-line-length = 80"}, None),
        ({"script.py": ""}, None),
    ],
)  # fmt: skip
def test_what_counts_as_packaging(tmp_path: Path, files: dict[str, str], backend: str | None) -> None:
    write(tmp_path, files)
    assert install.packaging_of(tmp_path).backend == backend


def test_an_unreadable_pyproject_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project\n"})
    with pytest.raises(InstallError, match=r"pyproject\.toml of the commit cannot be read"):
        install.packaging_of(tmp_path)


def test_a_missing_backend_is_named_with_its_cure() -> None:
    packaging = Packaging("no_such_backend.api:hooks", requires=("no-such-backend>=2",))
    with pytest.raises(InstallError, match=r"'no_such_backend\.api'.*pip install 'no-such-backend>=2'"):
        install.check_backend(packaging, "0123456789abcdef")
    install.check_backend(Packaging("no_such_backend.api", in_tree=True), "0123456789abcdef")
    install.check_backend(Packaging("setuptools.build_meta:__legacy__"), "0123456789abcdef")


def test_requirements_of_the_build_that_are_not_at_hand() -> None:
    requires = (
        "setuptools>=1",
        "no-such-thing[extra]>=3; python_version >= '3'",
        "absent; python_version < '3'",
    )
    assert install.missing_requirements(Packaging("x", requires=requires)) == [requires[1]]


def test_a_rewritten_start_up_module_counts_within_the_same_second(tmp_path: Path) -> None:
    def asked(name: str) -> str:
        install.write_startup(tmp_path, {"own": ("aaaa",), "withheld": (name,)})
        program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import _dcu_overlay\n"
        program += "print(*next(f for f in sys.meta_path if type(f).__name__ == 'ProjectFinder').withheld)"
        environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return subprocess.check_output([sys.executable, "-c", program], env=environ, text=True).strip()

    assert [asked("bbbb"), asked("cccc"), asked("cccc")] == ["bbbb", "cccc", "cccc"]
    assert (tmp_path / install.STARTUP_PTH).read_text() == "import _dcu_overlay\n"


def test_pip_comes_from_the_parent_else_from_python_else_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Env:
        ran: ClassVar[list[list[str]]] = []

        def run_executable(self, executable: str, args: list[str], **_: object) -> None:
            self.ran.append([executable, *args])

    there = {"pip", "ensurepip"}
    monkeypatch.setattr(install, "_importable", there.__contains__)
    install.prepare_pip(Env())
    assert Env.ran == []
    there.remove("pip")
    install.prepare_pip(Env())
    assert Env.ran == [["python", "-m", "ensurepip", "--default-pip"]]
    there.remove("ensurepip")
    with pytest.raises(InstallError, match="pip is not installed beside asv"):
        install.prepare_pip(Env())
