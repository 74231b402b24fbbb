from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.doctor import places
from dcu_asv_ext.doctor.check import Check
from dcu_asv_ext.doctor.configuration import Config

ENVIRON = {
    **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], env=ENVIRON, check=True, capture_output=True)


@pytest.fixture()
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    return folder


def checks(folder: Path, environ: dict[str, str] | None = None, **values: Any) -> dict[str, Check]:
    config = Config(folder / "asv.conf.json", {"repo": ".", "branches": ["main"], **values})
    return {one.id: one for one in places.check_repository(config, {**ENVIRON, **(environ or {})})}


def test_a_good_repository(repo: Path) -> None:
    found = checks(repo)
    assert {id: one.state for id, one in found.items()} == {
        "repository": "ok",
        "branches": "ok",
        "clone-depth": "ok",
    }


def test_another_owner(repo: Path) -> None:
    found = checks(repo, {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})["repository"]
    assert found.state == "problem" and "another user owns it" in found.finding
    assert f"safe.directory {repo}" in found.remedy


def test_no_repository(tmp_path: Path) -> None:
    ceiling = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    assert "is no git repository" in checks(tmp_path, ceiling)["repository"].finding
    assert "does not exist" in checks(tmp_path, repo="../gone")["repository"].finding
    assert "names no repo" in checks(tmp_path, repo="")["repository"].finding
    git(tmp_path, "init", "-q")
    assert "no commit yet" in checks(tmp_path)["repository"].finding
    assert checks(tmp_path, {"PATH": ""})["repository"].finding.endswith("git is not installed.")


def test_an_address_is_not_asked(tmp_path: Path) -> None:
    found = checks(tmp_path, repo="https://example.org/project.git")
    assert [one.state for one in found.values()] == ["ok"]


def test_branches(repo: Path) -> None:
    found = checks(repo, branches=["main", "release"])["branches"]
    assert found.state == "problem" and "release" in found.finding
    # None configured: asv takes git's default name, whatever the repository has.
    assert checks(repo, branches=[])["branches"].state == "problem"
    named = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main"}
    assert checks(repo, named, branches=[])["branches"].state == "ok"


def test_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", repo.as_uri(), "clone")
    assert checks(tmp_path / "clone")["clone-depth"].state == "warning"


def folders(folder: Path, free: int = 10 << 30, **values: Any) -> dict[str, str]:
    config = Config(folder / "asv.conf.json", values)
    environ = {"TMPDIR": str(folder)}
    return {one.id: one.state for one in places.check_folders(config, environ, lambda folder: free)}


def test_the_results_folder(tmp_path: Path) -> None:
    assert folders(tmp_path)["results-folder"] == "ok"
    (tmp_path / "results").mkdir()
    assert folders(tmp_path)["results-folder"] == "ok"
    assert list((tmp_path / "results").iterdir()) == []
    (tmp_path / "file").write_text("")
    assert folders(tmp_path, results_dir="file")["results-folder"] == "problem"
    assert folders(tmp_path, results_dir="file/below")["results-folder"] == "problem"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir(mode=0o555)
    assert folders(tmp_path)["results-folder"] == "problem"


def test_disk_space(tmp_path: Path) -> None:
    assert folders(tmp_path)["disk-space"] == "ok"
    assert folders(tmp_path, free=(1 << 30) - 1)["disk-space"] == "warning"
    only = places.check_folders(None, {"TMPDIR": str(tmp_path)}, lambda folder: 0)
    assert [(one.id, one.state) for one in only] == [("disk-space", "warning")]
