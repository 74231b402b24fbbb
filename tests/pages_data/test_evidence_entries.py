"""What the pages show of a measurement: the lines as they lie there, and what the commands make of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from dcu_asv_ext.comparing import memory_json
from dcu_asv_ext.comparing.memory_model import memory_of
from dcu_asv_ext.comparing.model import Key, ResultSet
from dcu_asv_ext.evidence.thinning import thin
from dcu_asv_ext.metrics import PROTOCOL
from dcu_asv_ext.pages import evidence_entries, matrices
from dcu_asv_ext.pages.evidence_entries import FunctionEvidence, entries_of
from tests.comparing.measured import FAMILY, LATENCY, PARAMS, failed, read, record, recorded
from tests.comparing.memories import CARD, FIRST, MIB, STEADY, leak

FILE = "host/aaaaaaaa-env.evidence.jsonl"
WARMING = [9e-3, 5e-3, 3e-3, 2e-3]
SAMPLES = [1.3e-3, 1.2e-3, *[1e-3 * (1 + 0.001 * (place % 5)) for place in range(60)]]


def lines_of(records: Sequence[dict[str, Any]]) -> list[str]:
    return [json.dumps(one, separators=(",", ":")) + "\n" for one in records]


def all_entries(results: ResultSet, lines: Sequence[str], recorded: bool = True) -> list[FunctionEvidence]:
    return entries_of(results, lines, FILE, recorded)


def entry_of(
    records: Sequence[dict[str, Any]], *samples: float, lines: Sequence[str] | None = None
) -> dict[str, Any]:
    """Of one combination of parameters. samples: what asv's file has of the latency."""
    known = {LATENCY: recorded(samples)} if samples else {}
    results = read(records, known)
    (function,) = all_entries(results, lines_of(records) if lines is None else lines)
    assert (function.function, function.names) == (FAMILY, ("n", "dtype"))
    (text,) = function.entries
    found: dict[str, Any] = json.loads(text)
    return found


# ---- the lines


def test_lines_stand_as_they_lie_in_the_file() -> None:
    """With digits that no double has, numbers as they were written, and an order of their own."""
    odd = [
        json.dumps({**record(2, [1.0, 2.5]), "seed": 2**63 + 11}, indent=None),
        json.dumps({**record(1), "surprise": {"<script>": "1e-05 中文 \u2028"}}, ensure_ascii=False),
    ]
    found = entry_of([json.loads(one) for one in odd], lines=[one + "\r\n" for one in odd])
    assert found["lines"] == odd
    assert found["params"] == [*PARAMS]
    assert found["file"] == FILE


def test_a_number_that_json_has_no_word_for_is_null_and_told() -> None:
    lines = lines_of([record(1), {**record(2), "work": {"flop": float("inf")}, "state": {"note": "NaN"}}])
    lines.append(json.dumps({**record(3), "state": {"note": "no NaN at all"}}) + "\n")
    found = entry_of([json.loads(one) for one in lines], lines=lines)
    assert found["lines"][0] == lines[0].rstrip()
    assert json.loads(found["lines"][1])["work"] == {"flop": None}
    assert found["lines"][2] == lines[2].rstrip()
    assert [note for note in found["notes"] if "NaN" in note] == [
        "round 2: a number of it is NaN or infinite, for which JSON has no word: it is null here"
    ]


def test_torn_lines_and_those_of_another_commit_are_left_out_and_told() -> None:
    mine, other = record(1), {**record(2), "commit": "b" * 40}
    lines = [*lines_of([mine, other]), '{"benchmark": "gem', "\n"]
    found = entry_of([mine], lines=lines)
    assert found["lines"] == [lines[0].rstrip()]
    results = read([mine], {}, torn=1)
    (function,) = all_entries(results, lines)
    assert json.loads(function.entries[0])["notes"] == [
        "the evidence of aaaaaaaa (env) has lines that could not be read: 1"
    ]


