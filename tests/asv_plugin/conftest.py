"""What tests of the plugin need around them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Locks and scratch folders of this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("DCU_ASV_LOCKS", str(folder / "dcu-asv-locks"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder
