"""Folders for what is measured or profiled now and then: beside asv's environments, none of asv's results."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

#: The raw data of so many runs is kept.
KEPT = 10


def new_folder(root: Path) -> Path:
    """A new results folder; those of earlier runs go, but for the newest."""
    root.mkdir(parents=True, exist_ok=True)
    # Where the environments are not ignored by git, these results still are.
    (root / ".gitignore").write_text("*\n")
    earlier = sorted(one for one in root.iterdir() if one.is_dir())
    for one in earlier[: max(len(earlier) - KEPT + 1, 0)]:
        shutil.rmtree(one, ignore_errors=True)
    name = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{os.getpid()}"
    # One process may begin two within a second.
    for number in itertools.count(1):
        folder = root / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder


def run_folders(env_dir: str) -> Path:
    """Where they lie: beside the environments, which nobody commits or publishes."""
    return Path(env_dir).resolve() / "dcu-run"