def damaged(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """With something else in the place of each field, and of each part of a group."""
    for name, value in record.items():
        for other in (5, ["x"], {"a": [1]}, math.nan, 10**400):
            yield {**record, name: other}
            if isinstance(value, dict):
                yield from ({**record, name: {**value, part: other}} for part in value)


def test_a_line_that_is_damaged_anywhere_is_left_out_or_shown_as_it_is() -> None:
    memory = STEADY | {
        "first": FIRST,
        "card": CARD,
        "growth": leak(1.0),
        "alive": {"bytes": 9, "holders": []},
    }
    whole = record(1, times={"warm_up": [1e-3], "latency": [1e-3]}, memory=memory)
    shown = 0
    for one in damaged({**record(2), "memory": memory, "thinned": ["error"]}):
        lines = lines_of([whole, one])
        results = read([json.loads(line) for line in lines], {})
        entries = [json.loads(text) for each in all_entries(results, lines) for text in each.entries]
        published = [line for each in entries for line in each["lines"]]
        assert published[0] == lines[0].rstrip()
        json.loads(f"[{','.join(published)}]", parse_constant=pytest.fail)
        matrices.text_of(results, FILE)
        shown += len(published) - 1
    assert shown > 150


def test_long_evidence_goes_on_in_further_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(number) for number in range(1, 6)]
    lines = lines_of(records)
    monkeypatch.setattr(evidence_entries, "MOST_LETTERS", 2 * len(lines[0]) + 10)
    (function,) = all_entries(read(records, {}), lines)
    first, *more = map(json.loads, function.entries)
    assert [len(one["lines"]) for one in (first, *more)] == [2, 2, 1]
    assert [one["continued"] for one in more] == [True, True]
    assert "continued" not in first
    assert all(one.keys() == {"commit", "params", "file", "continued", "lines", "derived"} for one in more)
    assert [line for one in (first, *more) for line in one["lines"]] == [one.rstrip() for one in lines]


def test_a_line_longer_than_an_entry_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_entries, "MOST_LETTERS", 10)
    (function,) = all_entries(read([record(1), record(2)], {}), lines_of([record(1), record(2)]))
    assert [len(json.loads(one)["lines"]) for one in function.entries] == [1, 1]


def test_functions_and_combinations_stand_in_the_order_of_the_file() -> None:
    long = "长<script>" * 40
    records = [
        record(1, params={"n": "2"}),
        record(1, benchmark=long, params={}),
        record(1, params={"n": "1"}),
        record(2, params={"n": "2"}),
    ]
    found = all_entries(read(records, {}), lines_of(records))
    assert [(one.function, one.names) for one in found] == [(FAMILY, ("n",)), (long, ())]
    entries = [json.loads(text) for text in found[0].entries]
    assert [(one["params"], len(one["lines"])) for one in entries] == [(["2"], 2), (["1"], 1)]


# ---- what is derived


def test_the_steady_part_is_what_a_comparison_uses() -> None:
    one = record(1, SAMPLES, times={"warm_up": WARMING, "latency": SAMPLES, "cold": [0.5]})
    found = entry_of([one], *SAMPLES)
    steady = found["derived"][0]["steady"]
    side = read([one], {LATENCY: recorded(SAMPLES)}).sides[LATENCY]
    assert steady["warm_up"] == len(WARMING)
    assert steady["start"] == len(WARMING) + 2
    assert steady["cut"] == side.rounds[0].cut == 2
    assert steady["kind"] == "steady after warm-up"
    assert steady["segments"][-1][1] == len(WARMING) + len(SAMPLES)
    assert found["derived"][0]["figures"]["latency"]["steady"] == steady["level"] == 1.002e-3
    # The figure of the history has them all.
    assert found["derived"][0]["figures"]["latency"]["n"] == len(SAMPLES)
    assert found["figures"]["latency"]["median"] == 1.002e-3
    assert found["figures"]["latency"]["max"] == 1.004e-3


def test_times_that_are_none_are_counted_in_places_and_in_nothing_else() -> None:
    samples = [1e-3, None, 1e-3, 1e-3, 1e-3, 1e-3, *[0.0] * 9]
    one = record(1, samples)
    found = entry_of([one])["derived"][0]
    assert found["steady"]["start"] == 0
    assert found["figures"]["latency"] == {"value": 1e-3, "n": 5, "number": 1, "steady": 1e-3}


def test_a_round_without_latency_has_no_steady_part() -> None:
    assert entry_of([failed(1)])["derived"][0]["steady"] is None


def test_the_rounds_that_asvs_file_is_made_of_are_told() -> None:
    """Not those of a session that was replaced, of --quick, or that were measured again."""
    older = [record(number, [2.0, 2.0], session="older") for number in (1, 2)]
    again = record(1, [1.5, 1.5])
    newest = [record(number, [1.0, 3.0]) for number in (1, 2)]
    quick = record(1, [9.0], session="quick", switches={"quick": True})
    found = entry_of([*older, again, *newest, quick], 1.0, 3.0, 1.0, 3.0)
    used = ["latency" in one["used"] for one in found["derived"]]
    assert used == [False, False, False, True, True, False]
    assert [one["session"] for one in found["derived"]] == [0, 0, 1, 1, 1, 2]
    assert [one["quick"] for one in found["derived"]] == [False] * 5 + [True]
    assert found["figures"]["latency"]["rounds"] == 2
    assert found["figures"]["latency"]["notes"] == [
        "the evidence has newer rounds that asv's file does not (--quick's, or a run that was stopped)"
    ]


