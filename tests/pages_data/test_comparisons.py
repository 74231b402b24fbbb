"""What the pages say of two commits is what `dcu-asv compare` and `dcu-asv gate` say, made once."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.asv_plugin.results import Project, load_file
from dcu_asv_ext.pages import comparisons
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.comparisons import Comparer, Pair
from dcu_asv_ext.pages.comparisons_history import Lenders, pack
from dcu_asv_ext.pages.comparisons_pair import short
from dcu_asv_ext.pages.model import Work
from tests.e2e.prepared import ENV, rounds_of
from tests.gates.candidates import Candidates, measured
from tests.pages_data.works import data, keys, opened

#: Commits of the branch; all but the third were measured with evidence.
COMMITS = 9
PLAIN = "other-env"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Candidates:
    """A branch with a change, a benchmark that changed its version, a tag on a line of its own, and another suite's
    results of the same commits."""
    project = Candidates(tmp_path_factory.mktemp("comparisons"))
    hashes = [project.base, project.candidate, *project.commits(COMMITS - 2)]
    for number, commit in enumerate(hashes):
        if number != 2:
            project.keep(commit, records(number))
        values = rounds_of(0.02 * (1.1 if number > 4 else 1.0), 1, 20, seed=number)[0]
        project.write(commit, {}, {"plain.time_x": values, "plain.track_y": float(number)}, env=PLAIN)
    project.git("checkout", "-q", "-b", "old", hashes[3])
    project.keep(aside := project.commit({"step": "aside"}), records(20))
    project.git("tag", "v0.1", aside)
    project.git("checkout", "-q", "main")
    return project


def records(number: int) -> list[Any]:
    seed = 100 * number
    slow = 1.2 if number > 5 else 1.0
    versions = {"versions": dict.fromkeys(("latency", "peak_allocated"), str(number // 7))}
    return [
        *measured("suite.step", latency=0.010 * slow, seed=seed, hours=number, params={"n": "64"}),
        *measured("suite.step", latency=0.020, seed=seed + 30, hours=number, params={"n": "128"}),
        *measured("suite.part", kind="micro", seed=seed + 60, hours=number, error=None),
        *measured(
            "suite.new", metrics=["latency", "peak_allocated"], seed=seed + 90, hours=number, **versions
        ),
    ]


@pytest.fixture
def work(made: Candidates, tmp_path: Path) -> Work:
    return opened(made.suite, tmp_path / "out", tmp_path / "cache")


@pytest.fixture
def says(
    made: Candidates, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """The JSON of a command on two commits of a place."""
    monkeypatch.chdir(made.suite)

    def call(command: str, work: Work, pair: Pair) -> dict[str, Any]:
        place, before, after = work.places[pair.place], *(work.commits[one].short for one in pair[1:])
        cli.main([command, before, after, "--machine", place.machine, "--env", place.env, "--json"])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return call


def place(work: Work, env: str) -> int:
    return [one.env for one in work.places].index(env)


def line(work: Work, env: str = ENV) -> list[int]:
    where = place(work, env)
    return [one for one in work.branches["main"].commits if (where, one) in work.entries]


def pairs(work: Work) -> dict[str, Pair]:
    ours, plain = place(work, ENV), place(work, PLAIN)
    on, tag = line(work), work.tags["v0.1"]
    return {
        "first": Pair(ours, on[0], on[1]),
        "over a commit that was not measured": Pair(ours, on[1], on[2]),
        "another version": Pair(ours, on[5], on[6]),
        "newest": Pair(ours, on[-2], on[-1]),
        "backwards": Pair(ours, on[-1], on[3]),
        "a tag off the branch": Pair(ours, tag, on[-1]),
        "another suite": Pair(plain, line(work, PLAIN)[4], line(work, PLAIN)[5]),
    }


@pytest.mark.parametrize(
    "name",
    [
        *("first", "over a commit that was not measured", "another version", "newest", "backwards"),
        *("a tag off the branch", "another suite"),
    ],
)
def test_it_says_what_the_commands_say(work: Work, says: Callable[..., dict[str, Any]], name: str) -> None:
    pair = pairs(work)[name]
    found = Comparer(work).told(pair)
    assert isinstance(found, dict)
    gates = found.pop("gates")
    assert found == short(says("compare", work, pair))
    assert gates == short(says("gate", work, pair))
    assert found["rows"]


def test_a_gate_with_a_margin_of_its_own_has_its_own_comparison(
    made: Candidates, tmp_path: Path, says: Callable[..., dict[str, Any]]
) -> None:
    made.gate({"performance": {"margin": "3%", "equivalence": "8%"}})
    try:
        work = opened(made.suite, tmp_path / "out")
        pair = pairs(work)["newest"]
        found = Comparer(work).told(pair)
        assert isinstance(found, dict)
        gates = found.pop("gates")
        assert gates == short(says("gate", work, pair))
        assert found == short(says("compare", work, pair))
        assert gates["settings"]["margin"] == 0.03
        assert found["settings"]["margin"] == 0.01
    finally:
        made.set_up()


def test_a_gate_that_cannot_be_asked_says_why(made: Candidates, tmp_path: Path) -> None:
    made.gate({"performance": {"margin": "much"}})
    try:
        work = opened(made.suite, tmp_path / "out")
        found = Comparer(work).told(pairs(work)["newest"])
        assert isinstance(found, dict)
        assert "margin" in found["gates"]["error"]
        assert found["counts"]
    finally:
        made.set_up()


def test_a_pair_is_written_where_the_pages_look_for_it(work: Work) -> None:
    pair = pairs(work)["newest"]
    before, after = (work.commits[one].short for one in pair[1:])
    told = Comparer(work).told(pair)
    assert keys(work.out.folder) == [f"c/{pair.place}/{before}-{after}"]
    assert data(work.out.folder, f"c/{pair.place}/{before}-{after}") == told
    assert work.comparisons == [tuple(pair)]


def test_a_side_that_was_not_measured_is_named(work: Work) -> None:
    missing = next(one for one in work.branches["main"].commits if one not in line(work))
    pair = Pair(place(work, ENV), missing, line(work)[-1])
    assert Comparer(work).told(pair) == (
        f"{work.commits[missing].short} was not measured on box in {work.places[pair.place].env}"
    )
    assert not Comparer(work).publish(pair)
    assert keys(work.out.folder) == []


# ---- the cache


def unread(work: Work) -> Work:
    def fail(*_: Any) -> Any:
        raise AssertionError("it was read again")

    work.results = work.uncut = fail
    return work


def again(made: Candidates, work: Work) -> Work:
    """The next publish."""
    work.cache.close()
    return opened(made.suite, work.out.folder.with_name("next"), work.out.folder.with_name("cache"))


def test_what_an_earlier_publish_compared_is_not_compared_again(made: Candidates, work: Work) -> None:
    comparisons.build(work)
    later = unread(again(made, work))
    later.may_go_on = lambda: False
    comparisons.build(later)
    assert later.comparisons == work.comparisons
    for key in keys(work.out.folder):
        assert data(work.out.folder, key) == data(later.out.folder, key)


def test_without_the_cache_the_same_is_said(made: Candidates, work: Work, tmp_path: Path) -> None:
    comparisons.build(work)
    bare = opened(made.suite, tmp_path / "bare")
    comparisons.build(bare)
    assert {key: data(bare.out.folder, key) for key in keys(bare.out.folder)} == {
        key: data(work.out.folder, key) for key in keys(work.out.folder)
    }


@pytest.mark.parametrize("changed", [1, -2, -1], ids=["history", "before", "after"])
def test_what_hangs_on_a_changed_result_is_compared_again(made: Candidates, work: Work, changed: int) -> None:
    pair = pairs(work)["newest"]
    Comparer(work).told(pair)
    entry = work.entries[pair.place, line(work)[changed]]
    path = made.results_dir / str(entry.result)
    text = path.read_text()
    path.write_text(text.replace('"duration', ' "duration'))
    try:
        later = again(made, work)
        assert not Comparer(later).publish(pair, make=False)
    finally:
        path.write_text(text)
    assert Comparer(again(made, later)).publish(pair, make=False)


def test_another_gate_is_asked_again(made: Candidates, work: Work) -> None:
    pair = pairs(work)["newest"]
    Comparer(work).told(pair)
    made.gate({"correctness": {"unchecked": "forbid"}})
    try:
        later = again(made, work)
        assert not Comparer(later).publish(pair, make=False)
        told = Comparer(later).told(pair)
        assert isinstance(told, dict)
        assert told["gates"]["outcome"] == "failed"
    finally:
        made.set_up()


# ---- which are made


def test_each_commit_is_compared_with_the_one_before_it_newest_first(work: Work) -> None:
    work.change_pairs.append((place(work, ENV), line(work)[4], line(work)[5]))
    comparisons.build(work)
    found = [Pair(*one) for one in work.comparisons]
    assert found[0] == Pair(place(work, ENV), line(work)[4], line(work)[5])
    assert [one.after for one in found[1:]] == sorted((one.after for one in found[1:]), reverse=True)
    for env in (ENV, PLAIN):
        on, where = line(work, env), place(work, env)
        neighbours = {Pair(where, *one) for one in itertools.pairwise(on)}
        assert neighbours <= set(found)
    assert len(found) == len(set(found)) == len(line(work)) - 1 + len(line(work, PLAIN)) - 1


def test_nobody_waits_for_them_unless_all_are_asked_for(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "FEW", 0)
    calls = iter([True, True])
    work.may_go_on = lambda: next(calls, False)
    comparisons.build(work)
    assert len(work.comparisons) == 2
    left = len(list(comparisons.wanted(work))) - 2
    assert work.notes[-1].startswith(f"{left} comparisons of older commits are not made yet")
    work.compare_all = True
    comparisons.build(work)
    assert len(work.comparisons) == len(list(comparisons.wanted(work)))


@pytest.mark.parametrize("fewer", [0, 1])
def test_a_few_are_made_all_the_same(work: Work, monkeypatch: pytest.MonkeyPatch, fewer: int) -> None:
    """Else a short history, whose publish takes no time, would never have any."""
    count = len(list(comparisons.wanted(work)))
    monkeypatch.setattr(comparisons, "FEW", count - fewer)
    work.may_go_on = lambda: False
    comparisons.build(work)
    assert len(work.comparisons) == (0 if fewer else count)


def test_no_more_are_published_than_a_site_should_hold_unless_all_are_asked_for(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparisons.build(work)
    monkeypatch.setattr(comparisons, "BYTES", work.out.bytes // 2)
    few = opened_again(work)
    comparisons.build(few)
    assert 0 < len(few.comparisons) < len(work.comparisons)
    assert few.comparisons == work.comparisons[: len(few.comparisons)]
    assert any("compare_all" in note for note in few.notes)
    everything = opened_again(work)
    everything.compare_all = True
    comparisons.build(everything)
    assert everything.comparisons == work.comparisons
    assert everything.notes == work.notes


def opened_again(work: Work) -> Work:
    """The same, before anything is written."""
    folder = work.out.folder.with_name("again")
    return replace(work, out=type(work.out)(folder), comparisons=[], notes=[*work.notes])


# ---- the history


def test_what_is_kept_of_a_result_is_what_a_history_takes_of_it(made: Candidates, work: Work) -> None:
    """Compared with the result as `dcu-asv compare` reads it for its history."""
    sets = Project.open(made.suite / "asv.conf.json").history("box", ENV)
    found, notes = Lenders(work).sets(Lenders(work).entries(place(work, ENV), line(work)[-1]))
    assert notes == []
    assert [one.commit for one in found] == [one.commit for one in sets]
    for kept, read in zip(found, sets, strict=True):
        assert (kept.machine, kept.env, kept.date, kept.dirty) == (read.machine, read.env, read.date, False)
        expected = {key: one for key, one in zip(*read.lenders, strict=True) if one is not None}
        assert expected
        assert {key: _told(one) for key, one in zip(*kept.lenders, strict=True)} == {
            key: _told(one) for key, one in expected.items()
        }
    assert found[-1].lenders[0] is found[-2].lenders[0]


def _told(one: Any) -> Any:
    return list(one.run), one.version, one.protocol, one.identity and one.identity.digest


def test_a_result_that_cannot_be_read_lends_nothing_and_is_told(
    made: Candidates, tmp_path: Path, says: Callable[..., dict[str, Any]]
) -> None:
    """The file is broken after its digest was taken, as a file that another process writes."""
    broken = next((made.results_dir / "box").glob(f"{made.base[:8]}-{ENV}.json"))
    text = broken.read_text()
    work = opened(made.suite, tmp_path / "out")
    pair = pairs(work)["newest"]
    broken.write_text("{")
    try:
        told = Comparer(work).told(pair)
        assert isinstance(told, dict)
        folder = f"{made.results_dir.resolve()}/"
        assert told["notes"] == [one.replace(folder, "") for one in says("compare", work, pair)["notes"]]
        assert len(told["notes"]) == 1
        refused = Comparer(work).told(Pair(pair.place, line(work)[0], pair.after))
        assert isinstance(refused, str)
        assert f"box/{broken.name}" in refused
    finally:
        broken.write_text(text)


def test_the_window_of_a_long_line_has_fifty_results(work: Work) -> None:
    """And that of the commit itself."""
    entry = work.entries[place(work, ENV), line(work)[-1]]
    many = list(range(200))
    work.entries = {(0, one): entry for one in many if one % 2}
    branch = work.branches["main"]
    work.branches["main"] = type(branch)("main", branch.line, many, many)
    assert len(Lenders(work).entries(0, 199)) == 51
    assert len(Lenders(work).entries(0, 9)) == 5


def test_packing_keeps_no_side_without_a_sound_figure(made: Candidates, tmp_path: Path) -> None:
    failed = measured("suite.step", status="out of memory: 3 GiB", times={}, memory={})
    path = made.keep(made.git("rev-parse", "HEAD").strip(), failed, env="failing")
    try:
        lenders = Lenders(opened(made.suite, tmp_path / "out"))
        assert lenders._unpacked(pack(load_file(path))).lenders == ((), [])
    finally:
        for one in path.parent.glob("*failing*"):
            os.unlink(one)


def test_a_cache_of_nothing_does(made: Candidates, tmp_path: Path) -> None:
    work = opened(made.suite, tmp_path / "out")
    work.cache = Cache(None)
    assert isinstance(Comparer(work).told(pairs(work)["first"]), dict)
