"""Evidence and asv's figures as rounds."""

from __future__ import annotations

import math

import pytest

from dcu_asv_ext.comparing.model import EVIDENCE, FAILED, MICRO, MISSING, OK, SAMPLES, VALUE, WORKLOAD, Key
from dcu_asv_ext.comparing.reading import Entries, asv_side, read_results
from dcu_asv_ext.metrics import PROTOCOL
from tests.comparing.measured import (
    FAMILY,
    LATENCY,
    NAN,
    PARAMS,
    VERSION,
    failed,
    latency_side,
    read,
    record,
    recorded,
)

TWO = [record(1, (1.0, 2.0)), record(2, (3.0, 4.0))]


class TestRounds:
    def test_each_round_keeps_its_samples_in_order_with_where_they_come_from(self):
        side = latency_side([record(2, (4.0, 3.0)), record(1, (2.0, 1.0))], recorded((1.0, 2.0, 3.0, 4.0)))
        assert (side.state, side.source, side.version, side.protocol) == (OK, EVIDENCE, VERSION, PROTOCOL)
        assert [one.samples for one in side.rounds] == [(2.0, 1.0), (4.0, 3.0)]
        assert [(one.number, one.session) for one in side.rounds] == [(1, "s1"), (2, "s1")]
        assert side.rounds[1].started_at == "2026-01-01T10:02:00.000+00:00"
        assert side.value == 2.5
        assert side.notes == ()

    def test_a_metric_of_one_number_has_rounds_of_one_sample(self):
        memory = Key(FAMILY, "peak_allocated", PARAMS)
        found = read(TWO, {memory: recorded((4096.0, 4096.0))})
        assert [one.samples for one in found.sides[memory].rounds] == [(4096.0,), (4096.0,)]

    def test_series_tell_unit_direction_and_names_of_parameters(self):
        series = read(TWO).series[LATENCY]
        assert (series.asv_name, series.unit, series.better) == ("gemm.matmul.latency", "seconds", "lower")
        assert series.param_names == ("n", "dtype")

    def test_only_matching_keys_are_made(self):
        found = read(TWO, match=lambda key: key.metric == "latency")
        assert list(found.sides) == list(found.series) == [LATENCY]

    def test_a_side_is_made_once_when_it_is_asked_for(self):
        sides = read(TWO).sides
        assert sides[LATENCY] is sides[LATENCY]
        assert LATENCY in sides and Key("other", "latency") not in sides


class TestSteadyState:
    SLOW = (2.0,) * 6 + (1.0, 1.001) * 12

    def test_what_was_not_steady_is_cut_from_the_latency_and_told(self):
        side = latency_side([record(1, self.SLOW)], recorded(self.SLOW))
        assert side.rounds[0].samples == self.SLOW[6:]
        assert side.rounds[0].cut == 6
        assert side.rounds[0].note.startswith("steady after warm-up")
        assert side.notes == ("the samples before the steady state were cut in 1 of 1 rounds",)

    def test_what_the_warm_up_took_is_not_cut_again(self):
        times = {"warm_up": [2.0] * 6, "latency": [1.0, 1.001] * 12}
        side = latency_side([record(1, times=times)], recorded(times["latency"]))
        assert (side.rounds[0].cut, side.rounds[0].note) == (0, "")
        assert side.rounds[0].samples == tuple(times["latency"])

    def test_a_round_that_is_never_steady_keeps_all_and_says_so(self):
        rising = tuple(round(1.0 + 0.05 * i, 2) for i in range(40))
        side = latency_side([record(1, rising)], recorded(rising))
        assert side.rounds[0].samples == rising
        assert side.rounds[0].note.startswith("never steady")
        assert side.notes == ("1 of 1 rounds were never steady; all their samples are used",)

    def test_other_times_and_a_history_are_left_whole(self):
        device = Key(FAMILY, "device_time", PARAMS)
        times = {"latency": list(self.SLOW), "device_time": [*self.SLOW[:-1], None]}
        found = read([record(1, times=times)], steady=True)
        assert found.sides[device].rounds[0].samples == self.SLOW[:-1]
        assert latency_side([record(1, self.SLOW)], steady=False).rounds[0].samples == self.SLOW


