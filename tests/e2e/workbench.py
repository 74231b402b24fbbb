"""A scratch repository with a suite of decorated functions, real asv over its commits, and what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.asv_plugin.overlay_project import SETUPTOOLS, Project, write

SIMULATED = Path(__file__).resolve().parent.parent / "simulated_device"

#: What stands at the head of a suite measured on the simulated HIP device.
FAKE_CUDA = f"import sys\nsys.path.insert(0, {str(SIMULATED)!r})\nimport fake_cuda\n"
SIM_BACKEND = f"import sys\nsys.path.insert(0, {str(SIMULATED)!r})\nimport sim_backend\n"


class Workbench(Project):
    """`root/repo` holds a package `tinyproj`; `root/suite/benchmarks/suite.py` the decorated functions."""

    def __init__(self, root: Path, suite: str, head: str = "", **settings: Any) -> None:
        super().__init__(root)
        self.environ["DCU_ASV_DEVICE"] = "cuda" if "fake_cuda" in head else "sim" if head else "cpu"
        # Tests of one machine run side by side and must not wait for one another.
        self.environ["TMPDIR"] = str(root / "tmp")
        self.environ["DCU_ASV_LOCKS"] = str(root / "locks")
        (root / "tmp").mkdir()
        write(self.suite, {"benchmarks/__init__.py": head or "\n", "benchmarks/suite.py": suite})
        self.configure(**{"plugins": [".dcu_asv_ext.asv_plugin"], **settings})

    def project(self, source: str) -> str:
        """Commit the package's only module."""
        return self.commit({"pyproject.toml": SETUPTOOLS, "tinyproj/__init__.py": source})

    def suite_source(self, source: str) -> None:
        write(self.suite, {"benchmarks/suite.py": source})

    @property
    def folder(self) -> Path:
        return self.suite / "results" / "box"

    def evidence(self, commit: str) -> list[dict[str, Any]]:
        (path,) = self.folder.glob(f"{commit[:8]}-*.evidence.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]

    def series(self, commit: str, name: str) -> Any:
        """asv's stored value of a parameterless benchmark: a number, None (failed), or NaN (n/a)."""
        return self.results(commit)[name]
