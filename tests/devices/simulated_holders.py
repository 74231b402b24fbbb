"""Run in a process of its own: `simulated_holders.py FORM`, FORM "sim" or "cuda". Prints {check: error or null}.

The simulated allocator's counters are the truth.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it

from dcu_asv_ext.devices import Device, select  # noqa: E402
from dcu_asv_ext.evidence.record import Measurement  # noqa: E402
from dcu_asv_ext.measure import growth as growth_pass  # noqa: E402
from dcu_asv_ext.measure.arguments import CallArguments  # noqa: E402
from dcu_asv_ext.measure.growth import memory_growth  # noqa: E402
from dcu_asv_ext.measure.passes import Run  # noqa: E402
from dcu_asv_ext.measure.request import Options  # noqa: E402
from dcu_asv_ext.measure.spec import Spec  # noqa: E402
from scripts import checked  # noqa: E402

MIB = 1 << 20
growth_pass.BUDGET = 600.0  # all calls, however busy the machine is
device: Device = select()
place = device.torch_device
x = torch.ones(256, 1024, device=place, requires_grad=True)  # 1 MiB


def at(mark: str) -> str:
    """file:line of the line of this file that ends in a comment with the mark."""
    lines = Path(__file__).read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))
    return f"{Path(__file__).name}:{number}"


def grown(function: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The record's memory and missing after the growth pass alone."""
    spec = Spec("suite.bench", "bench", "suite", function, metrics=("memory_growth",))
    run = Run(spec, device, Options(), Measurement("suite.bench", {}), [CallArguments()])
    memory_growth(run)
    return run.record.memory, run.record.missing


def check_a_tensor_alive_only_inside_the_call() -> None:
    def call() -> None:
        torch.empty(64 * MIB - 100, dtype=torch.uint8, device=place)  # inside

    found = device.alive_at_peak(call)
    (holder,) = found.holders
    assert (holder.bytes, holder.count) == (64 * MIB, 1), holder
    assert holder.where == f"{at('inside')} in call" and "uint8[67108764]" in holder.what, holder
    peaks = device.peak_memory(call)
    assert found.bytes == peaks.peak_allocated and found.before_call == peaks.baseline_allocated
    assert found.rest == found.unexplained == 0 and not found.kept
    # torch's allocator for HIP and CUDA has a history, and this one says that it has none.
    assert ("keeps no history" in found.method) == (FORM == "cuda"), found.method


