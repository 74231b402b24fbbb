from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext import __version__, cli

HEAVY = ("torch", "asv", "asv_runner", "scipy", "numpy")


def test_importing_the_commands_imports_nothing_heavy() -> None:
    code = (
        "import sys, dcu_asv_ext.cli as cli\n"
        "for name in cli.COMMANDS: cli._module(name)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"dcu-asv {__version__}\n"


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n    {name}" in told for name in cli.COMMANDS)
    assert all(f"\n  {code}  " in told for code in range(6))


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_help_and_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nope"], ["doctor", "--nope"], ["quickstart"], ["--nope"]])
def test_wrong_use_is_3_and_says_why(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 3
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("usage: dcu-asv")


def _command(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    module = SimpleNamespace(add_arguments=lambda parser: None, run=run)
    monkeypatch.setitem(cli.COMMANDS, "other", ("other", "something else"))
    monkeypatch.setattr(cli, "_module", lambda name: module)


def test_a_commands_code_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    _command(monkeypatch, lambda options: 5)
    assert cli.main(["other"]) == 5


def test_a_fault_is_not_taken_for_a_regression(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(options: argparse.Namespace) -> int:
        raise RuntimeError("broken inside")

    _command(monkeypatch, run)
    assert cli.main(["other"]) == 3
    assert "RuntimeError: broken inside" in capsys.readouterr().err


def test_a_reader_that_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    code = "import sys; from dcu_asv_ext.cli import main; sys.exit(main(['doctor', '--no-probe', '--json']))"
    command = f"'{sys.executable}' -c \"{code}\" | true"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""


def _printing(redirection: str, text: str = "'5 us → 6 µs'") -> subprocess.CompletedProcess[str]:
    """A command that prints and then ends with 1, with its streams as the shell is told."""
    code = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from dcu_asv_ext import cli\n"
        "from dcu_asv_ext.commands.reporting import emit\n"
        "def run(options):\n"
        f"    print('told', file=sys.stderr); emit({text}); return 1\n"
        "cli.COMMANDS['other'] = ('other', 'something else')\n"
        "cli._module = lambda name: SimpleNamespace(add_arguments=lambda parser: None, run=run)\n"
        "sys.exit(cli.main(['other']))"
    )
    environ = {**os.environ, "PYTHON": sys.executable, "CODE": code, "PYTHONIOENCODING": "ascii"}
    command = f'"$PYTHON" -c "$CODE" {redirection}'
    return subprocess.run(["bash", "-c", command], env=environ, capture_output=True, text=True)


def test_a_result_is_not_lost_on_an_encoding() -> None:
    done = _printing("")
    assert (done.returncode, done.stdout, done.stderr) == (1, "5 us \\u2192 6 \\xb5s\n", "told\n")


@pytest.mark.parametrize("redirection", [">&-", "| true; exit ${PIPESTATUS[0]}"])
def test_a_verdict_does_not_need_a_reader(redirection: str) -> None:
    done = _printing(redirection, "'x' * 200_000")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "told\n")


def test_a_closed_error_stream_does_not_spill_into_the_result() -> None:
    assert _printing("2>&-", "'{}'").stdout == "{}\n"


def test_as_a_process(tmp_path: Path) -> None:
    """Without a configuration: the machine alone, and valid JSON."""
    code = "import sys; from dcu_asv_ext.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "doctor", "--no-probe", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["config"] is None and "only the machine" in found["scope"]
    assert done.returncode == (3 if found["counts"]["problem"] else 0)
