from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.doctor.configuration import Config, check_configuration, load_config
from dcu_asv_ext.doctor.suite import check_suite
from dcu_asv_ext.quickstart import CannotStart, Done, missing_keys, start

ENVIRON = {
    **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "ASV", "DCU_ASV"))},
    "GIT_CONFIG_GLOBAL": os.devnull,
}
FILES = [
    "asv.conf.json",
    ".asv/.gitignore",
    "benchmarks/__init__.py",
    "benchmarks/example.py",
    "ci/benchmarks.sh",
]


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], env=ENVIRON, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture()
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "my-repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def quick(folder: Path, project: str | None = None) -> Done:
    return start(folder, project, ENVIRON)


def tree(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path)]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_it_writes_a_suite(repo: Path) -> None:
    done = quick(repo)
    assert done.written == FILES and sorted(tree(repo)) == sorted(FILES) and done.kept == []
    config = load_config(repo / "asv.conf.json")
    assert config.values["project"] == "my-repo" and config.values["branches"] == ["trunk"]
    assert {one.state for one in [*check_configuration(config, "dcu"), *check_suite(config)]} == {"ok"}
    assert len(done.commands) == 3 and done.commands[1] == "asv run trunk^!"


def test_the_ci_script(repo: Path) -> None:
    quick(repo)
    script = repo / "ci/benchmarks.sh"
    assert stat.S_IMODE(script.stat().st_mode) & 0o111
    subprocess.run(["sh", "-n", str(script)], check=True)
    text = script.read_text()
    assert (
        "@" not in text.replace("actions/checkout@v4", "") and "origin/trunk" in text and ".asv/html" in text
    )


@pytest.mark.parametrize(
    ("pyproject", "name"),
    [
        ('[project]\nname = "nice-name"\n', "nice-name"),
        ('[tool.poetry]\nname = "poem"\n', "poem"),
        ('[project]\ndynamic = ["name"]\n', "my-repo"),
        ("[project\n", "my-repo"),
    ],
)
def test_the_projects_name(repo: Path, pyproject: str, name: str) -> None:
    (repo / "pyproject.toml").write_text(pyproject)
    done = quick(repo)
    assert load_config(repo / "asv.conf.json").values["project"] == done.project == name
    assert bool(done.notes) == ("project\n" in pyproject and "]" not in pyproject)


def test_the_project_can_be_named(repo: Path) -> None:
    assert quick(repo, "other").project == "other"


def test_nothing_is_overwritten(repo: Path) -> None:
    (repo / "benchmarks").mkdir()
    (repo / "benchmarks/example.py").write_text("mine\n")
    done = quick(repo)
    assert done.kept == ["benchmarks/example.py"] and tree(repo)["benchmarks/example.py"] == "mine\n"
    before = tree(repo)
    again = quick(repo)
    assert again.written == [] and again.to_add == {} and tree(repo) == before


def test_an_existing_configuration_is_never_edited(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugins = '[".mine", "dcu_asv_ext.asv_plugin"]'
    text = f'{{"repo": ".", "project": "old", "benchmark_dir": "bench", "plugins": {plugins}}} // x\n'
    (repo / "asv.conf.json").write_text(text)
    assert cli.main(["quickstart", str(repo)]) == 0
    told = capsys.readouterr().out
    assert tree(repo)["asv.conf.json"] == text and "bench/example.py" in tree(repo)
    assert "asv.conf.json is left as it is" in told
    keys = told.split("Add to it (or replace):\n")[1].split("\n\n")[0]
    assert json.loads("{" + keys + "}") == {
        "plugins": [".mine", ".dcu_asv_ext.asv_plugin"],
        "environment_type": "overlay",
    }
    (repo / "asv.conf.json").write_text(json.dumps({**json.loads(text[:-5]), **json.loads("{" + keys + "}")}))
    assert cli.main(["quickstart", str(repo)]) == 0
    assert "has all the keys that are needed already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({}, {"plugins", "environment_type"}),
        ({"environment_type": "existing"}, {"plugins", "environment_type"}),
        ({"environment_type": "overlay"}, {"plugins"}),
        ({"plugins": [".dcu_asv_ext.asv_plugin"], "environment_type": "overlay"}, set()),
    ],
)
def test_missing_keys(values: dict[str, Any], missing: set[str]) -> None:
    assert set(missing_keys(Config(Path("asv.conf.json"), values))) == missing


