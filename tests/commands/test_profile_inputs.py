"""What the words of `dcu-asv profile` mean, and which options go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.commands import profile_inputs
from dcu_asv_ext.commands.choosing import WrongUse
from dcu_asv_ext.exit_codes import FINE, WRONG_USE

from .running import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"traceEvents": []}')
    return runner("profile", tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name a trace file, or a benchmark"),
        (("a.json", "gemm"), "a.json is a trace and gemm a benchmark"),
        (("gemm", "conv"), "one benchmark is profiled at a time, not 2 (gemm, conv)"),
        (("a.json", "--commit", "HEAD"), "--commit is for profiling a benchmark, and a.json is a trace"),
        (("a.json", "--params", "n=1"), "--params is for profiling a benchmark"),
        (("a.json", "--first"), "--first is for profiling a benchmark"),
        (("a.json", "--stacks"), "--stacks is for profiling a benchmark"),
        (("a.json", "--trace", "t.json"), "--trace is for profiling a benchmark"),
        (("a.json", "--env", "py3"), "--env is for profiling a benchmark"),
        (("a.json", "--json", "--csv", "-"), "--json and --csv - both take the standard output"),
        (("a.json", "--filter", "("), "is no regular expression"),
        (("a.json", "--top", "0"), "is no whole number of at least 1"),
        (("a.json", "--sort", "colour"), "invalid choice"),
        (("gemm", "--machine", "box"), "--machine chooses among results, so it goes with --compare alone"),
        (("gemm", "--trace", "t.txt"), "a trace's name ends in .json.gz"),
        (("gemm", "--trace", "no/such/t.json"), "there is no folder no/such"),
        (("gemm", "--params", "n"), "--params takes NAME=VALUE, not 'n'"),
        (("--compare", "a.json", "HEAD"), "a.json is a trace; compare it with a second one"),
        (("--compare", "a.json", "./a.json"), "both sides are the same file"),
        (("a.json", "--compare", "HEAD~1", "HEAD"), "--compare takes both traces"),
        (("gemm", "--compare", "a.json", "b.json"), "there is no benchmark gemm to choose"),
        (("--compare", "a.json", "b.json", "--env", "x"), "choose among the results of commits"),
        (("--compare", "A", "B", "--commit", "C"), "--commit does not go with --compare"),
        (("--compare", "A", "B", "--html", "x"), "--html does not go with --compare"),
        (("--compare", "A", "B", "--csv", "x"), "--csv does not go with --compare"),
        (("--compare", "A", "B", "gemm", "conv"), "--compare takes one benchmark, not 2"),
    ],
)
def test_wrong_use_is_one_sentence(run: Run, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = run(*arguments)
    assert code == WRONG_USE and not out
    assert words in err and "Traceback" not in err
    assert err.count("\n") <= 1 or err.startswith("usage: ")


def test_without_a_project_the_sentence_is_asvs(run: Run) -> None:
    code, _, err = run("gemm")
    assert code == WRONG_USE and "asv.conf.json" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("word", "is_trace"),
    [
        ("gemm", False),
        ("suite.gemm(256, 'float32')", False),
        ("suite.*", False),
        ("gone.json", True),
        ("gone.pt.trace.json.gz", True),
        ("a.json", True),
        (".", True),
        ("empty", False),
        ("empty/", True),
        ("log", True),
        ("plain", True),
    ],
)
def test_traces_and_benchmarks_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, is_trace: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "log").mkdir()
    for name in ("a.json", "plain", "log/x.json.gz"):
        (tmp_path / name).touch()
    assert profile_inputs.is_trace(word) is is_trace


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["n=256"], {"n": "256"}),
        (["n=256,dtype=float32"], {"n": "256", "dtype": "float32"}),
        (["n=256", " dtype = 'float32' "], {"n": "256", "dtype": "'float32'"}),
        (["shape=(2, 3),n=1"], {"shape": "(2, 3)", "n": "1"}),
        (["f=f(a=1, b=2)"], {"f": "f(a=1, b=2)"}),
    ],
)
def test_params(given: list[str], found: dict[str, str]) -> None:
    assert profile_inputs.params_of(given) == found


def test_params_without_a_name() -> None:
    with pytest.raises(WrongUse):
        profile_inputs.params_of(["=3"])


def test_the_help_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", "--help"]) == FINE
    out = capsys.readouterr().out
    for word in ("--compare A B", "examples:", "dcu-asv profile trace.json.gz", "--stacks", "exit codes:"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 100
