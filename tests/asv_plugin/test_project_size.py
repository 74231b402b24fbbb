"""The installed size of a commit's project: to the byte, and nothing of anybody else's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from dcu_asv_ext.asv_plugin import install
from dcu_asv_ext.asv_plugin.overlay_store import CommitStore
from dcu_asv_ext.asv_plugin.project_size import project_facts, project_size

from .overlay_project import Project, valued, write


def installed(folder: Path, files: Mapping[str, str], outside: Mapping[str, str] | None = None) -> Path:
    """A commit's environment with one distribution; its site-packages."""
    site_packages = install.site_packages_of(folder)
    site_packages.mkdir(parents=True)
    write(site_packages, files)
    write(folder, outside or {})
    listed = [*files, *(os.path.relpath(folder / name, site_packages) for name in outside or {})]
    about = site_packages / "tinyproj-0.1.dist-info"
    write(about, {"METADATA": "Name: tinyproj\n", "INSTALLER": "pip\n", "direct_url.json": "{}"})
    (about / "RECORD").write_text(
        "".join(f"{name},,\n" for name in [*listed, "tinyproj-0.1.dist-info/RECORD"])
    )
    return site_packages


METADATA = len("Name: tinyproj\n")


def test_every_file_of_the_project_counts_once(tmp_path: Path) -> None:
    site_packages = installed(
        tmp_path / "env",
        {"tinyproj/__init__.py": "12345", "tinyproj/deep/table.bin": "1234567", "tinyproj_loose.py": "123"},
        outside={"bin/tiny": "12", "share/tiny/data": "1234"},
    )
    (site_packages / "tinyproj" / "again").symlink_to("__init__.py")
    (site_packages / "tinyproj" / "deeper").symlink_to("deep")
    os.link(site_packages / "tinyproj_loose.py", site_packages / "tinyproj" / "hard.py")
    found = project_size(tmp_path / "env", copied=False)
    assert found == {"package_size": 5 + 7 + 3 + 2 + 4 + METADATA, "files": 6}


def test_what_is_not_the_project_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    site_packages = installed(folder, {"tinyproj/__init__.py": "12345"})
    before = project_size(folder, copied=False)
    install.write_startup(site_packages, {"own": ("tinyproj",)})
    write(
        site_packages,
        {
            "tinyproj/__pycache__/__init__.cpython-311.pyc": "code",
            "tinyproj/old.pyc": "code",
            "pip/__init__.py": "by ensurepip",
            "pip-24.0.dist-info/RECORD": "pip/__init__.py,,\npip-24.0.dist-info/RECORD,,\n../../../bin/pip,,\n",
        },
    )
    write(folder, {"bin/python-config": "of the environment", "bin/pip": "by ensurepip"})
    assert project_size(folder, copied=False) == before == {"package_size": 5 + METADATA, "files": 2}


def test_a_project_named_like_a_tool_counts(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    site_packages = installed(folder, {"wheel/__init__.py": "12345"})
    os.rename(site_packages / "tinyproj-0.1.dist-info", site_packages / "wheel-0.1.dist-info")
    assert project_size(folder, copied=False)["package_size"] == 5 + METADATA


def test_files_of_no_distribution_count_too(tmp_path: Path) -> None:
    site_packages = install.site_packages_of(tmp_path)
    site_packages.mkdir(parents=True)
    (site_packages / "tinyproj.py").write_text("1234")
    assert project_size(tmp_path, copied=False) == {"package_size": 4, "files": 1}


def test_copied_sources_are_the_project(tmp_path: Path) -> None:
    install.site_packages_of(tmp_path).mkdir(parents=True)
    write(
        tmp_path / "sources", {"src/tinyproj.py": "1234", "docs/read.me": "12", "src/__pycache__/a.pyc": "1"}
    )
    assert project_size(tmp_path, copied=True) == {"package_size": 6, "files": 2}
    assert project_size(tmp_path, copied=False) == {"package_size": 0, "files": 0}


def test_a_folder_that_cannot_be_read_is_no_small_project(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        project_size(tmp_path / "nowhere", copied=False)


def test_another_kind_of_environment_says_why_nothing_is_known() -> None:
    found = project_facts(SimpleNamespace(tool_name="existing"))
    assert set(found) == {"missing"}
    assert "existing environment" in found["missing"] and "overlay" in found["missing"]


SUITE = """
    import os, signal
    import tinyproj
    import dcu_asv_ext as dcu

    @dcu.benchmark(metrics=["latency"])
    def value():
        return tinyproj.value()

    @dcu.benchmark(metrics=["latency"])
    def crash():
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.e2e
def test_the_size_reaches_all_evidence_and_is_measured_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.commit({"readme.md": ""})
    one = project.commit(valued(1))
    two = project.commit({"tinyproj/more.py": "x" * 1000})
    project.benchmarks(SUITE)
    project.configure(plugins=[".dcu_asv_ext.asv_plugin"])
    project.asv("run", f"{one}^..{two}", "--quick", code=2)
    sizes = {}
    for commit in (one, two):
        (evidence,) = (project.suite / "results" / "box").glob(f"{commit[:8]}-*.evidence.jsonl")
        records = [json.loads(line) for line in evidence.read_text().splitlines()]
        assert {record["benchmark"]: record["status"].partition(":")[0] for record in records} == {
            "suite.value": "ok",
            "suite.crash": "crashed",
        }
        (sizes[commit],) = {json.dumps(record["project"]) for record in records}
        assert json.loads((project.env(commit) / "installed.json").read_text())["project"] == json.loads(
            sizes[commit]
        )
    first, second = json.loads(sizes[one]), json.loads(sizes[two])
    site_packages = install.site_packages_of(project.env(one))
    about = next(site_packages.glob("tinyproj-*.dist-info"))
    counted = [site_packages / "tinyproj" / "__init__.py", *about.iterdir()]
    counted = [
        one for one in counted if one.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
    ]
    assert first == {"package_size": sum(one.stat().st_size for one in counted), "files": len(counted)}
    assert second == {"package_size": first["package_size"] + 1000, "files": first["files"] + 1}

    # An environment from before this was asked: measured when it is used.
    place = project.env(one) / "installed.json"
    record = json.loads(place.read_text())
    del record["project"]
    place.write_text(json.dumps(record))
    evidence = next((project.suite / "results" / "box").glob(f"{one[:8]}-*.evidence.jsonl"))
    evidence.unlink()
    project.asv("run", f"{one}^!", "--quick", "-b", "value")
    assert json.loads(evidence.read_text().splitlines()[-1])["project"] == first


def test_an_install_record_keeps_it(tmp_path: Path) -> None:
    store = CommitStore(tmp_path)
    lease = store.begin("a" * 40)
    store.complete(lease, {"commit": "a" * 40, "checksum": "c", "project": {"package_size": 7, "files": 1}})
    lease.release()
    again = store.lease("a" * 40, "c")
    assert again is not None and again.record["project"] == {"package_size": 7, "files": 1}
    again.release()
