"""A small project with everything that the pages show, as asv and the plugin would have left it: nothing is measured.

On `dcu-1` all commits have evidence. `gemm.matmul` of n=1024 gets 25 % slower at main 7, `attention.fused` faster
and smaller at main 9; at main 2 the driver is another one. At the head a result is wrong and another ran out of
memory. `dcu-2` is another card, measured at every second commit. `box` has other people's results alone.
"""

from __future__ import annotations

import functools
import itertools
import math
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcu_asv_ext.trace.digest import digest

from .history_files import Files, Group
from .history_records import ALL, K100, MIB, PLAIN, START, Level, Told, rounds
from .profiles import training

ENV = "overlay-py3.11-devicehip-torch2.7.1"
CPU_ENV = "overlay-py3.11-devicecpu-torch2.7.1"
PLAIN_ENV = "virtualenv-py3.11"
BRANCH = "feature/fused"
MAIN, SIDE = 14, 3
#: The commit that gets slower, the one that gets faster, the first with another driver, where the branch begins.
SLOWER, FASTER, DRIVER, FORK = 7, 9, 2, 11
TAGS = {"v1.0": 4, "v1.1": 10}
#: A commit that was measured, and is not in the repository any more.
GONE = "ab" * 20

MATMUL, FUSED, TRAIN = "gemm.matmul", "attention.fused", "convnet.train"
WRONG, HUGE = "odd.wrong_result", "odd.out_of_memory"
#: asv's own pages run a name that is a script: a dialog would stop them for ever, and a fault be complained of.
CHINESE, SCRIPT = "odd.矩阵乘", "odd.<script>ran=1</script>"
STRANGE = ["'</script><b>\"&/'", f"'{'long' * 75}'", "'中文'", "nan"]
PLAIN_TIME, PLAIN_TRACK = "plain.time_sort", "plain.track_<b>ratio</b>"
MACHINES = {
    name: {
        "machine": name,
        "arch": "x86_64",
        "cpu": cpu,
        "num_cpu": "32",
        "os": "Linux 5.10",
        "ram": "512 GB",
    }
    for name, cpu in (("dcu-1", "Hygon C86 7375"), ("dcu-2", "Hygon C86 7375"), ("box", ""))
}


@dataclass(frozen=True)
class History:
    """main, side: the branches' commits, oldest first."""

    files: Files
    main: list[str]
    side: list[str]

    @property
    def suite(self) -> Path:
        return self.files.suite


def write(root: Path, **dcu: Any) -> History:
    """dcu: settings of asv.conf.json's section."""
    main, side = _repository(root / "repo")
    files = Files(root / "suite")
    files.configure(
        project="Kernels & <b>friends</b>",
        project_url="https://example.org/kernels",
        show_commit_url="https://example.org/kernels/commit/",
        repo="../repo",
        branches=["main", BRANCH],
        dcu=dcu,
    )
    for about in MACHINES.values():
        files.machine(about)
    for place, commit in enumerate([*main, *side]):
        _first_card(files, place, commit, head=commit == main[-1])
        if place < MAIN and place % 2:
            _second_card(files, place, commit)
        _plain(files, place, commit)
    _plain(files, 3, GONE)
    stopped = Told(MATMUL, main[-2], CPU_ENV, "dcu-1", MAIN, {"n": "256", "dtype": "'float16'"}, 0)
    files.evidence(stopped, rounds(stopped, Level(0.02), 2))
    for commit, steps in ((main[-1], 3), (main[-2], 2)):
        files.trace(Told(FUSED, commit, ENV, "dcu-1"), training(steps))
    files.close()
    return History(files, main, side)


# ---- the repository


def _repository(place: Path) -> tuple[list[str], list[str]]:
    """`main`, and a branch from FORK; a commit a day."""
    place.parent.mkdir(parents=True, exist_ok=True)
    _git(place.parent, "init", "-q", "-b", "main", str(place))
    stream = []
    for number in range(MAIN + SIDE):
        first = number == MAIN
        branch = "main" if number < MAIN else BRANCH
        when = f"maker <maker@example.org> {int(START.timestamp()) + 86_400 * number} +0000"
        text = "Fuse <em>everything</em>: 全部融合" if first else f"Change number {number}"
        stream.append(f"commit refs/heads/{branch}\nmark :{number + 1}\nauthor {when}\ncommitter {when}\n")
        stream.append(f"data {len(text.encode())}\n{text}\n")
        if first:
            stream.append(f"from :{FORK + 1}\n")
    for name, number in TAGS.items():
        stream.append(f"reset refs/tags/{name}\nfrom :{number + 1}\n\n")
    _git(place, "fast-import", "--quiet", given="".join(stream))
    log = ["log", "--reverse", "--first-parent", "--format=%H"]
    main = _git(place, *log, "main").split()
    return main, _git(place, *log, BRANCH).split()[-SIDE:]


def _git(folder: Path, *arguments: str, given: str | None = None) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


# ---- what was measured


