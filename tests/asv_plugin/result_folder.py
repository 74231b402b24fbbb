"""asv results with exact figures: a git repository, result files in asv's format, evidence beside them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

COLUMNS = [
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25",
    "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
]  # fmt: skip
ENV = "overlay-py3.10"
NAME = "suite.time_it"


class ResultFolder:
    """commits: full hashes of `main`, oldest first; they are a minute apart, and their subjects "commit 0", ..."""

    def __init__(self, root: Path, commits: int = 4) -> None:
        self.root = root
        self.repo, self.results = root / "repo", root / "results"
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main", ".")
        stream = "".join(
            f"commit refs/heads/main\nmark :{i + 1}\ncommitter x <x@x> {1_700_000_000 + 60 * i} +0000\n"
            f"data {len(f'commit {i}')}\ncommit {i}\n" + (f"from :{i}\n" if i else "")
            for i in range(commits)
        )
        self.git("fast-import", "--quiet", text=stream)
        self.commits = self.git("rev-list", "--reverse", "main").split()
        self.configure()

    def git(self, *arguments: str, text: str | None = None) -> str:
        command = ["git", "-C", str(self.repo), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.strip()

    def configure(self, **changes: Any) -> Path:
        conf = {"version": 1, "project": "tiny", "repo": "repo", "branches": ["main"], **changes}
        path = self.root / "asv.conf.json"
        path.write_text(json.dumps(conf))
        return path

    def describe(self, **benchmarks: dict[str, Any]) -> None:
        self.results.mkdir(exist_ok=True)
        (self.results / "benchmarks.json").write_text(json.dumps({**benchmarks, "version": 2}))

    def place(self, commit: str, suffix: str, env: str = ENV, machine: str = "box") -> Path:
        folder = self.results / machine
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "machine.json").write_text(json.dumps({"machine": machine, "version": 1}))
        return folder / f"{commit[:8]}-{env}{suffix}"

    def save(
        self,
        commit: str,
        samples: Mapping[str, Sequence[float] | None] | None = None,
        *,
        env: str = ENV,
        machine: str = "box",
        **changes: Any,
    ) -> Path:
        """asv's file. samples: name -> all samples of a benchmark without parameters; None: it failed."""
        given = {NAME: [1.0, 2.0, 3.0, 4.0]} if samples is None else samples
        rows = {
            name: [[sorted(own)[len(own) // 2]], [], "v1", 0, 0, *[None] * 6, [list(own)]]
            if own
            else [None, [], "v1"]
            for name, own in given.items()
        }
        when = 1_700_000_000 + 60 * self.commits.index(commit) if commit in self.commits else 0
        data = {
            "commit_hash": commit,
            "env_name": env,
            "date": 1000 * when,
            "params": {"machine": machine, "cpu": "EPYC", "python": "3.10"},
            "python": "3.10",
            "requirements": {},
            "env_vars": {},
            "result_columns": COLUMNS,
            "results": rows,
            "durations": {},
            "version": 2,
            **changes,
        }
        path = self.place(commit, ".json", env, machine)
        path.write_text(json.dumps(data))
        return path

    def evidence(self, commit: str, *records: Mapping[str, Any], torn: str = "", env: str = ENV) -> Path:
        lines = [
            json.dumps({**one, "commit": commit, "env": env, "machine": "box"}) + "\n" for one in records
        ]
        path = self.place(commit, ".evidence.jsonl", env)
        path.write_text("".join(lines) + torn)
        return path
