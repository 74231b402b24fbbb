"""Small git repositories, suites beside them, and real asv run on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dcu_asv_ext

PACKAGE_PARENT = str(Path(dcu_asv_ext.__file__).resolve().parent.parent)

SETUPTOOLS = """
    [build-system]
    requires = ["setuptools"]
    build-backend = "setuptools.build_meta"
    [project]
    name = "tinyproj"
    version = "0.1"
    [tool.setuptools]
    packages = ["tinyproj"]
"""


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))


def valued(value: int) -> dict[str, str]:
    """A setuptools project whose function returns `value`."""
    return {"pyproject.toml": SETUPTOOLS, "tinyproj/__init__.py": f"def value(): return {value}\n"}


class Project:
    """A repository in `root/repo`, a suite in `root/suite`, asv's home in `root/home`."""

    def __init__(self, root: Path, python: str = sys.executable) -> None:
        self.root = root
        self.python = python
        self.repo, self.suite, self.home = root / "repo", root / "suite", root / "home"
        for folder in (self.repo, self.suite, self.home):
            folder.mkdir(parents=True)
        self.environ = {
            k: v for k, v in os.environ.items() if not k.startswith(("ASV", "DCU_ASV", "PIP", "GIT_"))
        }
        self.environ.update(HOME=str(self.home), PYTHONPATH=PACKAGE_PARENT, GIT_CONFIG_NOSYSTEM="1")
        self.git("init", "-q", "-b", "main", ".")
        facts = {"arch": "", "cpu": "", "machine": "box", "num_cpu": "1", "os": "", "ram": "", "version": 1}
        machine = {"box": {k: v for k, v in facts.items() if k != "version"}, "version": 1}
        (self.home / ".asv-machine.json").write_text(json.dumps(machine))
        self.environ["ASV_MACHINE_NAME"] = "box"

    def git(self, *args: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *who, *args], cwd=self.repo, env=self.environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str], remove: tuple[str, ...] = ()) -> str:
        for name in remove:
            self.git("rm", "-rq", name)
        write(self.repo, files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")
        return self.git("rev-parse", "HEAD")

    def benchmarks(self, source: str) -> None:
        write(self.suite, {"benchmarks/__init__.py": "", "benchmarks/suite.py": source})

    def configure(self, **settings: Any) -> None:
        conf = {
            "version": 1,
            "project": "tiny",
            "repo": str(self.repo),
            "branches": ["main"],
            "environment_type": "overlay",
            "plugins": [".dcu_asv_ext.asv_plugin.overlay"],
            **settings,
        }
        (self.suite / "asv.conf.json").write_text(json.dumps(conf))

    def start(self, *args: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, "-m", "asv", *args],
            cwd=self.suite,
            env={**self.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def asv(self, *args: str, code: int | None = 0, **environ: str) -> str:
        process = self.start(*args, **environ)
        try:
            out, _ = process.communicate(timeout=400)
        finally:
            process.kill()
        if code is not None:
            assert process.returncode == code, out
        return out

    def results(self, commit: str) -> dict[str, Any]:
        """The commit's values by benchmark name, with asv's own facts under "params" and "requirements"."""
        (path,) = (self.suite / "results" / "box").glob(f"{commit[:8]}-*.json")
        data = json.loads(path.read_text())
        columns = data["result_columns"]
        values: dict[str, Any] = {}
        for name, row in data["results"].items():
            found = dict(zip(columns, row, strict=False))["result"]
            values[name.removeprefix("suite.")] = found[0] if found else None
        return {
            **values,
            "params": data["params"],
            "requirements": data["requirements"],
            "env_name": data["env_name"],
        }

    def base(self) -> Path:
        (base,) = [path for path in (self.suite / "env").iterdir() if path.is_dir()]
        return base

    def env(self, commit: str) -> Path:
        return self.base() / commit[:12]