def _first_card(files: Files, place: int, commit: str, head: bool) -> None:
    told = Told("", commit, ENV, "dcu-1", place, more=_older_driver(place))
    slower = 1.25 if place >= SLOWER else 1.0
    faster = place >= FASTER
    groups: dict[str, list[Group]] = {}
    sizes, types = ["256", "1024"], ["'float16'", "'float32'"]
    groups[MATMUL] = [
        _usual(replace(told, benchmark=MATMUL, params={"n": n, "dtype": dtype}, index=index), level)
        for index, (n, dtype) in enumerate(itertools.product(sizes, types))
        for level in [Level((1 if n == "256" else slower * 8) * 1e-4 * (1 + (dtype == types[1])))]
    ]
    fused = replace(told, benchmark=FUSED, more={**told.more, **_profile(place)})
    groups[FUSED] = [
        _sessions(fused, Level(1.6e-3 if faster else 2e-3, (48 if faster else 64) * MIB, metrics=ALL))
    ]
    groups[TRAIN] = [_quick(replace(told, benchmark=TRAIN), Level(3e-2, 512 * MIB, 0.05), head)]
    no_events = {
        "device_time": "the device's events tell no time here",
        "peak_reserved": "nothing is reserved",
    }
    unmeasured = replace(told, benchmark=CHINESE, more={**told.more, "missing": no_events})
    groups[CHINESE] = [_usual(unmeasured, Level(4e-4))]
    groups[SCRIPT] = [
        _usual(replace(told, benchmark=SCRIPT, params={"<i>value</i>": value}, index=index), Level(5e-4), 2)
        for index, value in enumerate(STRANGE)
    ]
    wrong = {"status": "wrong result: 12 of 1048576 elements differ by more than allowed (rtol 0.001)"}
    groups[WRONG] = [
        _failing(replace(told, benchmark=WRONG), Level(6e-4, metrics=(*PLAIN, "max_error")), wrong, head)
    ]
    full = {
        "status": "out of memory: 40 GiB were asked for, and 12 GiB are free",
        "error": {
            "type": "OutOfMemoryError",
            "traceback": "Traceback <most recent call last>:\n  ...",
            "output": "",
        },
    }
    groups[HUGE] = [_failing(replace(told, benchmark=HUGE), Level(9e-3, 8192 * MIB), full, head)]
    files.save(told, groups)


def _second_card(files: Files, place: int, commit: str) -> None:
    other = {"device": {**K100, "product": "K100_AI", "architecture": "gfx928", "driver": "6.3.8"}}
    told = Told("", commit, ENV, "dcu-2", place, more=other)
    groups = {
        FUSED: [_usual(replace(told, benchmark=FUSED), Level(1.1e-3, 48 * MIB, metrics=ALL))],
        CHINESE: [_usual(replace(told, benchmark=CHINESE), Level(3e-4))],
    }
    files.save(told, groups)


def _older_driver(place: int) -> dict[str, Any]:
    return {"device": {**K100, "driver": "6.2.0"}} if place < DRIVER else {}


def _usual(told: Told, level: Level, count: int = 5) -> Group:
    found = rounds(told, level, count)
    return found, found


def _sessions(told: Told, level: Level) -> Group:
    """Of late commits an older session that asv's file has replaced, then the one that it is made of."""
    older = rounds(replace(told, session="older"), level, 3) if told.day >= MAIN - 2 else []
    found = rounds(told, level)
    return [*older, *found], found


def _quick(told: Told, level: Level, head: bool) -> Group:
    """At the head a --quick session that asv's file knows nothing of."""
    found = rounds(told, level, 7)
    quick = rounds(replace(told, session="quick"), replace(level, samples=1), 1)
    for one in quick:
        one.switches = {**one.switches, "quick": True}
    return [*found, *(quick if head else ())], found


def _failing(told: Told, level: Level, more: dict[str, Any], head: bool) -> Group:
    if not head:
        return _usual(told, level)
    return _usual(replace(told, more={**told.more, **more}), level)


def _profile(place: int) -> dict[str, Any]:
    if place < MAIN - 2:
        return {}
    return {"profile": dict(_digest(3 if place == MAIN - 1 else 2))}


@functools.cache
def _digest(steps: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        found = digest(training(steps).analysis(Path(folder)), steps)
    return {
        "steps": steps, "seconds": [0.0019] * steps, "overhead": 1.19, "stacks": False, "first": False,
        **found, "trace": f"{FUSED}.json.gz",
    }  # fmt: skip


def _plain(files: Files, place: int, commit: str) -> None:
    """Another suite's: times of two sets of parameters, one of which fails later, and a figure that
    may be missing."""
    sorts = [
        [1e-3 * (1 + 0.01 * (place % 3)) + 1e-6 * one for one in range(10)],
        [2e-3] * 10 if place < 9 else None,
    ]
    ratio = math.nan if place % 5 == 4 else 0.5 + 0.01 * place
    told = Told("", commit, PLAIN_ENV, "box", place)
    files.save_plain(told, {PLAIN_TIME: ("'<u>'", sorts), PLAIN_TRACK: ("", [ratio])})
