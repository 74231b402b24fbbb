"""`dcu-asv prune`: evidence packed and thinned; asv's files, verdicts and unfinished sessions left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.locks import result_lock
from dcu_asv_ext.asv_plugin.results import Project
from dcu_asv_ext.evidence import store, traces
from tests.asv_plugin.result_folder import ENV, ResultFolder
from tests.comparing.measured import record

from .running import Run, runner

NAME = "suite.step"
OLD, YOUNG = "2020-01-01T10:00:00+00:00", "2100-01-01T10:00:00+00:00"
SAMPLED = {"source": "sysfs", "times": [0.0, 1.0], "core_clock_mhz": [1, 2], "passes": {}}


def measured(samples: list[float], session: str, started_at: str = OLD, **changes: Any) -> dict[str, Any]:
    return record(
        latency=samples,
        benchmark=NAME,
        params={},
        metrics=["latency"],
        versions={"latency": "v1"},
        session=session,
        started_at=started_at,
        **changes,
    )


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    made = ResultFolder(tmp_path, 2)
    made.describe(**{f"{NAME}.latency": {"name": f"{NAME}.latency", "version": "v1", "family": NAME}})
    made.save(made.commits[0], {f"{NAME}.latency": [1.0, 2.0, 3.0]})
    made.evidence(
        made.commits[0],
        measured([7.0, 8.0], "replaced"),
        measured([1.0, 2.0, 3.0], "kept", sampled=SAMPLED),
    )
    return made


@pytest.fixture
def prune(folder: ResultFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("prune", folder.root, monkeypatch, capsys)


def evidence(folder: ResultFolder, commit: int = 0) -> Path:
    return folder.place(folder.commits[commit], ".evidence.jsonl")


def sessions(path: Path) -> list[str]:
    return [one["session"] for one in store.read(path).records]


def figures(folder: ResultFolder) -> dict[Any, Any]:
    (found,) = Project.open(folder.root / "asv.conf.json").result_sets(folder.commits[0])
    return {key: side.rounds for key, side in found.sides.items()}


def test_evidence_is_compressed_and_reads_the_same(folder: ResultFolder, prune: Run) -> None:
    before, rounds = store.read(evidence(folder)).records, figures(folder)
    asv = {path: path.read_bytes() for path in folder.results.rglob("*.json")}
    code, out, _ = prune()
    assert code == 0 and "1 of 1 evidence files were compressed" in out
    assert not evidence(folder).exists() and store.is_there(evidence(folder))
    assert store.read(evidence(folder)).records == before
    assert figures(folder) == rounds != {}
    assert asv == {path: path.read_bytes() for path in folder.results.rglob("*.json")}
    code, out, _ = prune()
    assert code == 0 and "0 of 1 evidence files were compressed" in out


def test_old_measurements_are_thinned_and_replaced_ones_dropped(folder: ResultFolder, prune: Run) -> None:
    rounds = figures(folder)
    code, out, _ = prune("--thin-older-than", "365d")
    assert code == 0 and "1 old measurements were thinned, 1 replaced ones were dropped" in out
    assert sessions(evidence(folder)) == ["kept"]
    (left,) = store.read(evidence(folder)).records
    assert left["sampled"] == {"source": "sysfs", "passes": {}} and left["thinned"] == ["sampled"]
    assert left["times"]["latency"] == [1.0, 2.0, 3.0]
    assert figures(folder) == rounds


def test_young_ones_stay_whole(folder: ResultFolder, prune: Run) -> None:
    folder.evidence(
        folder.commits[0],
        measured([7.0, 8.0], "replaced", YOUNG),
        measured([1.0, 2.0, 3.0], "kept", YOUNG, sampled=SAMPLED),
    )
    assert prune("--thin-older-than", "1d")[0] == 0
    assert sessions(evidence(folder)) == ["replaced", "kept"]
    assert store.read(evidence(folder)).records[1]["sampled"] == SAMPLED


def test_without_an_age_nothing_is_thinned(folder: ResultFolder, prune: Run) -> None:
    prune()
    assert sessions(evidence(folder)) == ["replaced", "kept"]


def test_where_asv_s_file_contradicts_the_evidence_nothing_counts_as_replaced(
    folder: ResultFolder, prune: Run
) -> None:
    folder.save(folder.commits[0], {f"{NAME}.latency": [100.0, 200.0]})
    prune("--thin-older-than", "1d")
    assert sessions(evidence(folder)) == ["replaced", "kept"]


def test_a_failed_benchmark_keeps_its_measurements(folder: ResultFolder, prune: Run) -> None:
    folder.save(folder.commits[0], {f"{NAME}.latency": None})
    prune("--thin-older-than", "1d")
    assert sessions(evidence(folder)) == ["replaced", "kept"]


def test_a_dry_run_does_nothing(folder: ResultFolder, prune: Run) -> None:
    before = {path: path.read_bytes() for path in folder.results.rglob("*") if path.is_file()}
    code, out, _ = prune("--dry-run", "--thin-older-than", "1d")
    assert code == 0 and "would be compressed" in out and "would be dropped" in out
    assert before == {path: path.read_bytes() for path in folder.results.rglob("*") if path.is_file()}


def test_an_unfinished_session_is_passed_over(folder: ResultFolder, prune: Run) -> None:
    folder.place(folder.commits[0], ".session").write_text("{}")
    code, out, _ = prune()
    assert code == 0 and "its session is not finished" in out and evidence(folder).exists()


def test_what_a_run_is_writing_is_passed_over(folder: ResultFolder, prune: Run) -> None:
    lock = result_lock(evidence(folder))
    lock.acquire()
    try:
        code, out, _ = prune()
    finally:
        lock.release()
    assert code == 0 and "a run is writing it" in out and evidence(folder).exists()


def test_damaged_evidence_is_named_and_left(folder: ResultFolder, prune: Run) -> None:
    prune()
    packed = Path(f"{evidence(folder)}.gz")
    packed.write_bytes(packed.read_bytes()[:-10])
    damaged = packed.read_bytes()
    folder.evidence(folder.commits[1], measured([1.0], "other"))
    code, out, _ = prune()
    assert code == 3 and "is damaged" in out and packed.read_bytes() == damaged
    assert not evidence(folder, 1).exists(), "the others are compressed all the same"


def test_torn_lines_stay(folder: ResultFolder, prune: Run) -> None:
    path = evidence(folder)
    path.write_text(path.read_text() + '{"torn": ')
    prune("--thin-older-than", "1d")
    assert list(store.iter_lines(path))[-1] == '{"torn": '


def test_json_tells_every_file(folder: ResultFolder, prune: Run) -> None:
    code, out, _ = prune("--json")
    (one,) = json.loads(out)["files"]
    assert code == 0 and one["file"] == f"box/{folder.commits[0][:8]}-{ENV}.evidence.jsonl"
    assert one["after"] < one["before"]


@pytest.mark.parametrize("given", ["soon", "-3d", "5", "9999999999y"])
def test_what_is_no_age_is_wrong_use(prune: Run, given: str) -> None:
    code, _, err = prune(f"--thin-older-than={given}")
    assert code == 3 and given in err


def test_no_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ResultFolder(tmp_path, 1)
    code, _, err = runner("prune", made.root, monkeypatch, capsys)()
    assert code == 4 and "there are no results" in err


def test_a_folder_that_cannot_be_written_loses_nothing(
    folder: ResultFolder, prune: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = evidence(folder).read_bytes()
    monkeypatch.setattr(store.packing, "replace_bytes", full)
    code, _, err = prune()
    assert code == 3 and "No space left" in err and evidence(folder).read_bytes() == before


def kept_trace(folder: ResultFolder, commit: int) -> Path:
    path = traces.trace_path(evidence(folder, commit), NAME, None)
    path.parent.mkdir()
    path.write_bytes(b"x" * (1 << 20))
    return path


def test_traces_of_older_commits_go_and_those_of_the_newest_stay(folder: ResultFolder, prune: Run) -> None:
    folder.save(folder.commits[1], {f"{NAME}.latency": [1.0, 2.0, 3.0]})
    folder.configure(dcu={"keep_traces": 1})
    old, new = kept_trace(folder, 0), kept_trace(folder, 1)
    said = prune("--dry-run")[1]
    assert "traces of 1 older results would be removed: 1.00 MiB" in said and old.exists()
    told = json.loads(prune("--json")[1])
    assert not old.parent.exists() and new.exists()
    assert told["traces"] == [{"file": f"box/{old.parent.name}", "bytes": 1 << 20, "kept": ""}]
    assert "traces" not in prune()[1]


def test_traces_of_an_unfinished_session_are_passed_over(folder: ResultFolder, prune: Run) -> None:
    folder.configure(dcu={"keep_traces": 0})
    path = kept_trace(folder, 0)
    folder.place(folder.commits[0], ".session").write_text("{}")
    assert f"passed over: box/{path.parent.name}: its session is not finished" in prune()[1] and path.exists()


def test_a_wrong_number_of_kept_traces_is_one_sentence(folder: ResultFolder, prune: Run) -> None:
    folder.configure(dcu={"keep_traces": -1})
    done = prune()
    assert done[0] == 3 and "a whole number of at least 0" in done[2] and done[2].count("\n") == 1
