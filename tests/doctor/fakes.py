"""A machine made of files in a temporary folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dcu_asv_ext.doctor.check import Host


def host(
    root: Path,
    files: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    hostname: str = "lab1",
) -> Host:
    """files: path below the root -> text. HOME is /home/me there."""
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Host(root, {"HOME": str(root / "home/me"), **(environ or {})}, hostname)
