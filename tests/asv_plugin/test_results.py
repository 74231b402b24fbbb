"""asv's results found by commit, machine, environment and branch."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.results import NoResults, Project, ResultsError
from tests.asv_plugin.result_folder import ENV, NAME, ResultFolder

OURS = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    return ResultFolder(tmp_path)


@pytest.fixture
def project(folder):
    """With results of every commit but the last."""
    for commit in folder.commits[:-1]:
        folder.save(commit)
    return Project.open(folder.root / "asv.conf.json")


def _sentence(fault):
    text = str(fault.value)
    assert "\n" not in text
    return text


class TestOpen:
    def test_paths_are_those_of_the_configuration_s_folder(self, folder, monkeypatch):
        monkeypatch.chdir("/")
        project = Project.open(folder.root / "asv.conf.json")
        assert (project.folder, project.results_dir) == (folder.root, folder.root / "results")
        assert project.branches == ["main"] and project.no_repo == ""

    def test_without_a_name_it_is_the_one_of_the_current_folder(self, folder, monkeypatch):
        monkeypatch.chdir(folder.root)
        assert Project.open().results_dir == folder.root / "results"

    def test_no_configuration_is_told(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ResultsError) as fault:
            Project.open()
        assert "No `asv.conf` file found" in _sentence(fault)

    @pytest.mark.parametrize("text", ["{", "[]", '{"version": 1}'])
    def test_one_that_cannot_be_read_is_told(self, tmp_path, text):
        (tmp_path / "asv.conf.json").write_text(text)
        with pytest.raises(ResultsError) as fault:
            Project.open(tmp_path / "asv.conf.json")
        assert _sentence(fault)

    def test_a_repository_that_is_not_here_is_not_cloned(self, folder):
        project = Project.open(folder.configure(repo="https://example.invalid/x.git"))
        assert project.repo is None
        assert project.no_repo == "the repository https://example.invalid/x.git is not here"
        assert sorted(one.name for one in folder.root.iterdir()) == ["asv.conf.json", "repo"]

    def test_a_folder_that_is_no_repository_is_told(self, folder):
        (folder.root / "plain").mkdir()
        project = Project.open(folder.configure(repo="plain"))
        assert project.repo is None and "plain cannot be used" in project.no_repo

    @pytest.mark.parametrize("change", [{"repo": 5}, {"results_dir": None}, {"project": ["p"]}])
    def test_what_must_be_a_text(self, folder, change):
        with pytest.raises(ResultsError, match=f'^"{next(iter(change))}" in asv.conf.json must be a text'):
            Project.open(folder.configure(**change))


class TestResolve:
    def test_branches_tags_and_hashes(self, folder, project):
        last = folder.commits[-1]
        folder.git("tag", "-a", "v1", "-m", "one", folder.commits[1])
        assert project.resolve("main") == project.resolve(last) == project.resolve(last[:7]) == last
        assert project.resolve("v1") == project.resolve("main~2") == folder.commits[1]

    def test_a_commit_that_only_the_results_know_is_found_by_its_beginning(self, folder, project):
        folder.save("beef" * 10)
        project = Project.open(folder.root / "asv.conf.json")
        assert project.resolve("beefbee") == project.resolve("BEEFBEEFBEEF") == "beef" * 10

    def test_without_a_repository_the_results_are_asked(self, folder, project):
        project.repo, project.no_repo = None, "the repository is not here"
        assert project.resolve(folder.commits[0][:8]) == folder.commits[0]

    def test_a_beginning_of_two_commits_is_ambiguous(self, folder, project):
        for commit in ("beef0000" * 5, "beef1111" * 5):
            folder.save(commit)
        project = Project.open(folder.root / "asv.conf.json")
        with pytest.raises(
            ResultsError, match=r"beef may be any of beef0000.*, beef1111.*; write more of the hash"
        ):
            project.resolve("beef")

    @pytest.mark.parametrize("revision", ["nowhere", "-x", "--all", "", "deadbeef", "^main"])
    def test_what_nobody_knows_is_told_with_the_newest_that_have_results(self, folder, project, revision):
        with pytest.raises(ResultsError) as fault:
            project.resolve(revision)
        newest = ", ".join(commit[:8] for commit in folder.commits[2::-1])
        assert f"there is no commit {revision}:" in _sentence(fault)
        assert _sentence(fault).endswith(f"and no result has it; there are results of {newest}")

    def test_a_range_is_no_commit(self, project):
        with pytest.raises(ResultsError, match=r"main~1\.\.main is a range of commits"):
            project.resolve("main~1..main")


class TestMachines:
    def test_those_with_results(self, folder, project):
        folder.save(folder.commits[0], machine="attic")
        (folder.results / "empty").mkdir()
        assert Project.open(folder.root / "asv.conf.json").machines() == ["attic", "box"]

    def test_the_only_one_is_meant(self, project):
        assert project.machine() == "box"

    def test_several_are_ambiguous(self, folder, project):
        folder.save(folder.commits[0], machine="attic")
        project = Project.open(folder.root / "asv.conf.json")
        with pytest.raises(ResultsError, match=r"several machines \(attic, box\); name one: --machine"):
            project.machine()
        assert project.machine("attic") == "attic"

    def test_one_that_has_none_is_told(self, project):
        with pytest.raises(ResultsError, match="no results of machine 'moon'; there are of: box"):
            project.machine("moon")

    def test_no_results_at_all(self, folder):
        project = Project.open(folder.root / "asv.conf.json")
        assert project.machines() == []
        with pytest.raises(NoResults, match=r"there are no results in .*results; `asv run` makes some"):
            project.machine()


class TestResultSets:
    def test_all_environments_of_a_commit(self, folder, project):
        folder.save(folder.commits[0], env="other-py3.11")
        project = Project.open(folder.root / "asv.conf.json")
        found = project.result_sets(folder.commits[0])
        assert [(one.env, one.commit, one.machine) for one in found] == [
            ("other-py3.11", folder.commits[0], "box"),
            (ENV, folder.commits[0], "box"),
        ]

    @pytest.mark.parametrize("env", [ENV, "overlay", "PY3.10"])
    def test_an_environment_is_named_in_full_or_in_part(self, folder, project, env):
        folder.save(folder.commits[0], env="other-py3.11")
        project = Project.open(folder.root / "asv.conf.json")
        assert [one.env for one in project.result_sets(folder.commits[0], env=env)] == [ENV]

    def test_an_environment_that_is_not_there_is_told(self, folder, project):
        with pytest.raises(ResultsError, match=f"no results of an environment 'x'; it has of: {ENV}"):
            project.result_sets(folder.commits[0], env="x")

    def test_every_machine_s_unless_one_is_named(self, folder, project):
        folder.save(folder.commits[0], machine="attic")
        project = Project.open(folder.root / "asv.conf.json")
        assert [one.machine for one in project.result_sets(folder.commits[0])] == ["attic", "box"]
        assert [one.machine for one in project.result_sets(folder.commits[0], "box")] == ["box"]

    def test_a_commit_without_results_is_told_with_those_that_have(self, folder, project):
        with pytest.raises(NoResults) as fault:
            project.result_sets(folder.commits[-1], "box")
        newest = ", ".join(commit[:8] for commit in folder.commits[2::-1])
        assert _sentence(fault) == (
            f"there are no results of {folder.commits[-1][:8]} on box; there are results of {newest}"
        )

    def test_only_the_newest_five_are_named(self, tmp_path):
        folder = ResultFolder(tmp_path, commits=9)
        for commit in folder.commits[:8]:
            folder.save(commit)
        with pytest.raises(
            NoResults, match=rf"{folder.commits[7][:8]}, .*{folder.commits[3][:8]} and 3 more$"
        ):
            Project.open(folder.root / "asv.conf.json").result_sets(folder.commits[8])

    def test_another_commit_with_the_same_first_letters_is_not_taken(self, folder, project):
        commit = folder.commits[-1]
        folder.save(commit[:8] + "0" * 32)
        with pytest.raises(NoResults):
            Project.open(folder.root / "asv.conf.json").result_sets(commit)


class TestHistory:
    def test_in_commit_order_without_those_of_other_branches(self, folder, project):
        folder.save("beef" * 10)
        project = Project.open(folder.root / "asv.conf.json")
        assert [one.commit for one in project.history()] == folder.commits[:-1]

    def test_up_to_a_commit_and_no_more_than_so_many(self, folder, project):
        found = project.history(branch=folder.commits[1])
        assert [one.commit for one in found] == folder.commits[:2]
        assert [one.commit for one in project.history(newest=2)] == folder.commits[1:3]

    def test_of_one_environment(self, folder, project):
        folder.save(folder.commits[0], env="other-py3.11")
        project = Project.open(folder.root / "asv.conf.json")
        assert [one.env for one in project.history(env="other-py3.11")] == ["other-py3.11"]
        assert len(project.history()) == 4

    def test_without_a_repository_by_date(self, folder, project):
        project.repo = None
        assert [one.commit for one in project.history()] == folder.commits[:-1]
        assert [one.commit for one in project.history(newest=1)] == folder.commits[2:3]

    def test_without_a_repository_up_to_a_commit(self, folder, project):
        project.repo = None
        found = project.history(branch=folder.commits[1], newest=1)
        assert [one.commit for one in found] == folder.commits[1:2]

    def test_of_an_environment_whose_name_is_too_long_for_a_file(self, folder):
        long = "overlay-" + "very-long-" * 15
        folder.save(folder.commits[0], env=long)
        folder.save(folder.commits[0], env="other-py3.11")
        project = Project.open(folder.root / "asv.conf.json")
        assert [one.env for one in project.history(env=long)] == [long]

    def test_a_file_that_cannot_be_read_is_passed_over_and_told(self, folder, project):
        folder.place(folder.commits[1], ".json").write_text("{")
        assert len(project.history()) == 2
        assert project.notes[0].startswith("passed over: Error parsing JSON")

    def test_an_unknown_branch_is_told(self, project):
        with pytest.raises(ResultsError, match="the repository has no branch nowhere"):
            project.history(branch="nowhere")


class TestCommits:
    def test_all_of_a_branch_oldest_first(self, folder, project):
        found = project.commits()
        assert [one.hash for one in found] == folder.commits
        assert (found[1].date, found[1].subject) == (1_700_000_060_000, "commit 1")

    def test_first_parents_only(self, folder):
        folder.git("-c", "user.name=x", "-c", "user.email=x@x", "reset", "-q", "--hard", folder.commits[1])
        tree = folder.git("rev-parse", "main^{tree}")
        who = ("-c", "user.name=x", "-c", "user.email=x@x")
        merge = folder.git(
            *who, "commit-tree", tree, "-p", folder.commits[1], "-p", folder.commits[3], "-m", "a\tmerge"
        )
        found = Project.open(folder.root / "asv.conf.json").commits(merge)
        assert [one.hash for one in found] == [*folder.commits[:2], merge]
        assert found[-1].subject == "a\tmerge"

    def test_without_a_repository_those_with_results(self, folder, project):
        project.repo = None
        assert [one.hash for one in project.commits()] == folder.commits[:-1]

    def test_ten_thousand(self, tmp_path):
        folder = ResultFolder(tmp_path, commits=10_000)
        folder.save(folder.commits[5000])
        project = Project.open(folder.root / "asv.conf.json")
        assert len(project.commits()) == 10_000
        assert [one.commit for one in project.history()] == [folder.commits[5000]]


def test_the_results_of_this_repository():
    project = Project.open(OURS / "asv.conf.json")
    files = project.files("two-cores")
    (found,) = project.result_sets(next(one for one in files if one.prefix == "47f91d59").head()[0])
    assert found.machine == "two-cores" and found.notes == []
    sides = list(found.sides.values())
    assert len(sides) == 222
    assert {one.conflict for one in sides} == {""}
    counts = {len(one.rounds) for one in sides if one.state == "ok"}
    assert counts == {3, 5}
    whole = [one for one in sides if one.rounds and not any(each.cut for each in one.rounds)]
    assert len(whole) > 80
    for one in whole:
        assert one.value == pytest.approx(statistics.median(x for each in one.rounds for x in each.samples))


def test_reading_imports_neither_torch_nor_scipy_stats(folder, project):
    code = (
        "import sys; from dcu_asv_ext.asv_plugin.results import Project; p = Project.open(sys.argv[1]);"
        "[list(one.sides.values()) for one in p.history()];"
        "print([name for name in ('torch', 'scipy.stats') if name in sys.modules])"
    )
    arguments = [sys.executable, "-c", code, str(folder.root / "asv.conf.json")]
    told = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=OURS)
    assert told.stdout.strip() == "[]"


PACKED = OURS.parent / "shared/data/django_asv_results.tar.gz"
TOOL = OURS.parent / "shared/tools/make_history.py"


@pytest.mark.skipif(not (PACKED.exists() and TOOL.exists()), reason="the recorded history is not here")
def test_a_real_history_of_another_suite(tmp_path):
    made = [sys.executable, str(TOOL), str(PACKED), str(tmp_path / "h"), "--commits", "12"]
    subprocess.run(made, check=True, capture_output=True)
    project = Project.open(tmp_path / "h" / "asv.conf.json")
    history = project.history(project.machine())
    assert [one.commit for one in history] == [one.hash for one in project.commits()]
    sides = [one for results in history for one in results.sides.values()]
    assert len(sides) > 12 * 50
    assert all([len(each.samples) for each in one.rounds] == [5, 5] for one in sides if one.state == "ok")
    assert json.loads((project.results_dir / "benchmarks.json").read_text())


def test_a_benchmark_s_name_is_kept(project, folder):
    (found,) = project.result_sets(folder.commits[0])
    assert {series.asv_name for series in found.series.values()} == {NAME}
