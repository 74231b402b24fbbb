"""Run in a process of its own: `simulated_profiles.py FORM`, FORM "sim", "cuda" or "cpu". Prints {name: record},
and of some traces what is in them.

Every function's kernels, copies, bytes and waits of a call are known.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
if FORM != "cpu":
    simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it

from dcu_asv_ext.devices import select  # noqa: E402
from dcu_asv_ext.evidence import traces  # noqa: E402
from dcu_asv_ext.measure.request import Options, ProfileRequest, Request  # noqa: E402
from dcu_asv_ext.measure.session import measure  # noqa: E402
from dcu_asv_ext.measure.spec import Samples, Spec  # noqa: E402
from dcu_asv_ext.metrics import GROUPS  # noqa: E402
from dcu_asv_ext.trace import load  # noqa: E402
from dcu_asv_ext.trace.steps import within_steps  # noqa: E402

torch.set_num_threads(1)
METRICS = ("latency", *GROUPS["profile"])
SIZE = 64
device = select()
folder = Path(tempfile.mkdtemp())
evidence = folder / "commit-env.evidence.jsonl"


def tensors(device: Any) -> Any:
    return torch.ones(SIZE, SIZE, device=device), torch.ones(SIZE, SIZE)


def mixed(x: Any, host: Any) -> Any:
    """4 kernels, one copy each way, two waits: of the pageable copy to the device, and of the copy back."""
    y = (x @ x + 1).relu() + host.to(x.device)
    return y.cpu()


def kernels(x: Any, host: Any) -> Any:
    return x @ x + 1


def several(x: Any) -> Any:
    """As many kernels as its argument has rows."""
    for _ in range(len(x)):
        x = x + 1
    return x


def argument_sets(device: Any) -> Any:
    return Samples([(torch.ones(rows, SIZE, device=device),) for rows in (1, 2, 4)])


def host_alone(x: Any, host: Any) -> Any:
    return host + 1


def raising(x: Any, host: Any) -> Any:
    if torch._C._autograd._profiler_enabled():
        raise ValueError("not under a profiler")
    return x + 1


def lost(x: Any, host: Any) -> Any:
    if torch._C._autograd._profiler_enabled() and FORM != "cpu":
        simulated.fail("illegal address")
    return x + 1


def reset(x: Any, host: Any) -> None:
    """Work that belongs to no call, and is under way when one begins."""
    for _ in range(5):
        x.mul_(1)


def take(function: Any, name: str = "", **more: Any) -> dict[str, Any]:
    options = {name: more.pop(name) for name in ("profile", "trace_limit", "quick") if name in more}
    settings = {"setup": tensors, "metrics": METRICS, **more}
    spec = Spec(family=f"suite.{function.__name__}", name="f", module=__name__, function=function, **settings)
    found = measure(Request(spec, {}, {}, options=Options(repeat=5, evidence=evidence, **options)), device)
    if name != "fails" and found.error is not None:
        raise found.error
    return found.record.to_dict()


def read(path: Path) -> dict[str, Any]:
    trace = load(path)
    inside = within_steps(trace)
    return {
        "header": sorted(trace.header),
        "kernels": int((trace.device.kind == 0).sum()),
        "kernels_inside": int((inside.device.kind == 0).sum()),
        "steps": len(trace.steps),
        "spans": [trace.name(number) for number in trace.spans.name.tolist()],
        "longest_us": float((trace.device.duration).max() / 1000) if len(trace.device) else 0,
        "frames": sorted({trace.name(number) for number in trace.frames.name.tolist()}),
        "text": path.stat().st_size,
    }


found: dict[str, Any] = {
    "mixed": take(mixed),
    "several": take(several, setup=argument_sets),
    "host_alone": take(host_alone),
    "quick": take(kernels, quick=True),
    "raising": take(raising),
    "with_reset": take(kernels, reset=reset),
}
found["trace"] = read(traces.trace_path(evidence, "suite.kernels", None))
found["too_large"] = take(kernels, trace_limit=100)
found["still_there"] = traces.trace_path(evidence, "suite.kernels", None).exists()

only = ProfileRequest(
    only=True, stacks=True, first=True, trace=folder / "only.json.gz", first_trace=folder / "first.json"
)
found["only"] = take(mixed, profile=only, metrics=("latency", "peak_allocated"))
found["only_trace"], found["first_trace"] = read(folder / "only.json.gz"), read(folder / "first.json")
found["only_raising"] = take(raising, "fails", profile=ProfileRequest(only=True))
found["lost"] = take(lost, "fails") if FORM != "cpu" else None
print(json.dumps(found))
