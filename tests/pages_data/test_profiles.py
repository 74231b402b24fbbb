"""Timelines of kept traces: which there are, where they lie, and what is said of those that cannot be shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.pages import evidence_pages, profiles
from dcu_asv_ext.pages.model import Work
from dcu_asv_ext.pages.writing import slug
from tests.pages import history
from tests.pages.history import ENV, FUSED
from tests.pages_data.works import data, opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> history.History:
    return history.write(tmp_path_factory.mktemp("history"))


@pytest.fixture
def work(made: history.History, tmp_path: Path) -> Work:
    """With `main`'s last two commits on the first card alone."""
    suite = tmp_path / "suite"
    shutil.copytree(made.suite, suite)
    shutil.copytree(made.suite.parent / "repo", tmp_path / "repo")
    return again(suite, made, tmp_path)


def again(suite: Path, made: history.History, folder: Path) -> Work:
    found = opened(suite, folder / "out", folder / "cache")
    wanted = {made.main[-1], made.main[-2]}
    found.entries = {
        where: one
        for where, one in found.entries.items()
        if found.commits[one.commit].hash in wanted
        and (found.places[one.place].machine, found.places[one.place].env) == ("dcu-1", ENV)
    }
    return found


def trace_of(work: Work, commit: str) -> Path:
    return work.results_dir / "dcu-1" / f"{commit[:8]}-{ENV}.traces" / f"{FUSED}.json.gz"


def test_a_kept_trace_has_a_page_that_the_evidence_names(work: Work, made: history.History) -> None:
    found = profiles.build(work)
    newest, before = found
    assert [work.commits[one.commit].hash for one in found] == [made.main[-1], made.main[-2]]
    assert newest.file == f"data/profiles/{slug(FUSED)}/{newest.place}-{made.main[-1][:8]}.html"
    assert (newest.function, newest.params) == (FUSED, ())
    page = (work.out.folder.parent / newest.file.replace("data/", "out/")).read_text()
    assert len(page.encode()) == newest.bytes
    assert "<title>attention.fused</title>" in page and "add_kernel" in page
    evidence_pages.build(work, found)
    told = data(work.out.folder, f"e/{slug(FUSED)}/{newest.place}-0")
    assert told["traces"] == [
        {"commit": work.commits[one.commit].hash, "params": [], "file": one.file, "bytes": one.bytes}
        for one in (newest, before)
    ]


def test_a_page_is_made_once(work: Work, made: history.History, monkeypatch: pytest.MonkeyPatch) -> None:
    first = profiles.build(work)
    pages = [one.read_bytes() for one in sorted(work.out.folder.rglob("*.html"))]
    work.cache.close()
    shutil.rmtree(work.out.folder)
    monkeypatch.setattr(profiles, "page_of", None)
    later = again(work.results_dir.parent, made, work.out.folder.parent)
    later.may_go_on = lambda: False
    assert profiles.build(later) == first
    assert [one.read_bytes() for one in sorted(later.out.folder.rglob("*.html"))] == pages


def test_a_trace_that_changed_is_read_again(work: Work, made: history.History) -> None:
    profiles.build(work)
    work.cache.close()
    path = trace_of(work, made.main[-1])
    shutil.copyfile(trace_of(work, made.main[-2]), path)
    later = again(work.results_dir.parent, made, work.out.folder.parent)
    newest, before = profiles.build(later)
    assert newest.bytes == before.bytes


def test_only_the_newest_is_waited_for(work: Work, made: history.History) -> None:
    work.may_go_on = lambda: False
    assert [work.commits[one.commit].hash for one in profiles.build(work)] == [made.main[-1]]


@pytest.mark.parametrize("text", [b"\x1f\x8b torn", b"{}", b"[1, 2"])
def test_a_damaged_trace_is_told_and_the_others_are_shown(
    work: Work, made: history.History, text: bytes
) -> None:
    trace_of(work, made.main[-1]).write_bytes(text)
    assert [work.commits[one.commit].hash for one in profiles.build(work)] == [made.main[-2]]
    (note,) = [one for one in work.notes if "trace" in one]
    assert note.startswith(
        f"passed over: dcu-1/{made.main[-1][:8]}-{ENV}.evidence.jsonl: the trace {FUSED}.json.gz"
    )
    assert str(work.results_dir) not in note


@pytest.mark.parametrize(
    "profile", [{"overhead": "x", "seconds": 5, "missing": 7}, {"seconds": [None, -1]}, {}]
)
def test_a_damaged_record_costs_what_it_says_of_the_profile_alone(
    work: Work, made: history.History, profile: dict[str, Any]
) -> None:
    path = work.results_dir / "dcu-1" / f"{made.main[-1][:8]}-{ENV}.evidence.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for one in records:
        if one["benchmark"] == FUSED:
            one["profile"] = {**profile, "trace": f"{FUSED}.json.gz"}
            one["times"]["latency"][0] = None
    path.write_text("".join(json.dumps(one) + "\n" for one in [{**records[0], "device": 5}, *records]))
    assert len(profiles.build(work)) == 2


def test_a_trace_of_no_measurement_is_left_alone(work: Work, made: history.History) -> None:
    path = trace_of(work, made.main[-1])
    for name in ("other.json.gz", f"{FUSED}-7.json.gz"):
        shutil.copyfile(path, path.with_name(name))
    assert len(profiles.build(work)) == 2
    assert [one for one in work.notes if "trace" in one] == []


def test_there_is_room_for_so_many(
    work: Work, made: history.History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "MOST_BYTES", 150_000)
    assert [work.commits[one.commit].hash for one in profiles.build(work)] == [made.main[-1]]
    assert work.notes[-1] == "profiles without a timeline, since all together would have more than 0 MiB: 1"


def test_none_are_made_where_no_evidence_is_wanted(work: Work) -> None:
    work.published_evidence = 0
    assert profiles.build(work) == []
