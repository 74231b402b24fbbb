"""What the pages are made of, and that nothing is read twice that was read at an earlier publish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin import site_sources
from dcu_asv_ext.asv_plugin.result_files import ResultsError
from dcu_asv_ext.asv_plugin.results import Project, load_config
from dcu_asv_ext.asv_plugin.settings import Settings
from dcu_asv_ext.asv_plugin.site_sources import Sources, work_of
from dcu_asv_ext.evidence.store import pack
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.comparisons_history import Lenders
from dcu_asv_ext.pages.model import Place, Unreadable, Work
from dcu_asv_ext.pages.writing import Out
from tests.asv_plugin.result_folder import ENV, NAME, ResultFolder
from tests.comparing.measured import record

OTHER = "suite.time_other"
PLAIN = Settings()
ABOUT = {"type": "time", "unit": "seconds", "param_names": [], "code": "def time_it(): ..."}


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    made = ResultFolder(tmp_path)
    made.describe(**{NAME: ABOUT})
    return made


def opened(folder: ResultFolder, settings: Settings = PLAIN, only: Any = None) -> Work:
    conf = load_config(folder.root / "asv.conf.json")
    project, cache = Project.open(folder.root / "asv.conf.json"), Cache(folder.root / "cache")
    sources = Sources(project, cache, only)
    work = work_of(conf, project, settings, sources, Out(folder.root / "out"), cache)
    for entry in work.entries.values():
        work.extract(entry)
    cache.close()
    return work


def digests(work: Work) -> dict[str, str]:
    """By commit."""
    return {work.commits[commit].hash: one.digest for (_, commit), one in work.entries.items()}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stems of the files that were parsed."""
    found: list[str] = []
    original = site_sources.read_file

    def read_file(file: Any, *args: Any, **kwargs: Any) -> Any:
        found.append(file.stem)
        return original(file, *args, **kwargs)

    monkeypatch.setattr(site_sources, "read_file", read_file)
    return found


def test_places_commits_and_entries(folder: ResultFolder) -> None:
    one, two = folder.commits[1], folder.commits[3]
    folder.save(one)
    folder.evidence(one, record())
    folder.save(two, machine="other", env="very-long")
    work = opened(
        folder, Settings(published_evidence=3, compare_all=True, gate={"correctness": {"growth": 2}})
    )
    assert work.places == [Place("box", ENV), Place("other", "very-long")]
    assert [each.hash for each in work.commits] == [one, two]
    first, second = work.entries[0, 0], work.entries[1, 1]
    stem = f"box/{one[:8]}-{ENV}"
    assert (first.result, first.evidence) == (f"{stem}.json", f"{stem}.evidence.jsonl")
    assert (second.result, second.evidence) == (f"other/{two[:8]}-very-long.json", None)
    assert (work.published_evidence, work.compare_all) == (3, True)
    assert work.policy is not None and work.policy.correctness.growth == 2
    assert work.project.name == "tiny" and work.measured(1) == [1] and not work.notes
    assert work.results(first).commit == one == work.results(first).commit
    assert work.results_dir == folder.results


def test_the_next_publish_parses_what_is_new_alone(folder: ResultFolder, parsed: list[str]) -> None:
    for commit in folder.commits[:3]:
        folder.save(commit)
    folder.evidence(folder.commits[0], record())
    before = digests(opened(folder))
    assert len(parsed) == 3
    parsed.clear()
    folder.save(folder.commits[3], {NAME: [5.0], OTHER: [1.0]})
    after = opened(folder)
    assert parsed == [f"{folder.commits[3][:8]}-{ENV}"]
    assert before.items() < digests(after).items()
    folder.evidence(folder.commits[0], record(), record(2))
    changed = digests(opened(folder))
    assert [one for one in before if changed[one] != before[one]] == [folder.commits[0]]


def test_what_was_just_parsed_is_compared_without_parsing_it_again(
    folder: ResultFolder, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_sources, "_NEWEST", 2)
    for commit in folder.commits:
        folder.save(commit)
    folder.evidence(folder.commits[3], record())
    work = opened(folder)
    parsed.clear()
    found = [work.results(work.entries[0, place]) for place in range(4)]
    assert [one.commit for one in found] == folder.commits
    # The newest two without evidence are remembered.
    assert parsed == [f"{folder.commits[place][:8]}-{ENV}" for place in (0, 3)]


def test_what_was_just_parsed_lends_its_rounds_without_being_parsed_again(
    folder: ResultFolder, parsed: list[str]
) -> None:
    for commit in folder.commits:
        folder.evidence(commit, record())
    work = opened(folder)
    work.cache = Cache(folder.root / "cache")
    parsed.clear()
    lenders = Lenders(work)
    found, notes = lenders.sets(lenders.entries(0, len(folder.commits) - 1))
    assert [one.commit for one in found] == folder.commits
    assert all(one.lenders[0] for one in found)
    assert (parsed, notes) == ([], [])


