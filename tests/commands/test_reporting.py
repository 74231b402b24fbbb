from __future__ import annotations

import argparse
import io
import sys

import pytest

from dcu_asv_ext.commands import reporting
from dcu_asv_ext.comparing.picture import ASCII, UNICODE


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str, tty: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "123")


def test_the_style_is_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal("utf-8"))
    style = reporting.style(everything=True)
    assert (style.width, style.glyphs, style.colour, style.everything) == (123, UNICODE, True, True)
    monkeypatch.setattr(sys, "stdout", Terminal("ascii"))
    assert reporting.style().glyphs is ASCII


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_where_it_is_not_wanted(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal("utf-8"))
    monkeypatch.setenv(name, value)
    assert not reporting.style().colour


def test_no_colour_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal("utf-8", tty=False))
    assert not reporting.style().colour


@pytest.mark.parametrize(("given", "share"), [("1%", 0.01), ("2.5 %", 0.025), ("3", 0.03), ("0%", 0.0)])
def test_percentages(given: str, share: float) -> None:
    assert reporting.percent(given) == pytest.approx(share)


@pytest.mark.parametrize("given", ["", "%", "x", "-1%", "100%", "nan%", "inf", "1%%"])
def test_what_is_no_percentage(given: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no percentage"):
        reporting.percent(given)


def test_margins_that_cannot_go_together() -> None:
    assert reporting.margins_fault(0.01, 0.05) == reporting.margins_fault(0.05, 0.05) == ""
    assert "no smaller than --margin (6%)" in reporting.margins_fault(0.06, 0.05)
    assert "above 0%" in reporting.margins_fault(0.0, 0.0)


def test_what_counts_as_a_fault() -> None:
    assert reporting.fail_on("regression, inconclusive") == ("regression", "inconclusive")
    for wrong in ("", "regressions", "none,failed", "failed,,regression"):
        with pytest.raises(argparse.ArgumentTypeError):
            reporting.fail_on(wrong)


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        with pytest.raises(reporting.OutputError, match=r"^the result cannot be written: No space left"):
            reporting.emit("told")
