"""Scripts that run on a simulated device: each in a process of its own, and what they print at their end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def last_line(script: Path, form: str, **environ: str) -> Any:
    """The JSON on the last line that `script FORM` prints; DCU_ASV_DEVICE is what `environ` says, else unset."""
    clean = {name: value for name, value in os.environ.items() if name != "DCU_ASV_DEVICE"}
    clean["PYTHONPATH"] = os.pathsep.join([str(ROOT), clean.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), form],
        env=clean | environ,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def checked(checks: Mapping[str, Callable[[], object]]) -> dict[str, str | None]:
    """Name of a check -> None, or the traceback that it ended with."""
    results: dict[str, str | None] = {}
    for name, check in checks.items():
        try:
            check()
            results[name] = None
        except Exception:
            results[name] = traceback.format_exc()
    return results
