"""A kept trace tells nothing of the machine that it was made on, and everything of what ran."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace import TraceError, load
from dcu_asv_ext.trace.cleaning import clean, shortened
from dcu_asv_ext.trace.profiler_cost import cost_of

SECRETS = ("hunter2", "alice", "box17", "/home", "/tmp", "python3.11")

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 1, "args": {"name": "alice-train"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "ts": 1, "args": {"name": "thread 7 (alice-train)"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "ts": 1, "args": {"name": "thread 8 (pt_autograd_0)"}},
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 3, "ts": 1, "args": {"name": "stream 3 "}},
    {"ph": "X", "cat": "python_function", "name": "/home/alice/secret/bench.py(12): call", "pid": 7, "tid": 7,
     "ts": 1, "dur": 5, "args": {"Python id": 1}},
    {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(1518): _call_impl", "pid": 7,
     "tid": 7, "ts": 2, "dur": 3},
    {"ph": "X", "cat": "python_function", "pid": 7, "tid": 7, "ts": 2, "dur": 3,
     "name": "/home/alice/env/lib/python3.11/site-packages/torch/nn/functional.py(9): relu"},
    {"ph": "X", "cat": "cpu_op", "name": "triton_poi", "pid": 7, "tid": 7, "ts": 2, "dur": 1,
     "args": {"kernel_file": "/tmp/torchinductor_alice/ab/cd.py", "Input Dims": [[1, 2]], "stack": "a/b < c",
              "Concrete Inputs": ["", ["/home/alice/data/x.bin"], "1"], "more": {"at": ["/tmp/alice/cache/y.so"]}}},
    {"ph": "X", "cat": "kernel", "name": "void at::native::vectorized<(a / b)>(int)", "pid": 0, "tid": 3, "ts": 9,
     "dur": 4, "args": {"device": 0, "stream": 3, "correlation": 5}},
]  # fmt: skip
HEADER: dict[str, Any] = {
    "schemaVersion": 1,
    "hip_runtime_version": 60443483,
    "deviceProperties": [{"id": 0, "name": "gfx936"}],
    "record_shapes": 1,
    "host_name": "box17",
    "traceName": "/home/alice/trace.json",
    "environment": {"TOKEN": "hunter2"},
    "distributedInfo": {"rank": 1, "world_size": 2, "hosts": "box17"},
    "baseTimeNanoseconds": 1,
}


def cleaned(
    folder: Path, name: str = "kept.json.gz", events: Any = None, header: Any = None
) -> dict[str, Any]:
    source, target = folder / "raw.json", folder / name
    source.write_text(json.dumps({**(header or HEADER), "traceEvents": EVENTS if events is None else events}))
    clean(source, target, lambda path: "short/" + path.rpartition("/")[2])
    data = target.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    return found


@pytest.mark.parametrize("name", ["kept.json.gz", "kept.json"])
def test_nothing_of_the_machine_is_left(tmp_path: Path, name: str) -> None:
    found = cleaned(tmp_path, name)
    text = json.dumps(found)
    assert not [one for one in SECRETS if one in text]
    assert found["distributedInfo"] == {"rank": 1, "world_size": 2}
    assert set(found) - {"traceEvents"} == {
        *("schemaVersion", "hip_runtime_version", "deviceProperties", "record_shapes"),
        *("distributedInfo", "baseTimeNanoseconds"),
    }


def test_names_of_code_threads_and_streams_stay(tmp_path: Path) -> None:
    events = cleaned(tmp_path)["traceEvents"]
    names = [one["name"] for one in events]
    assert names[4:7] == [
        "short/bench.py(12): call",
        "torch/nn/modules/module.py(1518): _call_impl",
        "torch/nn/functional.py(9): relu",
    ]
    assert [one["args"]["name"] for one in events[:4]] == [
        "process",
        "thread 7",
        "thread 8 (pt_autograd_0)",
        "stream 3 ",
    ]
    args = events[7]["args"]
    assert (args["Concrete Inputs"], args["more"]) == (["", ["short/x.bin"], "1"], {"at": ["short/y.so"]})
    assert (args["kernel_file"], args["Input Dims"], args["stack"]) == ("short/cd.py", [[1, 2]], "a/b < c")
    assert events[8] == EVENTS[8]


def test_it_reads_as_the_same_trace(tmp_path: Path) -> None:
    cleaned(tmp_path)
    before, after = load(tmp_path / "raw.json"), load(tmp_path / "kept.json.gz")
    assert after.events == before.events and after.flavour == before.flavour == "hip" and after.faults == []
    assert after.device.duration.tolist() == before.device.duration.tolist() == [4000]


def test_what_is_added_is_added_to_the_events_as_they_were(tmp_path: Path) -> None:
    source, target = tmp_path / "raw.json", tmp_path / "kept.json"
    source.write_text(json.dumps({**HEADER, "traceEvents": EVENTS}))
    seen: list[str] = []

    def add(event: dict[str, Any], header: dict[str, Any]) -> None:
        seen.append(event["name"])
        event.setdefault("args", {})["base"] = header["baseTimeNanoseconds"]

    clean(source, target, str, add)
    assert seen == [one["name"] for one in EVENTS]
    assert {one["args"]["base"] for one in json.loads(target.read_text())["traceEvents"]} == {1}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("/a/b/c.py(3): f", "<c.py>(3): f"),
        ("f at /a/b/c.py, /d/e.py", "f at <c.py>, <e.py>"),
        ("C:\\Users\\x\\c.py(3): f", "<c.py>(3): f"),
        ("~/work/c.py", "<c.py>"),
        ("Memcpy HtoD (Host -> Device)", "Memcpy HtoD (Host -> Device)"),
        ("a/b.py(1): f", "a/b.py(1): f"),
        ("1 / 2", "1 / 2"),
        ("bytes/s", "bytes/s"),
    ],
)
def test_whole_paths_in_texts(text: str, short: str) -> None:
    assert shortened(text, lambda path: f"<{path.replace(chr(92), '/').rpartition('/')[2]}>") == short


def test_a_cut_source_is_told_and_its_events_are_kept(tmp_path: Path) -> None:
    source, target = tmp_path / "raw.json", tmp_path / "kept.json"
    text = json.dumps({**HEADER, "traceEvents": EVENTS})
    source.write_text(text[: text.index('"kernel"')])
    faults = clean(source, target, str)
    assert len(faults) == 1 and len(json.loads(target.read_text())["traceEvents"]) == len(EVENTS) - 1


def test_what_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "raw.json").write_text("hello")
    with pytest.raises(TraceError):
        clean(tmp_path / "raw.json", tmp_path / "kept.json", str)


def test_a_trace_without_events(tmp_path: Path) -> None:
    assert cleaned(tmp_path, events=[], header={"x": 1}) == {"traceEvents": []}


@pytest.mark.parametrize(
    ("cost", "kept"),
    [
        ({"latency": 1e-3, "overhead": 2.0, "doubtful": False}, True),
        ({"latency": 1e-3, "overhead": "alice", "doubtful": False}, False),
        ("alice", False),
    ],
)
def test_what_the_profiler_costs_stays_where_it_is_that_alone(tmp_path: Path, cost: Any, kept: bool) -> None:
    source, target, again = (tmp_path / f"{name}.json" for name in ("source", "target", "again"))
    source.write_text(json.dumps({"traceEvents": []}))
    clean(source, target, str, cost=cost if kept else None)
    if not kept:
        target.write_text(json.dumps({"dcu_asv_ext": cost, "traceEvents": []}))
    clean(target, again, str)
    assert json.loads(again.read_text()).get("dcu_asv_ext") == (cost if kept else None)


def test_what_the_profiler_costs_is_the_ratio_of_medians() -> None:
    assert cost_of([2.0, 2.2, 2.4], [1.0, 1.1, 1.2]) == {"latency": 1.1, "overhead": 2.0, "doubtful": False}
    assert cost_of([2.0], []) is None