def check_a_chain_whose_peak_is_in_the_middle() -> None:
    def chain() -> Any:
        early = torch.empty(32 * MIB, dtype=torch.uint8, device=place)
        del early
        left = torch.empty(8 * MIB, dtype=torch.uint8, device=place)  # left
        middle = torch.empty(40 * MIB, dtype=torch.uint8, device=place)  # middle
        del middle, left
        return torch.empty(24 * MIB, dtype=torch.uint8, device=place)

    found = device.alive_at_peak(chain)
    told = [(one.bytes // MIB, one.where) for one in found.holders]
    assert told == [(40, f"{at('middle')} in chain"), (8, f"{at('left')} in chain")], found
    assert found.bytes == device.peak_memory(chain).peak_allocated and found.rest == 0


def check_a_backward_pass_names_its_operator_and_the_line_that_called_it() -> None:
    def step() -> None:
        x.grad = None
        loss = x.exp().sum()  # forward
        loss.backward()  # backward

    step()
    found = device.alive_at_peak(step)
    lines = {one.where.split(" ")[0]: one for one in found.holders if one.bytes >= MIB}
    assert set(lines) == {at("forward"), at("backward")}, found
    assert "aten::exp float32[256, 1024]" in lines[at("forward")].what, found
    assert lines[at("backward")].what.startswith("ExpBackward0: aten::mul"), found
    assert found.bytes == device.peak_memory(step).peak_allocated and found.unexplained == 0, found


def check_memory_from_before_that_the_call_frees_is_not_alive() -> None:
    held = [torch.empty(16 * MIB, dtype=torch.uint8, device=place)]

    def replace() -> None:
        held.clear()
        torch.empty(4 * MIB, dtype=torch.uint8, device=place)

    before = device.peak_memory(lambda: None).baseline_allocated
    assert before is not None
    found = device.alive_at_peak(replace)
    # The peak is the start: at no later moment was more allocated.
    assert (found.bytes, found.before_call, found.holders) == (before, before, []), found
    assert found.earlier[0].bytes == 16 * MIB and "uint8[16777216]" in found.earlier[0].what


def check_what_the_call_keeps() -> None:
    kept = []

    def call() -> None:
        kept.append(torch.zeros(256, device=place))  # kept

    found = device.alive_at_peak(call)
    assert [(one.bytes, one.where) for one in found.kept] == [(1024, f"{at('kept')} in call")], found


def check_a_leak_under_a_noisy_allocator_is_named() -> None:
    rng = random.Random(1)
    leaked: list[Any] = []
    ring: list[Any] = [None] * 8

    def leaking() -> None:
        leaked.append(torch.empty(1024, dtype=torch.uint8, device=place))  # leak
        ring[rng.randrange(8)] = torch.empty(rng.randrange(64 << 10), dtype=torch.uint8, device=place)

    memory, missing = grown(leaking)
    growth = memory["growth"]
    assert not missing and growth["leak"], memory
    assert abs(memory["memory_growth"] / 1024 - 1) < 0.1, growth
    assert growth["ci_low"] <= growth["slope"] <= growth["ci_high"]
    assert growth["grew"][0]["where"] == f"{at('leak')} in leaking", growth
    assert growth["grew"][0]["bytes"] == 1024 and growth["grew"][0]["count"] == 1, growth


def check_growing_reserved_memory_is_no_leak() -> None:
    calls = [0]
    streams = [torch.Stream(device=place) for _ in range(40)]

    def fragmenting() -> None:
        # A pool a stream: the allocator takes more and more from the card, and nothing is kept.
        with streams[min(calls[0] // 25, 39)]:
            torch.empty(1024, dtype=torch.uint8, device=place)
        calls[0] += 1

    memory, missing = grown(fragmenting)
    assert not missing and memory["memory_growth"] == 0.0 and not memory["growth"]["leak"], memory
    assert memory["growth"]["reserved_slope"] > 0, memory


def check_a_cache_that_fills_is_no_leak() -> None:
    cache: dict[int, Any] = {}
    calls = [0]

    def caching() -> None:
        cache.setdefault(calls[0] % 300, torch.empty(4096, dtype=torch.uint8, device=place))
        calls[0] += 1

    memory, missing = grown(caching)
    assert not missing and memory["memory_growth"] == 0.0, memory


def check_the_growth_pass_stops_when_memory_runs_out() -> None:
    simulated.set_capacity(256 * MIB)
    leaked: list[Any] = []

    def leaking() -> None:
        leaked.append(torch.empty(MIB, dtype=torch.uint8, device=place))

    try:
        memory, missing = grown(leaking)
    finally:
        simulated.set_capacity(64 << 30)
    assert not missing and memory["memory_growth"] == MIB, memory
    assert memory["growth"]["calls"] < 100, memory


def check_code_that_was_compiled_is_not_watched() -> None:
    torch.compile(lambda value: value + 1, backend="eager")(torch.ones(2))
    try:
        device.alive_at_peak(lambda: None)
    except Exception as error:
        assert type(error).__name__ == "NotMeasured" and "torch.compile" in str(error), error
    else:
        raise AssertionError("a dispatch mode was entered")


CHECKS = {name: check for name, check in list(globals().items()) if name.startswith("check_")}


def run() -> dict[str, str | None]:
    (x @ x.t()).sum().backward()  # the first call of an operator finds its shapes, which takes long
    device.synchronize()
    return checked(CHECKS)


if __name__ == "__main__":
    print(json.dumps(run()))
