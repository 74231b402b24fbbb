"""Files that are no trace are one sentence; damaged ones give all that is left, and say what is not."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.trace import TraceError, load, summarize
from dcu_asv_ext.trace.decoding import decoded
from dcu_asv_ext.trace.reading import EventReader

from .building import MAIN, Building
from .synthetic import Run
from .writing import FORMS, write


def refusal(path: Path) -> str:
    with pytest.raises(TraceError) as caught:
        load(path)
    sentence = str(caught.value)
    assert str(path) in sentence and "\n" not in sentence
    return sentence.replace(str(path), "FILE")


NOTHING_LEFT = (
    "FILE has no events; the file ends, or cannot be read on, after its event 0: what follows is lost"
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "FILE is empty"),
        (" \n\t ", "FILE is empty"),
        ("\ufeff", "FILE is empty"),
        ("hello", "FILE is no Chrome trace: it is not JSON"),
        ("<html></html>", "FILE is no Chrome trace: it is not JSON"),
        ("{}", 'FILE is no Chrome trace: it has no list "traceEvents"'),
        ('{"traceEvents": null}', 'FILE is no Chrome trace: it has no list "traceEvents"'),
        ('{"traceEvents": {"a": 1}}', 'FILE is no Chrome trace: it has no list "traceEvents"'),
        ('{"traceEvents": []}', "FILE has no events"),
        ("[]", "FILE has no events"),
        ('{"traceEvents": [', NOTHING_LEFT),
        ('{"traceEvents": [{"ph": "X", "na', NOTHING_LEFT),
        ('{"schemaVersion": 1, "deviceProp', "FILE is no Chrome trace, or is cut before its first event"),
        ("{" * 100_000, "FILE is no Chrome trace, or is cut before its first event"),
    ],
)  # fmt: skip
def test_no_trace(text: str, sentence: str, tmp_path: Path) -> None:
    found = refusal(write(tmp_path / "trace.json", text))
    assert found == sentence or (sentence.endswith("first event") and found.startswith(f"{sentence}: "))


def test_nothing_that_can_be_opened(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "FILE cannot be read: Is a directory"
    assert refusal(tmp_path / "none.json") == "FILE cannot be read: No such file or directory"


def test_garbage(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for seed in range(40):
        chance = random.Random(seed)
        data = chance.randbytes(5000)
        for start in (b"", b"[", b"{", b'{"traceEvents": [', b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\xff"):
            path.write_bytes(start + data)
            refusal(path)
    path.write_bytes(gzip.compress(b"hello"))
    assert refusal(path) == "FILE is no Chrome trace: it is not JSON"
    path.write_bytes(gzip.compress(b""))
    assert refusal(path) == "FILE is empty"
    path.write_bytes(b"\x1f\x8b\x08\x08")
    assert refusal(path) == "FILE is empty; the compressed file was cut"


def test_cut_anywhere(tmp_path: Path) -> None:
    """Nothing that is whole before the cut is lost, and the cut is told."""
    document = Run(steps=2).document()
    texts = [FORMS[form](document) for form in ("one line", "kineto", "array")]
    path, chance = tmp_path / "trace.json", random.Random(0)
    for text in texts:
        ends = _ends_of_events(text)
        for cut in sorted(
            {*chance.sample(range(len(text)), 400), *(end + one for end in ends[:40] for one in (-1, 0, 1))}
        ):
            path.write_text(text[:cut])
            whole = sum(end <= cut for end in ends)
            if not whole:
                refusal(path)
                continue
            reader = EventReader(path)
            found = [event for events in reader for event in events]
            assert found == document["traceEvents"][:whole]
            assert len(reader.faults) == 1 or cut >= len(text.rstrip())


def _ends_of_events(text: str) -> list[int]:
    decoder, ends = json.JSONDecoder(), []
    at = text.index("[", text.find('"traceEvents"') + 1)
    while text[at] in "[,":
        at += 1
        while text[at].isspace():
            at += 1
        at = decoder.raw_decode(text, at)[1]
        ends.append(at)
        while text[at].isspace():
            at += 1
    return ends


@pytest.mark.parametrize("members", [1, 5])
def test_cut_while_compressed(members: int, tmp_path: Path) -> None:
    document = Run(steps=20).document()
    whole = write(tmp_path / "whole.json.gz", json.dumps(document), members).read_bytes()
    path, chance = tmp_path / "trace.json.gz", random.Random(0)
    seen = []
    for cut in sorted(chance.sample(range(3, len(whole)), 60)):
        path.write_bytes(whole[:cut])
        try:
            reader = EventReader(path)
            found = [event for events in reader for event in events]
        except TraceError:
            seen.append(0)
            continue
        assert found == document["traceEvents"][: len(found)]
        assert len(reader.faults) in (1, 2)
        seen.append(len(found))
    assert seen == sorted(seen)
    # All that lies before the cut is read: of a file that is cut in its middle about a half.
    assert seen[len(seen) // 2] > len(document["traceEvents"]) / 4


def test_all_that_zlib_has_before_a_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what it still holds when a piece is full just where the file ends."""
    monkeypatch.setattr("dcu_asv_ext.trace.decoding._PIECE", 7)
    whole = gzip.compress(b"abcdefghi" * 500)
    path = tmp_path / "trace.json.gz"
    for cut in range(18, len(whole)):
        path.write_bytes(whole[:cut])
        with path.open("rb") as file:
            text = "".join(decoded(file, []))
        assert text.encode() == zlib.decompressobj(wbits=31).decompress(whole[:cut])