class TestIdentity:
    @pytest.mark.parametrize("steady", [True, False])
    def test_a_side_knows_its_set_up_also_in_a_history(self, steady):
        four = {"threads": 4}
        sides = [latency_side([record(1, switches=one)], steady=steady) for one in (four, {"threads": 8})]
        assert [one.identity.facts["switches.threads"] for one in sides] == ["4", "8"]

    def test_it_is_that_of_the_rounds_that_are_used(self):
        four = {"threads": 4}
        both = [record(1, switches=four, session="old"), record(1), record(2, session="s1")]
        assert latency_side(both, steady=False).identity.facts["switches.threads"] == "8"
        mixed = [record(1, switches=four), record(2)]
        assert latency_side(mixed, steady=False).identity.facts["switches.threads"] == "mixed: 4; 8"

    def test_asv_s_file_alone_tells_none(self):
        assert read([], {LATENCY: recorded((1.0, 2.0))}).sides[LATENCY].identity is None

    @pytest.mark.parametrize("name", ["host", "state", "sampled"])
    def test_a_line_whose_machine_is_no_mapping_is_not_evidence(self, name):
        found = read([record(1), {**record(2), name: ["?"]}])
        assert len(found.sides[LATENCY].rounds) == 1
        assert "lines that could not be read: 1" in found.notes[-1]


class TestAsvAndEvidence:
    def test_evidence_that_contradicts_asv_s_file_is_told_with_the_figures(self):
        side = latency_side(TWO, recorded((1.0, 2.0, 3.0, 7.0)))
        assert side.conflict == (
            "the evidence contradicts asv's file (4 samples with median 2.5 there; "
            "4 with median 2.5 in the newest session, and no sessions that fit)"
        )
        assert side.value == 2.5

    def test_a_single_figure_of_asv_s_is_held_against_the_evidence_too(self):
        assert latency_side(TWO, recorded(value=2.5)).conflict == ""
        assert latency_side(TWO, recorded(value=2.6)).conflict.startswith("the evidence contradicts")

    def test_evidence_of_a_run_that_was_stopped_is_used_and_told(self):
        found = read(TWO)
        assert found.notes == [
            "aaaaaaaa (env) has evidence and no result file of asv: its run was stopped, or is still under way"
        ]
        side = found.sides[LATENCY]
        assert (side.state, side.value, len(side.rounds)) == (OK, 2.5, 2)
        assert side.notes == (
            "asv's file does not have it: the run was stopped before asv saved, or is still under way",
        )

    def test_a_stopped_run_has_the_rounds_of_its_newest_session(self):
        side = latency_side([*TWO, record(1, (9.0,), session="s2")])
        assert [one.samples for one in side.rounds] == [(9.0,)]

    def test_newer_rounds_that_asv_has_not_are_told(self):
        quick = record(1, (9.0,), session="s2", switches={"quick": True})
        side = latency_side([*TWO, quick], recorded((1.0, 2.0, 3.0, 4.0)))
        assert [one.session for one in side.rounds] == ["s1", "s1"]
        assert side.notes[0].startswith("the evidence has newer rounds")

    def test_quick_evidence_is_marked(self):
        side = latency_side([record(1, (9.0,), switches={"quick": True})], recorded((9.0,)))
        assert side.notes == ("measured with --quick: one call, not warmed up",)

    def test_evidence_of_another_version_is_not_asv_s(self):
        side = latency_side(TWO, recorded((1.0, 2.0, 3.0, 4.0), version="v2"))
        assert (side.source, side.version, side.conflict) == (SAMPLES, "v2", "")
        assert side.notes[-1] == "the evidence is of another version of the benchmark"

    def test_evidence_of_an_earlier_version_is_left_out(self):
        earlier = record(1, (9.0,), session="s0", versions={"latency": "v0"})
        assert len(latency_side([earlier, *TWO], recorded((1.0, 2.0, 3.0, 4.0))).rounds) == 2

    def test_rounds_of_two_protocols_are_not_mixed(self):
        other = record(2, (3.0, 4.0), protocol=PROTOCOL + 1)
        side = latency_side([TWO[0], other], recorded((1.0, 2.0, 3.0, 4.0)))
        assert (
            side.conflict == f"its rounds were measured by different protocols ([{PROTOCOL}, {PROTOCOL + 1}])"
        )