def test_a_project_below_the_top_of_its_repository(repo: Path) -> None:
    below = repo / "python/lib"
    below.mkdir(parents=True)
    (below / "pyproject.toml").write_text('[project]\nname = "lib"\n')
    quick(below)
    values = load_config(below / "asv.conf.json").values
    assert (values["repo"], values["repo_subdir"]) == ("../..", "python/lib")


def test_without_a_branch_or_a_commit(tmp_path: Path, repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")
    done = quick(repo)
    assert done.branch == "trunk" and "on no branch" in done.notes[0]
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q", "-b", "main")
    assert "no commit yet" in quick(fresh).notes[0]


def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["quickstart", str(folder)]) == 3
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    return shown.err


def test_what_is_refused(
    repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    assert "is no folder" in refused(tmp_path / "gone", capsys)
    assert "no git repository; run git init" in refused(tmp_path / "plain", capsys)
    (repo / "asv.conf.json").write_text("{")
    assert "no valid JSON" in refused(repo, capsys)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "safe.directory" in refused(repo, capsys)


def test_a_refusal_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["quickstart", str(tmp_path / "gone"), "--json"]) == 3
    assert "is no folder" in json.loads(capsys.readouterr().out)["error"]


def test_done_as_json(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["quickstart", str(repo), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == FILES


@pytest.mark.parametrize("name", ["ci", "benchmarks"])
def test_a_file_in_the_way(repo: Path, name: str) -> None:
    (repo / name).write_text("a file\n")
    with pytest.raises(CannotStart, match="a folder has to go there"):
        quick(repo)
    assert list(tree(repo)) == [name], "nothing is written before it is known that all can be"


def test_a_folder_in_the_way(repo: Path) -> None:
    (repo / "ci/benchmarks.sh").mkdir(parents=True)
    with pytest.raises(CannotStart, match="a file has to go there"):
        quick(repo)
    assert tree(repo) == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_repository_that_may_not_be_written(repo: Path) -> None:
    repo.chmod(0o555)
    with pytest.raises(CannotStart, match="cannot be written"):
        quick(repo)


@pytest.mark.e2e
def test_the_suite_runs(repo: Path, tmp_path: Path) -> None:
    """quickstart's own next commands, on the CPU: results, evidence, and a doctor who finds nothing wrong."""
    package = Path(cli.__file__).resolve().parents[1]
    environ = {
        **ENVIRON,
        "HOME": str(tmp_path / "home"),
        "DCU_ASV_DEVICE": "cpu",
        "PYTHONPATH": str(package),
        "OMP_NUM_THREADS": "1",
    }
    (tmp_path / "home").mkdir()

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=repo, env=environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "dcu_asv_ext.cli", "quickstart", ".")
    run("-m", "asv", "machine", "--yes")
    run("-m", "asv", "run", "trunk^!", "--quick")
    commit = git(repo, "rev-parse", "HEAD")[:8]
    [result] = (repo / ".asv/results").glob(f"*/{commit}-*.json")
    names = json.loads(result.read_text())["results"]
    assert {"example.softmax.latency", "example.softmax.max_error"} <= set(names)
    latency = names["example.softmax.latency"][0]
    assert len(latency) == 2 and all(value > 0 for value in latency)
    assert all(0 <= value < 1e-6 for value in names["example.softmax.max_error"][0])
    [evidence] = result.parent.glob("*.evidence.jsonl")
    assert [json.loads(line)["status"] for line in evidence.read_text().splitlines()] == ["ok", "ok"]
    found = json.loads(run("-m", "dcu_asv_ext.cli", "doctor", "--no-probe", "--json"))
    assert found["counts"]["problem"] == 0
