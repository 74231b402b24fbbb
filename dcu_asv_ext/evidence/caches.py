"""On-disk caches of compilers and tuners: where they lie for one measurement, and whether they were used.

A cold start means little when yesterday's run left its compiled kernels on disk, so each (commit, asv run,
function, parameters) gets folders of its own unless the benchmark asks for the user's.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

#: variable -> folder (or file) below a cache root
_VARIABLES = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "TORCH_EXTENSIONS_DIR": "torch_extensions",
    "MIOPEN_USER_DB_PATH": "miopen/db",
    "MIOPEN_CUSTOM_CACHE_DIR": "miopen/cache",
    "CUDA_CACHE_PATH": "nv",
    "PYTORCH_KERNEL_CACHE_PATH": "torch_kernels",
    "PYTORCH_TUNABLEOP_FILENAME": "tunableop/results%d.csv",
}
CACHE_VARIABLES = tuple(_VARIABLES)


def variables(root: Path) -> dict[str, str]:
    """Environment variables that put every cache below `root`."""
    return {name: str(root / place) for name, place in _VARIABLES.items()}


def user_folders(environ: Mapping[str, str]) -> dict[str, Path]:
    """Variable -> where its cache lies when nothing of ours is set."""
    home = Path(environ.get("HOME") or "~").expanduser()
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    user = environ.get("USER") or environ.get("LOGNAME") or str(os.getuid())
    defaults = {
        "TORCHINDUCTOR_CACHE_DIR": Path(tempfile.gettempdir()) / f"torchinductor_{user}",
        "TRITON_CACHE_DIR": home / ".triton" / "cache",
        "TORCH_EXTENSIONS_DIR": cache / "torch_extensions",
        "MIOPEN_USER_DB_PATH": home / ".config" / "miopen",
        "MIOPEN_CUSTOM_CACHE_DIR": cache / "miopen",
        "CUDA_CACHE_PATH": home / ".nv" / "ComputeCache",
        "PYTORCH_KERNEL_CACHE_PATH": cache / "torch" / "kernels",
    }
    return {name: Path(environ.get(name) or place) for name, place in defaults.items()}


@dataclass
class CacheState:
    """mode: "session", "fresh" or "shared". folders: what is watched. before: files found at the start.
    places: where each cache lies in them, by its name ("triton", "miopen/db", ...).
    """

    mode: str
    folders: list[Path]
    places: dict[str, Path] = field(default_factory=dict)
    before: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def was_empty(self) -> bool:
        return not self.before

    def look_again(self) -> None:
        """List the files anew: another process has used the folders."""
        self.before = listing(self.folders)

    def written(self) -> list[str]:
        """The names of the caches that were written to since the start."""
        now = listing(self.folders)
        new = [Path(path) for path, status in now.items() if self.before.get(path) != status]
        return [name for name, place in self.places.items() if any(one.is_relative_to(place) for one in new)]

    def record(self) -> dict[str, object]:
        """For the evidence: mode, whether the caches were empty, whether this measurement wrote to them."""
        return {"mode": self.mode, "was_empty": self.was_empty, "wrote": listing(self.folders) != self.before}


def prepare(
    mode: str, root: Path | None, user: Mapping[str, str | None], environ: MutableMapping[str, str]
) -> CacheState:
    """Point this process's caches at the right folders, before anything has used them.

    root: the session's folder (None: a folder of this process alone).
    user: the user's own values of CACHE_VARIABLES, None where unset; what it does not name stays as it is.
    """
    if mode == "shared":
        for name, value in user.items():
            if name not in CACHE_VARIABLES:
                continue
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value
        places = {_folder(_VARIABLES[name]): place for name, place in user_folders(environ).items()}
        folders = list(places.values())
    else:
        if root is not None:
            root.mkdir(parents=True, exist_ok=True)
        if mode == "fresh" or root is None:
            root = Path(tempfile.mkdtemp(prefix="fresh-", dir=root))
            atexit.register(shutil.rmtree, root, ignore_errors=True)
        for name, value in variables(root).items():
            environ[name] = value
            Path(value).parent.mkdir(parents=True, exist_ok=True)
        # torch makes no folder that it was told of: without it, it would keep nothing.
        Path(environ["PYTORCH_KERNEL_CACHE_PATH"]).mkdir(exist_ok=True)
        folders, places = [root], {name: root / name for name in map(_folder, _VARIABLES.values())}
    return CacheState(mode, folders, places, listing(folders))


def _folder(place: str) -> str:
    """The folder of a cache, where `place` names its files."""
    return place.rpartition("/")[0] if "%" in place else place


def listing(folders: list[Path]) -> dict[str, tuple[int, int]]:
    """path -> (size, mtime in ns) of every file below; a folder that does not exist has none."""
    found = {}
    for folder in folders:
        for base, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(base, name)
                try:
                    status = os.stat(path)
                except FileNotFoundError:
                    continue
                found[path] = (status.st_size, status.st_mtime_ns)
    return found
