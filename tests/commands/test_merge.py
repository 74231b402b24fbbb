"""`dcu-asv merge`: several machines' results in one folder, each measurement once, all or nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin import swapping
from dcu_asv_ext.asv_plugin.locks import result_lock
from dcu_asv_ext.asv_plugin.results import Project
from dcu_asv_ext.evidence import store, traces
from tests.asv_plugin.result_folder import ENV, NAME, ResultFolder
from tests.comparing.measured import record

from .running import Run, runner

BENCHMARKS = {NAME: {"name": NAME, "version": "v1"}}


def measured(round_: int = 1, session: str = "s1", **changes: Any) -> dict[str, Any]:
    return record(round_, session=session, **changes)


class Node:
    """Another machine's results of the same repository."""

    def __init__(self, home: ResultFolder, name: str, machine: str, **facts: Any) -> None:
        self.results = home.root / name
        self.machine = machine
        self.home = home
        (self.results / machine).mkdir(parents=True)
        about = {"machine": machine, "version": 1, "cpu": "EPYC", **facts}
        (self.results / machine / "machine.json").write_text(json.dumps(about))
        self.describe(**BENCHMARKS)

    def describe(self, **benchmarks: Any) -> None:
        (self.results / "benchmarks.json").write_text(json.dumps({**benchmarks, "version": 2}))

    def save(self, commit: str, *records: dict[str, Any], started: int = 0, **changes: Any) -> None:
        made = self.home.save(commit, machine="scratch", **changes)
        found = json.loads(made.read_text())
        shutil.rmtree(made.parent)
        found["params"]["machine"] = self.machine
        column = found["result_columns"].index("started_at")
        for row in found["results"].values():
            row[column] = started
        place = self.results / self.machine / f"{commit[:8]}-{ENV}"
        Path(f"{place}.json").write_text(json.dumps(found))
        lines = [
            json.dumps({**one, "commit": commit, "env": ENV, "machine": self.machine}) + "\n"
            for one in records
        ]
        if lines:
            Path(f"{place}.evidence.jsonl").write_text("".join(lines))


@pytest.fixture
def home(tmp_path: Path) -> ResultFolder:
    made = ResultFolder(tmp_path, 3)
    node = Node(made, "results", "box")
    node.save(made.commits[0], measured(1), measured(2), started=100)
    return made


