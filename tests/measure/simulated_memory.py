"""Run in a process of its own: `simulated_memory.py FORM`, FORM "sim", "cuda" or "cpu". Prints {name: record}.

Decorated functions would need a suite; these are measured as a benchmark process measures them.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
if FORM != "cpu":
    importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it

from dcu_asv_ext.devices import select  # noqa: E402
from dcu_asv_ext.measure.request import Options, Request  # noqa: E402
from dcu_asv_ext.measure.session import measure  # noqa: E402
from dcu_asv_ext.measure.spec import Spec  # noqa: E402

torch.set_num_threads(1)
MIB = 1 << 20
METRICS = ("latency", "cold_start", "peak_allocated", "peak_reserved", "peak_card")


def inside_the_call(x: Any) -> Any:
    held = torch.empty(64 * MIB, dtype=torch.uint8, device=x.device)
    return x + held[0].to(x.dtype)


def chunks(x: Any) -> Any:
    parts = [x.repeat(1 << 9, 1 << 5) for _ in range(8)]
    return sum(part[0, 0] for part in parts)


class Searching:
    """Its first call tries a large workspace, as a library that looks for its fastest algorithm."""

    searched = False

    def __call__(self, x: Any) -> Any:
        if not self.searched:
            self.searched = True
            torch.empty(256 * MIB, dtype=torch.uint8, device=x.device)
        return x @ x


def emptying(x: Any) -> Any:
    large = torch.empty(32 * MIB, dtype=torch.uint8, device=x.device)
    del large
    torch.accelerator.empty_cache()
    return x + 1


def taken(function: Callable[[Any], Any], quick: bool) -> dict[str, Any]:
    name = getattr(function, "__name__", type(function).__name__)
    spec = Spec(
        family=f"suite.{name}",
        name=name,
        module="suite",
        function=function,
        metrics=METRICS,
        setup=lambda device: torch.ones(8, 8, device=device),
    )
    options = Options(repeat=3, quick=quick)
    return measure(Request(spec, {}, {}, options=options), select()).record.to_dict()


def main() -> None:
    functions: list[Callable[[Any], Any]] = [inside_the_call, Searching(), chunks]
    if FORM != "cpu":
        functions.append(emptying)
    quick = "--quick" in sys.argv
    print(json.dumps([taken(function, quick) for function in functions]))


if __name__ == "__main__":
    main()