def test_asvs_own_entry_is_told() -> None:
    found = entry_of([record(1, [1.0, 2.0, 4.0])], 1.0, 2.0, 4.0)
    assert found["asv"] == {
        "latency": {
            "benchmark": f"{FAMILY}.latency",
            "value": 2.0,
            "n/a": False,
            "version": "v1",
            "samples": 3,
        }
    }


def test_evidence_that_contradicts_asvs_file_says_so_and_counts_nowhere() -> None:
    found = entry_of([record(1, [1.0, 2.0])], 7.0, 8.0)
    assert found["asv"]["latency"]["value"] == 7.5
    assert found["figures"]["latency"]["notes"][0].startswith("the evidence contradicts asv's file")
    assert "latency" not in found["derived"][0]["used"]


def test_evidence_without_asvs_file_says_so() -> None:
    records = [record(1), record(2)]
    results = read(records)
    (function,) = all_entries(results, lines_of(records), recorded=False)
    found = json.loads(function.entries[0])
    assert found["asv"] == {}
    assert found["notes"] == [
        "aaaaaaaa (env) has evidence and no result file of asv: its run was stopped, or is still under way"
    ]
    assert found["figures"]["latency"]["median"] == 1.5
    assert "latency" in found["derived"][0]["used"]


def test_what_has_no_number_has_its_reason() -> None:
    missing = {"device_time": "the CPU has no device events"}
    found = entry_of([record(1, missing=missing), record(2, missing=missing)])
    told = {"state": "missing", "reason": "the CPU has no device events"}
    assert [one["figures"]["device_time"] for one in found["derived"]] == [told, told]
    assert found["figures"]["device_time"] == {**told, "notes": []}


def test_a_wrong_result_has_its_error_and_memory_and_no_time() -> None:
    wrong = "wrong result: 3 of 9 elements"
    changes: dict[str, Any] = {
        "status": wrong,
        "memory": {"peak_allocated": 4096},
        "correctness": {"max_error": 0.5},
    }
    found = entry_of([record(1, **changes)])
    assert found["status"] == wrong
    figures = found["derived"][0]["figures"]
    assert figures["latency"] == {"state": "failed", "reason": wrong}
    assert figures["max_error"]["value"] == 0.5
    assert figures["peak_allocated"]["value"] == 4096
    assert found["derived"][0]["steady"] is not None


def test_rounds_that_ended_differently_are_counted() -> None:
    found = entry_of([record(1), failed(2, "out of memory: 3 GiB"), record(3)])
    assert found["status"] == "ok (2 of 3 rounds); out of memory: 3 GiB (1 of 3 rounds)"


def test_a_figure_that_nobody_asked_for_is_told_as_such() -> None:
    one = record(1, correctness={"max_error": 1e-4, "mean_error": 1e-5})
    figures = entry_of([one])["derived"][0]["figures"]
    assert figures["mean_error"] == {"value": 1e-5, "n": 1, "number": 1, "unasked": True}
    assert "unasked" not in figures["max_error"]


def test_another_protocols_rounds_are_told_apart() -> None:
    found = entry_of([record(1, protocol=PROTOCOL + 1, metrics=["latency", "new_metric"]), record(2)])
    assert [one["ours"] for one in found["derived"]] == [False, True]
    assert "new_metric" not in found["derived"][0]["figures"]


def test_thinned_evidence_says_what_went() -> None:
    kept = {"source": "sysfs", "times": [0.0], "power_w": [100], "passes": {}}
    found = entry_of([thin(record(1, sampled=kept)), record(2)])
    assert found["derived"][0]["thinned"] == ["sampled"]
    assert "thinned" not in found["derived"][1]


def test_memory_is_what_the_command_tells() -> None:
    memory = STEADY | {"first": FIRST, "growth": leak(1024.0), "alive": {"bytes": 192 * MIB, "holders": []}}
    records = [record(1, memory=memory), record(2, memory=memory)]
    results = read(records, {})
    told = memory_json.to_json(results, memory_of(results.records))["functions"][0]
    assert entry_of(records)["memory"] == json.loads(json.dumps(told))
    assert told["growth"]["slope"] == 1024.0


def test_no_memory_is_null() -> None:
    assert entry_of([record(1, memory={})])["memory"] is None


def test_every_metric_of_the_figures_is_that_of_the_sides() -> None:
    records = [record(number, [1.0 + number, 2.0]) for number in (1, 2, 3)]
    found = entry_of(records)
    sides = read(records, {}).sides
    assert {*found["figures"]} == {key.metric for key in sides if key.benchmark == FAMILY}
    assert sides[Key(FAMILY, "latency", PARAMS)].rounds
