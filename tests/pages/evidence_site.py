"""A site of one benchmark, whose measurements have shapes that a published history seldom has."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcu_asv_ext.evidence.thinning import thin
from dcu_asv_ext.metrics import METRICS
from dcu_asv_ext.pages.writing import Out, slug
from dcu_asv_ext.site.pages_assets import copy_pages
from tests.comparing.measured import failed, record
from tests.comparing.memories import CARD, FIRST, STEADY, leak
from tests.comparing.profiles import GEMM, profile

NAME = "odd.<b>shapes</b>"
PLACE = "m~e"
#: The first has evidence in the site, the second has none.
COMMITS = ["a" * 40, "b" * 40]
TRACEBACK = 'File "model.py", line 3, in step\n<script>raise</script>\nRuntimeError: no kernel image'
#: More whole numbers than a double has.
SEED = 9223372036854775821


def write(folder: Path) -> None:
    copy_pages(folder)
    out = Out(folder / "data")
    shapes = _shapes()
    key = f"{slug(NAME)}/0"
    entries = [_entry(shape, records) for shape, records in shapes.items()]
    out.put(f"e/{key}-0", {"function": NAME, "place": 0, "names": ["case"], "traces": [], "commits": entries})
    out.put(f"b/{key}", {"function": NAME, "place": 0, "lines": [_line(shape) for shape in shapes]})
    out.put("index", _index([*shapes]))


def _shapes() -> dict[str, Sequence[dict[str, Any]]]:
    """What a combination of parameters is called -> its records, a round each."""
    kept = {"memory": STEADY | {"first": FIRST, "card": CARD, "growth": leak(1024.0)}, "sampled": _sampled()}
    long = [1e-3 * (1 + 0.01 * (place % 7)) for place in range(40)]
    warm = {"times": {"cold": [0.5], "warm_up": [2e-3, 1.2e-3, 1e-3], "latency": long}, "seed": SEED}
    error = {"stage": "the first call", "kind": "exception", "type": "RuntimeError", "traceback": TRACEBACK}
    told = {"memory": {}, "correctness": {}}
    foreign = record(1, protocol=2, times={"cold": [0.5], "new_pass": [1e-3, 2e-3]})
    nowhere = {"device": {}, "batch": {}, "input": {}, "boundary": {}}
    no_calls = profile([], device=False, missing={"device": "the trace has no rows of a device"})
    return {
        "warm": [record(1, **warm, **kept)],
        "quick": [record(1, [1.2e-3], switches={"quick": True, "cache": {}})],
        "failed": [failed(number, "failed in the first call", error=error, **told) for number in (1, 2, 3)],
        "protocol": [{**foreign, "surprise": {"<i>": 1}}],
        "thinned": [thin(record(1, **kept))],
        "no device": [failed(1, "failed: torch sees no device", **told, **nowhere)],
        "unsampled": [record(1, sampled={"missing": "no card of this <address>"})],
        "gaps": [record(1, [1e-3, None, 2e-3])],
        "profiled": [record(1, profile=profile([GEMM], overhead=0.8)), record(2, profile=no_calls)],
        "unprofiled": [record(1, profile={"missing": {"rows": "torch's profiler is not there"}})],
    }


def _sampled() -> dict[str, Any]:
    inside = {"core_clock_mhz": 1500, "power_w": 250, "temperature_c": 60, "readings": 4}
    return {
        "source": "sysfs", "interval": 0.05, "count": 4, "times": [0.0, 0.1, 0.2, 0.3],
        "core_clock_mhz": [900, 1500, 1500, 1500], "power_w": [100, 250, 250, 250], "passes": {"latency": inside},
        "marks": ["latency: this round is throttled"], "throttle": ["power cap"],
    }  # fmt: skip


def _entry(shape: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    named = [{**one, "benchmark": NAME, "params": {"case": shape}} for one in records]
    return {
        "commit": COMMITS[0], "params": [shape], "file": "m/aaaaaaaa-e.evidence.jsonl",
        "lines": [json.dumps(one, separators=(",", ":")) for one in named],
        "derived": [_derived(one) for one in named], "figures": {}, "asv": {}, "memory": None, "status": "ok",
        "notes": [],
    }  # fmt: skip


def _derived(one: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "used": [],
        "session": 0,
        "quick": bool(one["switches"].get("quick")),
        "figures": {},
    }
    found |= {"ours": one["protocol"] == 1, "steady": None}
    if one["times"].get("warm_up"):
        found["steady"] = {"start": 8, "kind": "steady after warm-up", "reason": "1 ms from sample 9 on"}
    return found | ({"thinned": one["thinned"]} if "thinned" in one else {})


def _line(shape: str) -> dict[str, Any]:
    """A value at both commits."""
    points = {"commits": [0, 1], "values": [1e-3, 2e-3], "rounds": [[1e-3], [1.9e-3, 2e-3, 2e-3, 2.1e-3]]}
    timeline = {"version": "1", "protocol": 1, "set_up": None, "h": 0.2, **points}
    return {"metric": "latency", "params": [shape], "timelines": [timeline], "failed": [], "missing": []}


def _index(shapes: list[str]) -> dict[str, Any]:
    named = ("label", "unit", "better", "exact", "source")
    place = {"parts": [f"b/{slug(NAME)}/0"], "combos": [[one] for one in shapes], "evidence": [[0]]}
    return {
        "format": 1, "project": "odd", "project_url": "", "show_commit_url": "", "hash_length": 8, "version": "0",
        "made_at": "2026-01-01T00:00:00+00:00",
        "commits": [[one, 0, "<u>subject</u>"] for one in COMMITS],
        "branches": [{"name": "main", "commits": [0, 1], "numbers": [0, 1], "head": 1}], "tags": [["v1", 0]],
        "places": [{"machine": "m", "env": "e", "key": PLACE, "device": "hip", "product": "K100", "facts": {}}],
        "functions": [{
            "name": NAME, "slug": slug(NAME), "label": NAME, "kind": "micro", "ours": True,
            "params": [{"name": "case", "values": shapes}], "metrics": ["latency"],
            "asv": {"latency": f"{NAME}.latency"}, "units": {"latency": "seconds"}, "places": {"0": place},
        }],
        "metrics": {one.name: {name: getattr(one, name) for name in named} for one in METRICS.values()},
        "comparisons": [], "evidence": {"0": [0]}, "matrices": [], "notes": [],
    }  # fmt: skip