@pytest.fixture
def merge(home: ResultFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("merge", home.root, monkeypatch, capsys)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def hidden(home: ResultFolder) -> list[str]:
    return [one.name for one in home.root.iterdir() if one.name.startswith(".")]


def sessions(path: Path) -> list[tuple[str, int]]:
    return [(one["session"], one["round"]) for one in store.read(path).records]


def test_another_machine_is_brought_in(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "node7", "node7", cpu="Hygon")
    node.save(home.commits[0], measured(1, "s7"))
    node.save(home.commits[1], measured(1, "s8"))
    node.describe(**BENCHMARKS, other={"name": "other", "version": "v2"})
    before = content(node.results)
    code, out, _ = merge("node7")
    assert code == 0 and "2 results of node7 were brought into" in out
    assert "2 measurements were added" in out
    project = Project.open(home.root / "asv.conf.json")
    assert project.machines() == ["box", "node7"]
    assert set(project.benchmarks) >= {NAME, "other"}
    assert content(node.results) == before, "what is merged is not changed"
    assert hidden(home) == []
    for one in home.commits[:2]:
        (found,) = project.result_sets(one, "node7")
        assert found.sides


def test_the_same_machine_is_united_and_nothing_is_doubled(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "copy", "box")
    node.save(home.commits[0], measured(2), measured(3), started=200, samples={NAME: [9.0]})
    code, out, _ = merge("copy")
    assert code == 0 and "1 measurements were added to the evidence, 1 were there already" in out
    place = home.place(home.commits[0], ".evidence.jsonl")
    assert sessions(place) == [("s1", 1), ("s1", 2), ("s1", 3)]
    saved = json.loads(home.place(home.commits[0], ".json").read_text())
    assert saved["results"][NAME][0] == [9.0], "the later result stands"
    once = content(home.results)
    code, _, err = merge("copy")
    assert code == 0, err
    assert content(home.results) == once, "a second time changes nothing"


def test_an_earlier_result_does_not_replace_a_later_one(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "copy", "box")
    node.save(home.commits[0], started=50, samples={NAME: [9.0], "more.time_it": [1.0]})
    code, _, err = merge("copy")
    assert code == 0, err
    saved = json.loads(home.place(home.commits[0], ".json").read_text())
    assert saved["results"][NAME][0] != [9.0] and saved["results"]["more.time_it"][0] == [1.0]


def test_packed_evidence_is_united_too(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "copy", "box")
    node.save(home.commits[0], measured(3))
    store.pack(node.results / "box" / f"{home.commits[0][:8]}-{ENV}.evidence.jsonl")
    store.pack(home.place(home.commits[0], ".evidence.jsonl"))
    code, _, err = merge("copy")
    assert code == 0, err
    assert sessions(home.place(home.commits[0], ".evidence.jsonl")) == [("s1", 1), ("s1", 2), ("s1", 3)]


def test_a_thinned_double_gives_way_to_the_whole_one(home: ResultFolder, merge: Run) -> None:
    whole = measured(1, sampled={"source": "sysfs", "times": [1.0] * 50})
    node = Node(home, "copy", "box")
    node.save(home.commits[0], whole)
    code, _, err = merge("copy")
    assert code == 0, err
    (first, _) = store.read(home.place(home.commits[0], ".evidence.jsonl")).records
    assert len(first["sampled"]["times"]) == 50


def test_the_batch_sizes_are_found_again(home: ResultFolder, merge: Run) -> None:
    (home.results / "box" / "batch-sizes.dcu").write_text("old")
    node = Node(home, "copy", "box")
    node.save(home.commits[1], measured(1, "s9"))
    code, _, err = merge("copy")
    assert code == 0, err
    assert not (home.results / "box" / "batch-sizes.dcu").exists()


# ---- names


def test_two_machines_of_one_name_are_refused(home: ResultFolder, merge: Run) -> None:
    Node(home, "node8", "box", cpu="Hygon").save(home.commits[0], measured(1, "s8"))
    before = content(home.results)
    code, _, err = merge("node8")
    assert code == 3 and "two machines are called box: its cpu is 'EPYC' and 'Hygon'" in err
    assert "--rename node8/box=NAME" in err and content(home.results) == before


@pytest.mark.parametrize("given", ["node8/box=node8", "node8//box=node8", "box=node8"])
def test_a_clashing_machine_is_named_anew(home: ResultFolder, merge: Run, given: str) -> None:
    Node(home, "node8", "box", cpu="Hygon").save(home.commits[0], measured(1, "s8"))
    code, out, _ = merge("node8", "--rename", given)
    assert code == 0 and "box of node8 is called node8" in out
    folder = home.results / "node8"
    assert json.loads((folder / "machine.json").read_text())["machine"] == "node8"
    saved = json.loads((folder / f"{home.commits[0][:8]}-{ENV}.json").read_text())
    assert saved["params"]["machine"] == "node8"
    (found,) = store.read(folder / f"{home.commits[0][:8]}-{ENV}.evidence.jsonl").records
    assert found["machine"] == "node8"


def test_clashes_are_numbered(home: ResultFolder, merge: Run) -> None:
    for name, cpu in (("a", "Hygon"), ("b", "Kunpeng"), ("c", "Hygon")):
        Node(home, name, "box", cpu=cpu).save(home.commits[0], measured(1, f"s{name}"))
    code, out, _ = merge("a", "b", "c", "--rename-clashes")
    assert code == 0 and "box of a is called box-2" in out and "box of b is called box-3" in out
    assert "box of c is called box-2" in out, "the same machine as a's"
    assert sessions(home.results / "box-2" / f"{home.commits[0][:8]}-{ENV}.evidence.jsonl") == [
        ("sa", 1),
        ("sc", 1),
    ]


@pytest.mark.parametrize("given", ["box", "=x", "box=", "box=a/b", "box=.git", "box=a\0b"])
def test_what_is_no_new_name_is_wrong_use(home: ResultFolder, merge: Run, given: str) -> None:
    Node(home, "node8", "box", cpu="Hygon").save(home.commits[0])
    code, _, err = merge("node8", "--rename", given)
    assert code == 3 and "write OLD=NEW" in err


def test_a_name_that_nobody_has_is_told(home: ResultFolder, merge: Run) -> None:
    Node(home, "node7", "node7").save(home.commits[0])
    code, _, err = merge("node7", "--rename", "nod7=x")
    assert code == 3 and "there is no such machine" in err


def test_a_new_name_that_is_taken_is_refused(home: ResultFolder, merge: Run) -> None:
    Node(home, "node7", "node7", cpu="Hygon").save(home.commits[0])
    code, _, err = merge("node7", "--rename", "node7=box")
    assert code == 3 and "box is another machine's name already" in err


# ---- bad input


def test_another_project_is_refused(home: ResultFolder, merge: Run, tmp_path: Path) -> None:
    node = Node(home, "foreign", "far")
    node.save("f" * 40, measured(1, "s9"))
    before = content(home.results)
    code, _, err = merge("foreign")
    assert code == 3 and "another project's: none of its 1 commits is in this repository" in err
    assert content(home.results) == before


def test_without_a_repository_benchmarks_tell_projects_apart(
    home: ResultFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = Node(home, "ours", "a"), Node(home, "theirs", "b")
    ours.save(home.commits[0])
    theirs.save(home.commits[1])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    merge = runner("merge", elsewhere, monkeypatch, capsys)
    assert merge(str(ours.results), str(theirs.results), "--into", "all")[0] == 0
    assert (elsewhere / "all" / "a" / "machine.json").is_file()
    theirs.describe(**{"else.time_x": {"version": "1"}})
    code, _, err = merge(str(ours.results), str(theirs.results), "--into", "all2")
    assert code == 3 and "no benchmark in common" in err and not (elsewhere / "all2").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["nowhere"], "there is no folder nowhere"),
        (["empty"], "empty is no results folder"),
        (["results"], "named twice, or is the results folder itself"),
        (["node7", "node7"], "named twice"),
        (["node7/node7"], "it is a machine's: name the folder above it"),
    ],
)
def test_folders_that_cannot_be_merged(
    home: ResultFolder, merge: Run, given: list[str], sentence: str
) -> None:
    Node(home, "node7", "node7").save(home.commits[0])
    (home.root / "empty").mkdir()
    code, _, err = merge(*given)
    assert code == 3 and sentence in err


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("benchmarks.json", "{torn", "cannot be read"),
        ("benchmarks.json", '{"version": 99}', "a format of another asv"),
        ("benchmarks.json", "[]", "none of asv's files"),
        ("node7/machine.json", '{"version": 99}', "a format of another asv"),
        (f"node7/{{commit}}-{ENV}.json", '{"version": 2}', "no result file of asv"),
    ],
)
def test_broken_files_are_named_and_nothing_is_merged(
    home: ResultFolder, merge: Run, file: str, text: str, sentence: str
) -> None:
    node = Node(home, "node7", "node7")
    node.save(home.commits[0], measured(1, "s7"))
    path = node.results / file.format(commit=home.commits[0][:8])
    path.write_text(text)
    before = content(home.results)
    code, _, err = merge("node7")
    assert code == 3 and sentence in err and path.name in err and content(home.results) == before


