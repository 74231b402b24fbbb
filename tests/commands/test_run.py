"""`dcu-asv run`'s options, its exit codes, and what goes to which stream."""

from __future__ import annotations

import argparse
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.asv_plugin.run_folders import KEPT, new_folder
from dcu_asv_ext.commands import run
from dcu_asv_ext.comparing.model import Key, Report, ResultSet, Row, Series, Side
from dcu_asv_ext.daily import loop, session
from dcu_asv_ext.daily.looks import Schedule
from dcu_asv_ext.daily.loop import Outcome
from dcu_asv_ext.daily.session import Found, Request
from dcu_asv_ext.daily.snapshot import SnapshotError
from dcu_asv_ext.stats.verdicts import INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison


def report(*verdicts: str) -> Report:
    found = Comparison(1.0, 1.5, 1.5, 1.4, 1.6, 0.001, REGRESSION, 0, "it is so", (5, 5), 0.01, 8.0)
    rows = [
        Row(
            Key(f"m.f{number}", "latency"),
            Series(f"m.f{number}.latency", unit="seconds"),
            Side(value=1.0),
            Side(value=1.5),
            verdict,
            "it is so",
            comparison=None if verdict == "failed" else replace(found, verdict=verdict),
        )
        for number, verdict in enumerate(verdicts)
    ]
    sets = [[ResultSet("box", "abc", "env", label=label)] for label in ("HEAD", "working tree")]
    return Report(*sets, rows=rows, settings={"margin": 0.01, "equivalence": 0.05})


class Stand:
    """The command over a `measure` that has found something already."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outcome = Outcome(report(NO_CHANGE), 5, loop.SETTLED, 12.0)
        self.fault: BaseException | None = None
        self.requests: list[Request] = []
        monkeypatch.setattr(session, "measure", self._measure)

    def _measure(self, request: Request, tell: Any) -> Found:
        self.requests.append(request)
        tell("on the way")
        print("asv prints")
        logging.getLogger().info("asv informs")
        logging.getLogger().warning("asv warns")
        if self.fault is not None:
            raise self.fault
        return Found(self.outcome, Path("raw"))


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(monkeypatch)


@pytest.mark.parametrize(
    "verdicts, arguments, code",
    [
        ([NO_CHANGE, NO_CHANGE], [], 0),
        ([INCONCLUSIVE], [], 0),
        ([INCONCLUSIVE], ["--fail-on", "inconclusive"], 5),
        ([REGRESSION, NO_CHANGE], [], 1),
        ([REGRESSION], ["--fail-on", "none"], 0),
        (["failed", NO_CHANGE], [], 2),
        (["failed", REGRESSION], [], 1),
        ([], [], 4),
    ],
)
def test_exit_codes(stand: Stand, verdicts: list[str], arguments: list[str], code: int) -> None:
    stand.outcome.report = report(*verdicts)
    assert cli.main(["run", *arguments]) == code


def test_the_comparison_alone_is_on_standard_output(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["rows"][0]["verdict"] == NO_CHANGE
    for line in ("on the way", "asv prints", "asv warns", "5 rounds in 12 s; raw data: raw"):
        assert line in shown.err
    assert "asv informs" not in shown.err


def test_verbose_lets_asv_speak(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger().level
    assert cli.main(["run", "-v"]) == 0
    assert "asv informs" in capsys.readouterr().err
    assert logging.getLogger().level == level


def test_interrupted_is_130_after_the_comparison(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.outcome = Outcome(report(REGRESSION), 3, loop.INTERRUPTED, 30.0)
    assert cli.main(["run"]) == 130
    shown = capsys.readouterr()
    assert "regression" in shown.out
    assert "3 rounds in 30 s (interrupted)" in shown.err
    assert cli.main(["run", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["exit_code"] == 130


def test_a_fault_is_3_after_the_comparison(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.outcome = Outcome(report(REGRESSION), 3, loop.FAULT, 30.0, "the disk is full")
    assert cli.main(["run"]) == 3
    shown = capsys.readouterr()
    assert "regression" in shown.out
    assert "(the next could not be measured)" in shown.err and "dcu-asv run: the disk is full" in shown.err


def test_interrupted_before_anything_is_130(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.outcome = Outcome(None, 0, loop.INTERRUPTED, 1.0)
    assert cli.main(["run"]) == 130
    shown = capsys.readouterr()
    assert shown.out == "" and "before there was anything to compare" in shown.err


def test_a_spent_budget_is_told(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.outcome.ended = loop.BUDGET
    cli.main(["run", "--budget", "90s"])
    assert "(the budget of 90 s does not allow another)" in capsys.readouterr().err


@pytest.mark.parametrize("fault", [SnapshotError("no tree"), OSError("no disk")])
def test_a_fault_is_3_in_one_sentence(
    stand: Stand, fault: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.fault = fault
    assert cli.main(["run"]) == 3
    shown = capsys.readouterr()
    assert shown.out == "" and f"dcu-asv run: {fault}" in shown.err


def test_what_was_asked_for_reaches_the_measurement(stand: Stand) -> None:
    given = ["gemm", "attn(8)", "--against", "v1", "--rounds", "3", "--budget", "1.5h", "--margin", "2%"]
    cli.main(["run", *given, "--vary", "torch"])
    (request,) = stand.requests
    assert request == Request(
        ["gemm", "attn(8)"], "v1", [], None, Schedule(3, 20), 5400.0, 0.02, 0.05, ["torch"]
    )


@pytest.mark.parametrize(
    "given, schedule",
    [
        ([], Schedule(5, 20)),
        (["--rounds", "30"], Schedule(30, 30)),
        (["--max-rounds", "3"], Schedule(3, 3)),
        (["--rounds", "2", "--max-rounds", "9"], Schedule(2, 9)),
    ],
)
def test_rounds(stand: Stand, given: list[str], schedule: Schedule) -> None:
    cli.main(["run", *given])
    assert stand.requests[0].schedule == schedule


@pytest.mark.parametrize(
    "given",
    [
        ["--rounds", "0"],
        ["--rounds", "five"],
        ["--max-rounds", "-1"],
        ["--budget", "0"],
        ["--budget", "10 days"],
        ["--margin", "x"],
        ["--fail-on", "sometimes"],
        ["--against", "a", "--variant", "B=1,2"],
        ["--margin", "6%"],
    ],
)
def test_wrong_use_is_3_before_anything_is_measured(stand: Stand, given: list[str]) -> None:
    assert cli.main(["run", *given]) == 3
    assert stand.requests == []


@pytest.mark.parametrize("text, value", [("90", 90.0), ("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0)])
def test_times(text: str, value: float) -> None:
    assert run.seconds(text) == value


def test_a_time_that_is_none() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="write 90s, 10m or 1h"):
        run.seconds("soon")


def test_the_raw_data_of_the_newest_runs_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "dcu-run"
    for number in range(14):
        (root / f"2020-01-01-0000{number:02}-1").mkdir(parents=True)
    made = new_folder(root)
    left = sorted(one.name for one in root.iterdir() if one.is_dir())
    assert len(left) == KEPT and left[-1] == made.name
    assert left[0] == "2020-01-01-000005-1"
    assert (root / ".gitignore").read_text() == "*\n"
