"""Wall time of a whole `asv run`: eight metrics of one function, against unmodified asv."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from .report import Row

COMMON = """
import torch

def make(n):
    return torch.randn(n, n), torch.randn(n, n)

def product(a, b):
    return a @ b

SIZES = [64, 128, 192, 256]
"""

OURS = COMMON + (
    """
import dcu_asv_ext as dcu

def reference(a, b):
    return (a.double() @ b.double()).float()

@dcu.benchmark(setup=make, params={"n": SIZES}, reference=reference, rtol=1e-3, atol=1e-3, rounds=2, repeat=5,
               metrics=["latency", "device_time", "cold_start", "peak_allocated", "peak_reserved", "max_error",
                        "mean_error", "host_time"])
def matmul(a, b):
    return product(a, b)
"""
)

THEIRS = COMMON + (
    """
class Case:
    params = SIZES
    param_names = ["n"]
    rounds = 2
    repeat = 5

    def setup(self, n):
        self.pair = make(n)

"""
)


def one_of_theirs(index: int) -> str:
    return f"    def time_matmul_{index}(self, n):\n        product(*self.pair)\n\n"


def configure(folder: Path, source: str, **settings: object) -> None:
    suite = folder / "benchmarks"
    suite.mkdir(parents=True)
    (suite / "__init__.py").write_text("")
    (suite / "case.py").write_text(textwrap.dedent(source))
    conf = {"version": 1, "project": "tiny", "repo": "repo", "branches": ["main"], **settings}
    (folder / "asv.conf.json").write_text(json.dumps(conf))
    repo = folder / "repo"
    repo.mkdir()
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    (repo / "tiny.py").write_text("x = 1\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *command], cwd=repo, check=True)


def run_asv(folder: Path, *arguments: str) -> float:
    """Seconds of one `asv run`."""
    environ = {**os.environ, "HOME": str(folder), "DCU_ASV_DEVICE": "cpu"}
    environ.pop("PYTHONPATH", None)
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "asv", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(
            f"asv {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return seconds


def rows(root: Path, repeats: int = 3) -> list[Row]:
    ours, single, many = root / "ours", root / "single", root / "many"
    configure(ours, OURS, environment_type="overlay", plugins=[".dcu_asv_ext.asv_plugin"])
    configure(single, THEIRS + one_of_theirs(0), environment_type="existing", pythons=["same"])
    every = THEIRS + "".join(one_of_theirs(index) for index in range(8))
    configure(many, every, environment_type="existing", pythons=["same"])
    for folder in (ours, single, many):
        run_asv(folder, "machine", "--yes")
    run_asv(ours, "run", "main^!", "--bench", "just-discover")  # installs the commit
    taken: dict[str, list[float]] = {"ours": [], "single": [], "many": []}
    theirs = ["run", "--set-commit-hash", "main"]
    for turn in range(repeats):
        taken["ours"].append(run_asv(ours, "run", "main^!"))
        taken["single"].append(run_asv(single, *theirs))
        if turn < 2:
            taken["many"].append(run_asv(many, *theirs))
        print(
            f"  asv run, turn {turn + 1} of {repeats}: "
            + ", ".join(f"{k} {v[-1]:.1f} s" for k, v in taken.items())
        )
    middle = {name: statistics.median(values) for name, values in taken.items()}
    what = "asv run, 8 metrics, 4 parameters, 2 rounds, repeat 5"
    return [
        Row(
            what, middle["ours"], middle["single"], "s", 1.25, "unmodified asv with a single time_ benchmark"
        ),
        Row(what, middle["ours"], middle["many"], "s", 0.18, "unmodified asv with one benchmark per metric"),
    ]
