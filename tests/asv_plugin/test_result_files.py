"""One result file of asv and the evidence beside it."""

from __future__ import annotations

import json
import math

import pytest

from dcu_asv_ext.asv_plugin.result_files import ResultsError, list_files, load_file
from dcu_asv_ext.comparing.model import EVIDENCE, FAILED, MISSING, OK, SAMPLES, Key
from tests.asv_plugin.result_folder import COLUMNS, ENV, NAME, ResultFolder
from tests.comparing.measured import FAMILY, PARAMS, record

TIMED = Key(NAME, "time")
LATENCY = Key(FAMILY, "latency", PARAMS)


@pytest.fixture
def folder(tmp_path):
    return ResultFolder(tmp_path, commits=2)


@pytest.fixture
def commit(folder):
    return folder.commits[0]


def _ours(samples, version="v1"):
    """asv's row of `gemm.matmul.latency` with its one combination of parameters."""
    value = None if samples is None else sorted(samples)[len(samples) // 2]
    return {f"{FAMILY}.latency": [[value], [["256"], ["'float32'"]], version, 0, 0, *[None] * 6, [samples]]}


class TestAnotherSuite:
    def test_samples_are_split_by_the_rounds_of_benchmarks_json(self, folder, commit):
        folder.describe(
            **{NAME: {"name": NAME, "type": "time", "unit": "seconds", "rounds": 2, "param_names": []}}
        )
        found = load_file(folder.save(commit))
        side = found.sides[TIMED]
        assert [one.samples for one in side.rounds] == [(1.0, 2.0), (3.0, 4.0)]
        assert (side.source, side.version, found.series[TIMED].unit) == (SAMPLES, "v1", "seconds")

    def test_without_benchmarks_json_its_type_is_told_by_its_name(self, folder, commit):
        names = {
            "a.B.time_x": "time",
            "a.peakmem_x": "peakmemory",
            "a.mem_x": "memory",
            "a.track_x": "track",
            "a.other": "value",
        }
        found = load_file(folder.save(commit, {name: [1.0] for name in names}))
        assert {key.benchmark: key.metric for key in found.sides} == names

    def test_each_combination_of_parameters_is_a_key(self, folder, commit):
        row = [[1.0, None, math.nan], [["1", "2", "3"]], "v1", 0, 0, *[None] * 6, [[1.0], None, None]]
        found = load_file(folder.save(commit, results={NAME: row}))
        states = {key.params: side.state for key, side in found.sides.items()}
        assert states == {("1",): OK, ("2",): FAILED, ("3",): MISSING}

    def test_a_benchmark_that_failed_altogether(self, folder, commit):
        assert load_file(folder.save(commit, {NAME: None})).sides[TIMED].state == FAILED

    def test_what_is_no_number_is_left_out_and_told(self, folder, commit):
        found = load_file(folder.save(commit, results={NAME: [["fast"], [], "v1"]}))
        assert list(found.sides) == [] and found.notes == [f"{NAME} holds no number"]

    def test_facts_commit_date_and_environment_are_asv_s(self, folder, commit):
        found = load_file(folder.save(commit, env_vars={"OMP_NUM_THREADS": "8"}))
        assert (found.commit, found.env, found.machine) == (commit, ENV, "box")
        assert (found.label, found.date) == (commit[:8], 1_700_000_000_000)
        assert found.facts == {
            "machine.machine": "box",
            "machine.cpu": "EPYC",
            "requirement.python": "3.10",
            "environment.OMP_NUM_THREADS": "8",
        }


class TestOurs:
    def test_evidence_beside_the_file_is_taken(self, folder, commit):
        path = folder.save(commit, results=_ours([1.0, 2.0, 3.0]))
        folder.evidence(commit, record(1, (1.0, 2.0)), record(2, (3.0,)))
        side = load_file(path).sides[LATENCY]
        assert (side.source, side.value) == (EVIDENCE, 2.0)
        assert [one.samples for one in side.rounds] == [(1.0, 2.0), (3.0,)]
        assert side.facts["device.product"] == "K100_AI"

    def test_without_evidence_asv_s_samples_are(self, folder, commit):
        found = load_file(folder.save(commit, results=_ours([1.0, 2.0])))
        assert found.sides[LATENCY].source == SAMPLES
        assert found.series[LATENCY].asv_name == f"{FAMILY}.latency"

    def test_the_rounds_are_those_of_the_function_s_description(self, folder, commit):
        about = {
            "name": f"{FAMILY}.latency",
            "family": FAMILY,
            "rounds": 2,
            "param_names": ["n", "dtype"],
            "type": "time",
            "kind": "micro",
        }
        folder.describe(**{f"{FAMILY}.latency": about})
        found = load_file(folder.save(commit, results=_ours([1.0, 2.0])))
        assert len(found.sides[LATENCY].rounds) == 2
        assert found.series[LATENCY].kind == "micro"
        assert found.series[LATENCY].param_names == ("n", "dtype")

    def test_evidence_that_contradicts_the_file_is_told(self, folder, commit):
        path = folder.save(commit, results=_ours([1.0, 2.0]))
        folder.evidence(commit, record(1, (1.0, 3.0)))
        assert load_file(path).sides[LATENCY].conflict.startswith("the evidence contradicts asv's file")

    @pytest.mark.parametrize("by", ["evidence", "result"])
    def test_either_file_of_the_pair_may_be_named(self, folder, commit, by):
        path = folder.save(commit, results=_ours([1.0, 2.0]))
        evidence = folder.evidence(commit, record(1, (1.0, 2.0)))
        found = load_file(evidence if by == "evidence" else path)
        assert found.sides[LATENCY].source == EVIDENCE and found.notes == []

    def test_evidence_of_a_run_that_was_stopped_stands_alone(self, folder, commit):
        found = load_file(folder.evidence(commit, record(1, (1.0, 2.0))))
        assert (found.commit, found.env, found.machine) == (commit, ENV, "box")
        assert "its run was stopped" in found.notes[0]
        assert found.sides[LATENCY].rounds[0].samples == (1.0, 2.0)

    def test_evidence_of_other_benchmarks_than_those_wanted_is_not_parsed(self, folder, commit):
        other = {**record(1, (7.0,)), "benchmark": "gemm.other"}
        path = folder.evidence(
            commit, record(1, (1.0,)), other, torn='{"benchmark": "gemm.other", "params": {}, '
        )
        found = load_file(path, match=lambda key: key.benchmark == FAMILY)
        assert {key.benchmark for key in found.sides} == {FAMILY}
        assert not any("could not be read" in note for note in found.notes)
        everything = load_file(path)
        assert {key.benchmark for key in everything.sides} == {FAMILY, "gemm.other"}
        assert any("could not be read" in note for note in everything.notes)

    def test_torn_lines_and_those_of_another_commit_are_counted(self, folder, commit):
        path = folder.save(commit, results=_ours([1.0, 2.0]))
        evidence = folder.evidence(commit, record(1, (1.0, 2.0)), torn='{"benchmark": "gemm')
        with open(evidence, "a") as stream:
            stream.write("\n" + json.dumps({**record(1), "commit": "b" * 40}) + "\n")
        found = load_file(path)
        assert found.notes == [
            f"the evidence of {commit[:8]} ({ENV}) has lines that could not be read: 1",
            f"the evidence of {commit[:8]} ({ENV}) has lines of another commit: 1",
        ]
        assert found.sides[LATENCY].conflict == ""


class TestFaults:
    def _sentence(self, path):
        with pytest.raises(ResultsError) as fault:
            load_file(path)
        assert "\n" not in str(fault.value)
        return str(fault.value)

    def test_no_such_file(self, tmp_path):
        assert self._sentence(tmp_path / "x.json") == f"there is no file {tmp_path / 'x.json'}"

    @pytest.mark.parametrize("text", ["", "{", "[1]", "3", "{}", '{"version": 2}', "[" * 100_000])
    def test_what_is_no_result_file(self, folder, commit, text):
        path = folder.save(commit)
        path.write_text(text)
        assert str(path) in self._sentence(path)

    def test_bytes_that_are_no_text(self, folder, commit):
        path = folder.save(commit)
        path.write_bytes(b"\xff\xfe{}")
        assert "cannot be read" in self._sentence(path)

    def test_a_folder_in_place_of_the_evidence(self, folder, commit):
        path = folder.save(commit)
        folder.place(commit, ".evidence.jsonl").mkdir()
        assert load_file(path).sides  # it is no file, so there is no evidence

    @pytest.mark.parametrize(
        "row", [[3.0, [], "v1"], [[1.0], 5, "v1"], [[1.0], [], "v1", 0, 0, *[None] * 6, [["x"]]]]
    )
    def test_columns_with_the_wrong_things_in_them(self, folder, commit, row):
        path = folder.save(commit, results={NAME: row})
        assert str(path) in self._sentence(path)

    @pytest.mark.parametrize("field", [{"date": "May"}, {"date": [1]}, {"requirements": None}])
    def test_fields_with_the_wrong_things_in_them(self, folder, commit, field):
        path = folder.save(commit, **field)
        assert str(path) in self._sentence(path)

    def test_parameters_and_versions_that_are_no_text_are_read_as_text(self, folder, commit):
        path = folder.save(commit, results={NAME: [[1.0], [[None]], ["v1"]]})
        (key,), (side,) = zip(*load_file(path).sides.items(), strict=True)
        assert (key.params, side.version) == (("None",), "['v1']")

    def test_a_column_that_asv_does_not_know(self, folder, commit):
        path = folder.save(commit, result_columns=["colour", *COLUMNS[1:]])
        assert "unknown data key colour" in self._sentence(path)

    def test_evidence_alone_without_one_readable_line(self, folder, commit):
        assert "holds no readable evidence" in self._sentence(folder.evidence(commit, torn="{"))

    def test_benchmarks_json_that_cannot_be_read(self, folder, commit):
        path = folder.save(commit)
        (folder.results / "benchmarks.json").write_text("{")
        assert "benchmarks.json" in self._sentence(path)


def test_files_of_a_machine_are_paired_by_their_stem(folder, commit):
    folder.save(commit)
    folder.evidence(commit, record(1))
    other = folder.commits[1]
    folder.evidence(other, record(1))
    found = {one.prefix: one for one in list_files(folder.results / "box")}
    assert set(found) == {commit[:8], other[:8]}
    assert found[commit[:8]].result is not None and found[commit[:8]].evidence is not None
    assert found[other[:8]].result is None
    assert found[commit[:8]].head() == (commit, 1_700_000_000_000)
    assert found[other[:8]].head() == (other, 0)
