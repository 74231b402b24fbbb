"""A sub-command run in the folder of a suite, as its tests call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dcu_asv_ext import cli

#: Arguments -> exit code, standard output, standard error.
Run = Callable[..., tuple[int, str, str]]


def runner(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Goes to the folder, and to a terminal of 140 columns."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.main([command, *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call
