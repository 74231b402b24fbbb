"""A call with a profiler of its own, or that ends ours: it costs figures, and never the measuring process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

CALLS = {
    "its own": """
        def call(x):
            with torch.autograd.profiler.profile():
                return x * 2
        """,
    "its own, and it goes on without": """
        def call(x):
            try:
                with torch.profiler.profile():
                    return x * 2
            except RuntimeError:
                return x * 2
        """,
    "it ends ours": """
        def call(x):
            if torch.autograd._profiler_enabled():
                torch.autograd._disable_profiler()
            return x * 2
        """,
}
OWN = "the call uses a profiler of its own, which ends the one that counts allocations"


def measured(call: str, folder: Path) -> dict[str, Any]:
    """In a process of its own, which a fault of the profiler would end."""
    begin = """
        import json
        from tests.measure.test_profiling import Path, record, torch
        """
    end = f"""
        metrics = ("latency", "peak_allocated", "kernel_count", "memory_growth")
        told = record(call, Path({str(folder)!r}), metrics=metrics)
        print("RECORD" + json.dumps(told))
        """
    text = "".join(map(textwrap.dedent, (begin, call, end)))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("RECORD")]
    found: dict[str, Any] = json.loads(line.removeprefix("RECORD"))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_rest_is_measured(tmp_path: Path, name: str) -> None:
    told = measured(CALLS[name], tmp_path)
    assert told["status"] == "ok" and told["times"]["latency"]
    assert told["missing"]["peak_allocated"] == OWN
    assert told["missing"]["kernel_count"]
