"""Process wall time: a whole fresh process, from start to exit, seen from outside, with its parts.

The process is an ordinary script run: interpreter, imports, setup, first call, result saved. asv has no share in it.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence import caches

if TYPE_CHECKING:
    from .request import Request


class ProcessFailed(Exception):
    """The fresh process did not finish; the text says how it ended."""


@dataclass(frozen=True)
class ProcessTime:
    """seconds: start to exit. parts: interpreter, imports, setup, first_call, save, exit (seconds)."""

    seconds: float
    parts: dict[str, float]


_STEPS = ("interpreter", "imports", "setup", "first_call", "save")


def time_process(request: Request) -> ProcessTime:
    """Start a fresh process for the request's benchmark and parameters. Raises ProcessFailed."""
    spec = request.spec
    root = spec.module.split(".")[0]
    package = sys.modules[root]
    folder = os.path.dirname(os.path.abspath(package.__file__ or "."))
    path = os.path.dirname(folder) if hasattr(package, "__path__") else folder
    with tempfile.TemporaryDirectory(prefix="process-wall-") as work:
        report = os.path.join(work, "report.json")
        environ = dict(os.environ)
        caches.prepare(spec.cache, Path(work), request.user_caches, environ)
        command = [sys.executable, "-m", __name__, path, spec.module, spec.name]
        command += [str(request.param_index or 0), report]
        # CLOCK_MONOTONIC is one clock for every process of the machine, so the parts line up.
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        done = subprocess.run(
            command,
            env=environ,
            cwd=work,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        end = time.clock_gettime(time.CLOCK_MONOTONIC)
        if done.returncode != 0:
            tail = done.stdout.strip().splitlines()[-1:] or ["no output"]
            raise ProcessFailed(f"the fresh process ended with exit status {done.returncode}: {tail[0]}")
        with open(report, encoding="utf-8") as stream:
            marks: dict[str, float] = json.load(stream)
    parts, last = {}, begin
    for step in _STEPS:
        parts[step], last = marks[step] - last, marks[step]
    parts["exit"] = end - last
    return ProcessTime(end - begin, parts)


def main(arguments: list[str]) -> None:
    """Child side: `path module name param_index report`."""
    marks = {"interpreter": time.clock_gettime(time.CLOCK_MONOTONIC)}
    path, module_name, name, index, report = arguments
    sys.path.insert(0, path)
    spec = _find(module_name, name)
    import torch

    from ..devices import select
    from .arguments import make_arguments
    from .calls import reset_of
    from .judging import seed_everything

    marks["imports"] = time.clock_gettime(time.CLOCK_MONOTONIC)
    device = select()
    params = spec.combinations()[int(index)]
    seed_everything(spec.seed(params), device)
    sets = make_arguments(spec, params, device.torch_device)
    device.synchronize()
    marks["setup"] = time.clock_gettime(time.CLOCK_MONOTONIC)
    reset = reset_of(spec, sets)
    if reset is not None:
        reset()
    output = sets[0].call(spec.function)
    device.synchronize()
    marks["first_call"] = time.clock_gettime(time.CLOCK_MONOTONIC)
    from .checksum import tensors

    torch.save([one.detach().cpu() for one in tensors(output)], report + ".pt")
    marks["save"] = time.clock_gettime(time.CLOCK_MONOTONIC)
    with open(report, "w", encoding="utf-8") as stream:
        json.dump(marks, stream)


def _find(module_name: str, name: str) -> Any:
    for value in vars(importlib.import_module(module_name)).values():
        spec = getattr(value, "_dcu_spec", None)
        if spec is not None and spec.name == name and spec.module == module_name:
            return spec
    raise SystemExit(f"{module_name} has no benchmark {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
