"""A real asv history from a packed results folder, as a project that asv can publish: its repository is not at hand,
so every result gets an empty commit of the same date. Figures are as they were."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from .site_history import repository


def unpack(packed: Path, root: Path, plugin: bool) -> None:
    """asv.conf.json, repo/, results/ and benchmarks/ below `root`."""
    runs: list[tuple[dict[str, Any], Path]] = []
    with tarfile.open(packed) as archive:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            if stream is None or not member.name.startswith("results/") or ".." in member.name:
                continue
            place, data = root / member.name, stream.read()
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.name in ("benchmarks.json", "machine.json"):
                place.write_bytes(data)
            else:
                runs.append((json.loads(data), place))
    runs.sort(key=lambda run: run[0]["date"])
    hashes = repository(root / "repo", [run["date"] // 1000 for run, _ in runs])
    for commit, (run, place) in zip(hashes, runs, strict=True):
        name = commit[:8] + place.name[8:]
        place.with_name(name).write_text(json.dumps({**run, "commit_hash": commit}))
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__init__.py").touch()
    configure(root, plugin)


def configure(root: Path, plugin: bool, **settings: Any) -> None:
    """settings: of the plugin."""
    conf: dict[str, Any] = {"version": 1, "project": "history", "repo": "repo", "branches": ["main"]}
    conf |= {"environment_type": "existing", "pythons": ["same"]}
    if plugin:
        conf |= {"plugins": [".dcu_asv_ext.asv_plugin"], "dcu": settings}
    (root / "asv.conf.json").write_text(json.dumps(conf, indent=1))
