"""Looking at an asv run from outside: how far it is, what it leaves behind, which of its processes live on."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from .workbench import Workbench


def strict(path: Path) -> list[dict[str, Any]]:
    """The lines of an evidence file, which is strict JSON; none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line, parse_constant=_refuse) for line in path.read_text().splitlines(keepends=True)]


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def evidence_files(bench: Workbench) -> list[Path]:
    return sorted(bench.folder.glob("*.evidence.jsonl"))


def lines(bench: Workbench) -> list[dict[str, Any]]:
    """Every measurement of the bench, file by file, in the order they were made."""
    return [one for path in evidence_files(bench) for one in strict(path)]


def wait_for(what: Any, process: subprocess.Popen[str], seconds: float = 60) -> None:
    """Until `what()` is true while the process runs."""
    end = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.05)


def survivors(bench: Workbench) -> list[str]:
    """Command lines of processes that still name the suite, after they had time to end."""
    end = time.monotonic() + 5
    while True:
        found = _naming(str(bench.suite))
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def _naming(text: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in command:
            found.append(command)
    return found


def measuring(bench: Workbench) -> list[str]:
    """Command lines of the measuring processes that are running now."""
    return [one for one in _naming(str(bench.suite)) if "benchmark.py run " in one]