def test_damaged_evidence_stops_the_merge(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "node7", "node7")
    node.save(home.commits[0], measured(1, "s7"))
    path = node.results / "node7" / f"{home.commits[0][:8]}-{ENV}.evidence.jsonl"
    store.pack(path)
    Path(f"{path}.gz").write_bytes(Path(f"{path}.gz").read_bytes()[:-8])
    before = content(home.results)
    code, _, err = merge("node7")
    assert code == 3 and "is damaged" in err and content(home.results) == before


def test_torn_lines_stay_and_tear_nothing_else(home: ResultFolder, merge: Run) -> None:
    own = home.place(home.commits[0], ".evidence.jsonl")
    own.write_text(own.read_text() + '{"torn')
    node = Node(home, "copy", "box")
    node.save(home.commits[0], measured(3))
    code, _, err = merge("copy")
    assert code == 0, err
    found = store.read(own)
    assert len(found.records) == 3 and found.skipped == 1


def test_while_a_run_is_measuring_nothing_is_merged(home: ResultFolder, merge: Run) -> None:
    Node(home, "node7", "node7").save(home.commits[0])
    home.place(home.commits[0], ".session").write_text("{}")
    lock = result_lock(home.place(home.commits[0], ".evidence.jsonl"))
    lock.acquire()
    try:
        code, _, err = merge("node7")
    finally:
        lock.release()
    assert code == 3 and "a run is measuring into" in err and not (home.results / "node7").exists()