def test_a_description_counts_for_the_results_that_have_the_benchmark(
    folder: ResultFolder, parsed: list[str]
) -> None:
    folder.save(folder.commits[0])
    folder.save(folder.commits[1], {NAME: [1.0], OTHER: [2.0]})
    before = digests(opened(folder))
    parsed.clear()
    folder.describe(**{NAME: {**ABOUT, "code": "def time_it(): pass"}, OTHER: {**ABOUT, "unit": "bytes"}})
    after = opened(folder)
    assert parsed == [f"{folder.commits[1][:8]}-{ENV}"]
    assert [one for one in before if digests(after)[one] != before[one]] == [folder.commits[1]]
    extract = after.extract(after.entries[0, 1])
    assert {
        key.benchmark: one.unit for key, one in zip(extract.shape.keys, extract.shape.series, strict=True)
    } == {
        NAME: "seconds",
        OTHER: "bytes",
    }


def test_a_cache_that_is_gone_changes_nothing(folder: ResultFolder) -> None:
    folder.save(folder.commits[0])
    first = opened(folder)
    (folder.root / "cache" / "site.sqlite3").unlink()
    second = opened(folder)
    assert first.entries == second.entries
    one, two = (each.extract(each.entries[0, 0]) for each in (first, second))
    assert one.values == two.values and one.shape.keys == two.shape.keys


def test_what_cannot_be_read_is_passed_over_without_telling_the_place(folder: ResultFolder) -> None:
    folder.save(folder.commits[0])
    folder.save(folder.commits[1]).write_text('{"commit_hash": "x"')
    folder.save(folder.commits[2], {NAME: [1.0]}, results={NAME: [[10**400], [], "v1"]})
    folder.save(folder.commits[3]).write_text("[]")
    work = opened(folder)
    assert list(digests(work)) == [folder.commits[0], folder.commits[2]]
    assert not work.extract(work.entries[0, 1]).shape.keys
    assert len(work.notes) == 2 and all(one.startswith("passed over: ") for one in work.notes)
    assert not any(str(folder.root) in one for one in work.notes)


@pytest.mark.parametrize(
    "commit", ["../../x", "--output=x", "a\nb", "<b>abcdef</b>", "", "abc", "z" * 8 + "/"]
)
def test_a_commit_that_is_no_hash_names_no_file(folder: ResultFolder, commit: str) -> None:
    folder.save(folder.commits[0])
    path = folder.save(folder.commits[1])
    path.write_text(json.dumps({**json.loads(path.read_text()), "commit_hash": commit}))
    alone = folder.evidence(folder.commits[2], record())
    alone.write_text(json.dumps({**json.loads(alone.read_text()), "commit": commit or "-"}))
    for _ in range(2):
        work = opened(folder)
        assert list(digests(work)) == [folder.commits[0]]
        assert len(work.notes) == 2 and all("no commit's hash" in one for one in work.notes)


def test_a_file_that_goes_while_it_is_published(folder: ResultFolder) -> None:
    path = folder.save(folder.commits[0])
    opened(folder)
    work = opened(folder)
    path.write_text("no JSON")
    with pytest.raises(Unreadable, match="JSON") as raised:
        work.results(work.entries[0, 0])
    assert str(folder.root) not in str(raised.value)


def test_evidence_without_results_and_packed_evidence(folder: ResultFolder) -> None:
    path = folder.evidence(folder.commits[0], record(), record(2))
    folder.save(folder.commits[1])
    pack(folder.evidence(folder.commits[1], record()))
    work = opened(folder)
    first, second = work.entries[0, 0], work.entries[0, 1]
    assert (first.result, first.evidence) == (None, f"box/{path.name}")
    assert second.evidence == f"box/{folder.commits[1][:8]}-{ENV}.evidence.jsonl"
    assert {key.benchmark for key in work.extract(second).shape.keys} == {NAME, "gemm.matmul"}


def test_two_files_of_one_result_and_an_environment_by_its_hash(folder: ResultFolder) -> None:
    commit = folder.commits[0]
    (folder.save(commit, env="x")).rename(folder.results / "box" / f"{commit[:8]}-0123456789abcdef.json")
    folder.save(commit, env="x")
    work = opened(folder)
    assert work.places == [Place("box", "x")] and len(work.entries) == 1
    assert len(work.notes) == 1 and "another file has the same commit and environment" in work.notes[0]


def test_only_the_commits_that_are_asked_for(folder: ResultFolder) -> None:
    for commit in folder.commits:
        folder.save(commit)
    work = opened(folder, only={folder.commits[2]})
    assert list(digests(work)) == [folder.commits[2]]
    # The head, which asv's pages name too.
    assert [one.hash for one in work.commits] == folder.commits[2:]


def test_without_descriptions_a_machine_and_results(folder: ResultFolder) -> None:
    assert opened(folder).entries == {}
    folder.save(folder.commits[0])
    (folder.results / "box" / "machine.json").unlink()
    (folder.results / "benchmarks.json").unlink()
    assert len(opened(folder).entries) == 1


def test_gates_that_are_set_up_wrongly_are_told(folder: ResultFolder) -> None:
    work = opened(folder, Settings(gate={"correctnes": {}}))
    assert work.policy is None and "correctness" in work.policy_fault


def test_descriptions_that_cannot_be_read_stop_it(folder: ResultFolder) -> None:
    folder.save(folder.commits[0])
    (folder.results / "benchmarks.json").write_text("{")
    with pytest.raises(ResultsError):
        opened(folder)