def test_members_whose_beginning_is_cut_by_a_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    member = gzip.compress(b"abc")
    for packed in range(1, 2 * len(member)):
        monkeypatch.setattr("dcu_asv_ext.trace.decoding._PACKED", packed)
        path, faults = tmp_path / "trace.json.gz", list[str]()
        path.write_bytes(member * 3)
        with path.open("rb") as file:
            assert "".join(decoded(file, faults)) == "abcabcabc"
        assert faults == []


def test_flipped_bits_of_a_compressed_file(tmp_path: Path) -> None:
    document = Run(steps=20).document()
    whole = bytearray(write(tmp_path / "whole.json.gz", json.dumps(document), 1).read_bytes())
    path, chance = tmp_path / "trace.json.gz", random.Random(1)
    for at in chance.sample(range(len(whole) // 2, len(whole) - 8), 30):
        damaged = whole.copy()
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        reader = EventReader(path)
        found = [event for events in reader for event in events]
        assert reader.faults
        assert found[:100] == document["traceEvents"][:100]
    whole[-5] ^= 0xFF  # the checksum alone
    path.write_bytes(whole)
    reader = EventReader(path)
    assert [event for events in reader for event in events] == document["traceEvents"]
    assert reader.faults == [
        "the compressed file is damaged: Error -3 while decompressing data: incorrect data check"
    ]


def test_what_follows_a_compressed_file(tmp_path: Path) -> None:
    path, packed = tmp_path / "trace.json.gz", gzip.compress(b'[{"ph": "i"}]')
    for tail, fault in (
        (b"", []),
        (b"\0" * 100_000, []),
        (packed[:1], ["something that is not compressed follows the compressed file: left out"]),
        (b"tail", ["something that is not compressed follows the compressed file: left out"]),
    ):
        path.write_bytes(packed + tail)
        reader = EventReader(path)
        assert sum(len(one) for one in reader) == 1
        assert reader.faults == fault


def test_no_rows_of_a_device(tmp_path: Path) -> None:
    trace = Building()
    trace.operator("aten::mm", 10, 20)
    totals = trace.analysis(tmp_path).totals
    figures = (
        "kernel_count",
        "kernel_time",
        "busy_time",
        "span",
        "idle_share",
        "overlap_share",
        "sync_count",
    )
    assert all(totals[name] is None and totals["missing"][name] for name in figures)
    assert "copies" in totals["missing"]


def test_only_rows_of_a_device(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 20)
    trace.kernel(30, 40)
    totals = trace.analysis(tmp_path).totals
    assert (totals["kernel_count"], totals["idle_share"], totals["unlaunched"]) == (2, 1 - 20 / 30, None)
    assert totals["missing"] == {"sync_count": "the trace has no calls of the device's runtime"}
    assert totals["faults"] == []


def test_no_event_of_a_known_kind(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", '[{"ph": "X", "cat": "blink", "name": "a", "ts": 1, "dur": 1}]')
    assert summarize(path)["faults"] == ["none of the 1 events is of a kind that torch's profiler writes"]


def kernel(**more: Any) -> dict[str, Any]:
    row = {
        "ph": "X",
        "cat": "kernel",
        "name": "k",
        "pid": 0,
        "tid": 0,
        "ts": 10,
        "dur": 2.5,
        "args": {"stream": 0},
    }
    return {**row, **more}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in kernel().items() if key != name}


UNREADABLE = [
    *(without(name) for name in ("name", "ts", "dur", "ph", "pid", "tid")),
    kernel(ts=None),
    kernel(ts="soon"),
    kernel(dur=[1]),
    kernel(ts=float("nan")),
    kernel(dur=float("inf")),
    kernel(ts=10**400),
    kernel(ts=1e300),
    kernel(ph="B"),
    kernel(name=["a"]),
]


@pytest.mark.parametrize("bad", UNREADABLE, ids=str)
def test_a_row_that_cannot_be_read_costs_itself_alone(bad: dict[str, Any], tmp_path: Path) -> None:
    good = [kernel(ts=100 * one) for one in range(1, 40)]
    trace = load(write(tmp_path / "trace.json", json.dumps([*good[:20], bad, *good[20:], bad])))
    assert len(trace.device) == 39
    assert trace.faults == ["2 rows that cannot be read: left out"]


@pytest.mark.parametrize("args", [None, [], "x", 3, {}, {"stream": None}, {"correlation": "x", "device": []}])
def test_odd_arguments(args: Any, tmp_path: Path) -> None:
    trace = load(write(tmp_path / "trace.json", json.dumps([kernel(), kernel(ts=20, args=args)])))
    assert len(trace.device) + len(trace.faults) == 2


def test_negative_durations(tmp_path: Path) -> None:
    rows = [kernel(), kernel(ts=20, dur=-1), kernel(ts=30)]
    trace = load(write(tmp_path / "trace.json", json.dumps(rows)))
    assert trace.device.start.tolist() == [0, 20_000]
    assert trace.faults == ["1 row with a negative duration: left out"]


def test_a_category_that_is_no_text(tmp_path: Path) -> None:
    rows = [kernel(), {"ph": "X", "cat": ["kernel"], "name": "a"}, {"cat": {}}, {"cat": 3}, {}]
    assert len(load(write(tmp_path / "trace.json", json.dumps(rows))).device) == 1


def test_streams_of_64_bits_stay_apart(tmp_path: Path) -> None:
    streams = [2**64 - 1, 2**64 - 2, 2**63, -1, 0, "0x7f0000000000", "default"]
    rows = [kernel(args={"stream": one, "device": 1, "correlation": 2**64 - 1}) for one in streams]
    trace = load(write(tmp_path / "trace.json", json.dumps(rows)))
    assert [trace.lanes[one].stream for one in trace.device.lane] == [*streams[:5], 0x7F0000000000, "default"]
    assert len(np.unique(trace.device.lane)) == len(streams)
    assert set(trace.device.correlation.tolist()) == {-1}


def test_times_are_exact(tmp_path: Path) -> None:
    """Whole microseconds since 1970, and fractions since a machine's start a hundred days ago."""
    rows = [kernel(ts=1712867402348256, dur=1), kernel(ts="1712867402348258.0", dur="0.001")]
    trace = load(write(tmp_path / "trace.json", json.dumps(rows)))
    assert trace.begin == 1712867402348256000
    assert (trace.device.start.tolist(), trace.device.end.tolist()) == ([0, 2000], [1000, 2001])
    chance = random.Random(0)
    starts = sorted(chance.randrange(8_640_000_000_000_000) for _ in range(500))
    text = ", ".join(
        json.dumps(kernel()).replace('"ts": 10', f'"ts": {one // 1000}.{one % 1000:03}') for one in starts
    )
    trace = load(write(tmp_path / "trace.json", f"[{text}]"))
    assert (trace.device.start + trace.begin).tolist() == starts


@pytest.mark.parametrize("letter", ["\x1b", "\x07", "\x9b", "\r", "\n", "\t", "\u202e", "\ud800", "\0"])
def test_no_text_of_a_trace_can_command_a_terminal(tmp_path: Path, letter: str) -> None:
    evil = f"a{letter}[31mb"
    building = Building(hip_runtime_version=evil)
    building.span(evil, 10, 50)
    building.operator(f"aten::{evil}", 10, 20, **{"Input type": [evil]})
    building.frame(f"x.py(1): {evil}", 10, 20)
    building.call(f"hip{evil}Launch", 12, 14, correlation=1)
    building.kernel(15, 30, stream=evil, correlation=1, grid=[evil], block=[1])  # type: ignore[arg-type]
    building.events[-1]["name"] = evil
    name = {"ph": "M", "name": "thread_name", "pid": 1, "tid": MAIN, "args": {"name": evil}}
    building.events.append(name)
    trace = building.analysis(tmp_path).trace
    texts = [*trace.names, *trace.threads, *(str(lane.stream) for lane in trace.lanes), trace.runtime]
    assert all(one.isprintable() for one in texts) and trace.runtime == "hip_runtime_version"
    assert "a\ufffd[31mb" in trace.names and "a\ufffd[31mb" in trace.threads


def test_what_a_header_calls_a_version_may_be_anything(tmp_path: Path) -> None:
    assert Building(hip_runtime_version=60443483).analysis(tmp_path).trace.runtime.endswith(" 60443483")
    for other in ({"token": "secret"}, "two words", "x" * 50):
        assert Building(hip_runtime_version=other).analysis(tmp_path).trace.runtime == "hip_runtime_version"