class TestWithoutANumber:
    def test_a_failure_has_the_reason_of_the_evidence(self):
        side = latency_side([TWO[0], failed(2)], recorded())
        assert (side.state, side.reason, side.rounds) == (FAILED, "out of memory: 3 GiB", ())

    def test_not_measured_has_the_reason_of_the_evidence(self):
        without = record(1, missing={"latency": "it has no latency"})
        side = latency_side([without], recorded(value=NAN))
        assert (side.state, side.reason) == (MISSING, "it has no latency")

    def test_asv_s_word_counts_where_the_evidence_says_something_else(self):
        assert latency_side(TWO, recorded()).reason == "it failed, and the evidence tells no reason"
        assert latency_side(TWO, recorded(value=NAN)).state == MISSING

    def test_a_protocol_that_asv_was_not_given_is_the_reason(self):
        side = latency_side([record(1, protocol=PROTOCOL + 1)], recorded(value=NAN))
        assert side.reason == f"measured by protocol {PROTOCOL + 1}, not {PROTOCOL}"

    def test_a_stopped_run_that_only_failed_is_a_failure(self):
        side = latency_side([failed(1, "timed out after 60 s")])
        assert (side.state, side.reason) == (FAILED, "timed out after 60 s")


class TestSamplesOfAsvAlone:
    def test_they_are_split_by_the_rounds_that_asv_was_told_to_do(self):
        side = asv_side(recorded((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), rounds=2)
        assert [one.samples for one in side.rounds] == [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]
        assert (side.source, side.value, side.notes) == (SAMPLES, 3.5, ())

    def test_where_the_rounds_do_not_divide_them_they_are_one(self):
        side = asv_side(recorded((1.0, 2.0, 3.0)), rounds=2)
        assert [one.samples for one in side.rounds] == [(1.0, 2.0, 3.0)]
        assert "taken as one round" in side.notes[0]

    def test_a_single_value_is_one_round_of_one_sample(self):
        side = asv_side(recorded(value=3.0))
        assert [one.samples for one in side.rounds] == [(3.0,)]
        assert side.source == VALUE

    def test_none_is_a_failure_and_nan_is_missing(self):
        assert asv_side(recorded()).state == FAILED
        assert asv_side(recorded(value=math.nan)).state == MISSING

    def test_a_set_without_evidence_takes_its_rounds_from_asv_s_description(self):
        key = Key("suite.time_it", "time")
        entries = Entries({key: recorded((1.0, 2.0, 3.0, 4.0))}, rounds={"suite.time_it": 2})
        found = read_results("host", "a" * 40, "env", entries=entries)
        assert len(found.sides[key].rounds) == 2


class TestBadLines:
    @pytest.mark.parametrize(
        "change",
        [
            {"params": "n=1"},
            {"params": {"n": 1}},
            {"round": "one"},
            {"times": [1.0]},
            {"times": {"latency": ["fast"]}},
            {"device": None},
            {"metrics": "latency"},
            {"metrics": [["latency"]]},
            {"session": ["s1"]},
            {"memory": {"peak_allocated": "4 GiB"}},
            {"batch": {"latency": "2"}},
            {"batch": {"latency": None}},
            {"missing": ["latency"]},
            {"kind": None},
        ],
    )
    def test_a_line_with_the_wrong_things_in_it_is_counted_and_left_out(self, change):
        found = read([*TWO, {**record(3), **change}], torn=1)
        assert len(found.sides[LATENCY].rounds) == 2
        assert "the evidence of aaaaaaaa (env) has lines that could not be read: 2" in found.notes

    def test_a_metric_that_is_not_known_is_no_series(self):
        assert Key(FAMILY, "colour", PARAMS) not in read([record(1, metrics=["latency", "colour"])]).sides

    def test_a_dirty_tree_is_marked(self):
        assert read([{**record(1), "dirty": True}]).dirty
        assert not read(TWO).dirty


class TestWhatABenchmarkIs:
    def test_its_kind_is_the_newest_record_s(self):
        assert read(TWO).series[LATENCY].kind == WORKLOAD
        assert read([record(1), record(2, kind=MICRO)]).series[LATENCY].kind == MICRO

    @pytest.mark.parametrize(
        "change",
        [
            {"params": "n=1"},
            {"variant": ["fused"]},
            {"seed": {}},
            {"param_index": "1"},
            {"param_index": 10**400},
            {"notes": 5},
            {"versions": {"latency": math.nan}},
            {"input": {"tensors": 5}},
        ],
    )
    def test_the_records_are_kept_without_the_unsound(self, change):
        assert read([*TWO, {**record(3), **change}]).records == TWO