def test_a_dry_run_does_nothing(home: ResultFolder, merge: Run) -> None:
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    before = content(home.results)
    code, out, _ = merge("node7", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["machines"] == ["node7"] and json.loads(out)["new"] == 1
    assert content(home.results) == before


# ---- all or nothing


@pytest.mark.parametrize("step", ["replace_bytes", "swap"])
def test_a_fault_half_way_leaves_the_results_as_they_were(
    home: ResultFolder, merge: Run, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    before = content(home.results)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(swapping, step, full)
    code, _, err = merge("node7")
    assert code == 3 and "nothing was merged" in err and content(home.results) == before
    assert hidden(home) == []


def test_results_that_change_meanwhile_are_not_lost(
    home: ResultFolder, merge: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    evidence = home.place(home.commits[0], ".evidence.jsonl")
    link = swapping._link

    def written_meanwhile(source: str, place: str) -> None:
        link(source, place)
        if source.endswith(".evidence.jsonl"):
            evidence.with_name("another").write_text("from a run")

    monkeypatch.setattr(swapping, "_link", written_meanwhile)
    code, _, err = merge("node7")
    assert code == 3 and "was written to meanwhile" in err
    assert evidence.with_name("another").exists() and not (home.results / "node7").exists()


@pytest.mark.parametrize("exchange", [True, False])
def test_where_folders_cannot_be_exchanged_in_one_step_two_do(
    home: ResultFolder, merge: Run, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(swapping, "_exchange", lambda *_: False)
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    assert merge("node7")[0] == 0
    assert (home.results / "node7" / "machine.json").exists() and (home.results / "box").exists()
    assert hidden(home) == []


def test_what_a_killed_merge_left_is_put_right(
    home: ResultFolder, merge: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two steps: the results lie under another name."""
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    before = content(home.results)
    home.results.rename(home.root / ".results.before-merge")
    (home.root / ".results.merging-x1").mkdir()
    code, _, err = merge("node7")
    assert code == 0 and "interrupted merge" in err
    after = content(home.results)
    assert {name: after[name] for name in before if name != "benchmarks.json"} == {
        name: data for name, data in before.items() if name != "benchmarks.json"
    }
    assert hidden(home) == []


@pytest.mark.parametrize("complete", [True, False])
def test_results_made_anew_since_are_not_thrown_away(home: ResultFolder, merge: Run, complete: bool) -> None:
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    left = home.root / ".results.before-merge"
    shutil.copytree(home.results, left)
    if not complete:
        (left / "box" / "only here").write_text("x")
    code, _, err = merge("node7")
    assert code == (0 if complete else 3)
    assert left.exists() is not complete
    assert ("look into both" in err) is not complete


def test_what_is_killed_while_copying_changes_nothing(home: ResultFolder) -> None:
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    before = content(home.results)
    child = os.fork()
    if child == 0:
        swapping.replace_bytes = lambda *_: os._exit(9)  # type: ignore[assignment]
        swapping.replace_folder(home.results, {"x": b""})
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert content(home.results) == before
    assert swapping.recover(home.results) and hidden(home) == [] and content(home.results) == before


def test_links_in_the_results_stay_links(home: ResultFolder, merge: Run) -> None:
    os.symlink("box", home.results / "alias")
    Node(home, "node7", "node7").save(home.commits[0], measured(1, "s7"))
    assert merge("node7")[0] == 0
    assert (home.results / "alias").is_symlink()


def kept_trace(results: Path, machine: str, commit: str, name: str, text: str) -> Path:
    evidence = results / machine / f"{commit[:8]}-{ENV}.evidence.jsonl"
    path = traces.trace_path(evidence, name, 0)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_traces_come_along_and_those_that_are_here_stay(home: ResultFolder, merge: Run) -> None:
    commit = home.commits[0]
    node = Node(home, "node7", "box7")
    node.save(commit, measured())
    new = kept_trace(node.results, "box7", commit, "suite.new", "new")
    merge("node7", "--dry-run")
    assert not (home.results / "box7").exists()
    told = json.loads(merge("node7", "--json")[1])
    here = home.results / "box7" / new.parent.name / new.name
    assert here.read_text() == "new" and told["traces"] == [f"box7/{new.parent.name}/{new.name}"]
    # The same again is nothing; another one of the same name stays behind, and that is told.
    again = merge("node7")[1]
    assert "copied" not in again and "stayed behind" not in again
    new.write_text("other")
    assert f"1 trace of box7/{commit[:8]}-{ENV} stayed behind: another is here" in merge("node7")[1]
    assert here.read_text() == "new"


def test_traces_go_where_their_machine_goes(home: ResultFolder, merge: Run) -> None:
    node = Node(home, "node7", "box7")
    node.save(home.commits[0], measured())
    path = kept_trace(node.results, "box7", home.commits[0], "suite.new", "new")
    merge("node7", "--rename", "box7=other")
    assert (home.results / "other" / path.parent.name / path.name).read_text() == "new"
