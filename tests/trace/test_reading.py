"""Every form of the same trace is read alike, in bounded memory, and damage costs what is damaged."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.trace import load, reading
from dcu_asv_ext.trace.model import Trace
from dcu_asv_ext.trace.reading import EventReader

from .synthetic import Run
from .writing import FORMS, write

Event = dict[str, Any]


def read(path: Path) -> tuple[list[Event], EventReader]:
    reader = EventReader(path)
    return [event for events in reader for event in events], reader


def same(one: Trace, other: Trace) -> None:
    assert one.names == other.names and one.lanes == other.lanes and one.threads == other.threads
    for table in ("device", "calls", "operators", "frames", "spans", "memory"):
        for column, values in vars(getattr(one, table)).items():
            assert np.array_equal(values, getattr(getattr(other, table), column)), (table, column)


@pytest.fixture(scope="module")
def run() -> Run:
    return Run("rocprofiler", ("blocking", "several_devices"), steps=30)


@pytest.mark.parametrize("members", [0, 1, 7])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [1 << 16, 700])
def test_every_form_is_read_alike(
    form: str, members: int, piece: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PIECE", piece)
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PACKED", max(1, piece // 100))
    document = run.document()
    events, reader = read(write(tmp_path / "trace.json", FORMS[form](document), members))
    assert events == document["traceEvents"]
    assert (reader.faults, reader.count) == ([], len(events))
    header = {} if form == "array" else {name: one for name, one in document.items() if name != "traceEvents"}
    assert reader.header == header


def test_the_columns_do_not_depend_on_the_form(run: Run, tmp_path: Path) -> None:
    texts = [json.dumps(run.document()), FORMS["kineto"](run.document())]
    one, other = (load(write(tmp_path / f"{number}.json", text, number)) for number, text in enumerate(texts))
    same(one, other)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    events = Run(steps=20).events()

    def peak(times: int) -> int:
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({"traceEvents": events * times}))
        tracemalloc.start()
        count = sum(len(one) for one in EventReader(path))
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == len(events) * times
        return held

    assert peak(40) < 1.2 * peak(4)


def test_events_that_hold_lists_of_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A border between the objects inside an event is none of the array's."""
    monkeypatch.setattr(reading, "_PIECE", 64)
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PIECE", 50)
    inner = [{"ph": "X", "name": f"] }}, {{ {number}"} for number in range(9)]
    events = [
        {"ph": "i", "name": 'quoted " } , { ', "args": {"inner": inner}, "id": one} for one in range(50)
    ]
    found, reader = read(write(tmp_path / "trace.json", json.dumps({"traceEvents": events})))
    assert (found, reader.faults) == (events, [])


def test_a_huge_event(tmp_path: Path) -> None:
    events = [{"ph": "i", "name": "x" * 3_000_000}, {"ph": "i", "name": "y"}]
    found, reader = read(write(tmp_path / "trace.json", json.dumps(events)))
    assert (found, reader.faults) == (events, [])


def test_an_event_that_never_ends_is_not_kept_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_EVENT", 1 << 18)
    text = '[{"ph": "i", "name": "first"}, {"ph": "i", "name": "' + "x" * 3_000_000
    found, reader = read(write(tmp_path / "trace.json", text))
    assert [one["name"] for one in found] == ["first"]
    assert reader.faults == ["the file ends, or cannot be read on, after its event 1: what follows is lost"]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-nan", "NaN", "Infinity", "-nan(ind)", "1.#INF"])
def test_numbers_that_json_does_not_have(number: str, tmp_path: Path) -> None:
    """As printf writes them; the last is no number in any language, and costs its event alone."""
    rows = [
        f'{{"ph": "i", "name": "a: nan, b", "args": {{"bandwidth": {number} , "size": 1}}, "id": {one}}}'
        for one in range(3)
    ]
    good = '{"ph": "i", "name": "a: nan, b"}'
    found, reader = read(write(tmp_path / "trace.json", f"[{good}, {', '.join(rows)}, {good}]"))
    if number == "1.#INF":
        assert len(found) == 2
        assert reader.faults == ["the file is damaged in 3 places: the events there are lost"]
    else:
        assert (len(found), reader.faults) == (5, [])
        assert {one["name"] for one in found} == {"a: nan, b"}
        assert all(one["args"]["size"] == 1 for one in found[1:4])


@pytest.mark.parametrize("piece", [1 << 16, 90])
@pytest.mark.parametrize(
    "bad", ['{"ph": "X", "name": "C:\\x\\y"}', '{"ph": "X", "name": "a "b" c"}', '{"ph": }', "{]}"]
)
def test_damage_costs_the_damaged_event(
    bad: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PIECE", piece)
    good = [json.dumps({"ph": "i", "name": f"event {one}", "args": {}}) for one in range(200)]
    rows = [*good[:50], bad, *good[50:120], bad, *good[120:]]
    found, reader = read(write(tmp_path / "trace.json", '{"traceEvents": [' + ", ".join(rows) + '], "x": 1}'))
    assert [one["name"] for one in found] == [f"event {one}" for one in range(200)]
    assert reader.faults == ["the file is damaged in 2 places: the events there are lost"]
    assert reader.header == {"x": 1}


def test_entries_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    found, reader = read(write(tmp_path / "trace.json", '[1, "x", null, [], {"ph": "i"}]'))
    assert found == [{"ph": "i"}]
    assert (reader.count, reader.faults) == (1, ["4 of the events are no objects: left out"])


@pytest.mark.parametrize(
    ("tail", "fault"),
    [
        ('], "traceName": "x"}', None),
        ("]}\n\n", None),
        ("]", "the file is cut behind its events"),
        ('], "traceName": "x', "the entries beside the events cannot be read, or are cut"),
        ("]} {}", "something follows the trace in the file: left out"),
        ("", "the file ends, or cannot be read on, after its event 1: what follows is lost"),
        (", ", "the file ends, or cannot be read on, after its event 1: what follows is lost"),
    ],
)
def test_what_follows_the_events(tail: str, fault: str | None, tmp_path: Path) -> None:
    found, reader = read(write(tmp_path / "trace.json", '{"traceEvents": [{"ph": "i"}' + tail))
    assert found == [{"ph": "i"}]
    assert reader.faults == ([] if fault is None else [fault])


def test_bytes_that_are_no_letters(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b'[{"ph": "i", "name": "caf\xe9"}, {"ph": "i", "name": "' + "café".encode() + b'"}]')
    found, reader = read(path)
    assert [one["name"] for one in found] == ["caf\ufffd", "café"]
    assert reader.faults == ["the file has bytes that are not UTF-8: replaced"]


def test_letters_of_several_bytes_are_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PIECE", 3)
    found, reader = read(
        write(tmp_path / "trace.json", json.dumps([{"name": "é漢🙂" * 20}], ensure_ascii=False))
    )
    assert (found, reader.faults) == ([{"name": "é漢🙂" * 20}], [])
