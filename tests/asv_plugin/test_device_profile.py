"""What `asv profile` asks of the measuring process, and shows of what it leaves; real runs are in tests/e2e."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asv import util

from dcu_asv_ext.asv_plugin import device_profile
from dcu_asv_ext.asv_plugin.device_profile import asked, begin, profile_run
from tests.commands.profile_traces import hip, written
from tests.comparing.measured import record

BENCHMARKS = {"suite.step.latency": {"family": "suite.step"}, "suite.time_plain": {"family": None}}


class Child:
    """Stands for asv with its measuring process: leaves what the request asks for."""

    def __init__(self, status: str = "ok", trace: bool = True, missing: dict[str, str] | None = None) -> None:
        self.about = {"status": status, "profile": {"overhead": 1.25, "missing": missing or {}}}
        self.trace = trace
        self.given: dict[str, Any] = {}

    def run(self, name: str) -> None:
        begin(BENCHMARKS)
        self.given = json.loads(asked(name, '{"timeout": 60}'))
        if "dcu" in self.given:
            made = {**record(1, [78.4e-6] * 3, params={}, benchmark="suite.step"), **self.about}
            Path(self.given["dcu"]["record"]).write_text(json.dumps(made))
            if self.trace:
                written(hip(), Path(self.given["dcu"]["profile"]["trace"]))


@pytest.fixture
def profile(tmp_path: Path) -> Callable[..., Any]:
    def call(original: Callable[..., Any], **more: Any) -> Any:
        def run(cls: Any, conf: Any, benchmark: Any = None, gui: Any = None) -> Any:
            print("asv's own")
            return original()

        return profile_run(run)(None, SimpleNamespace(env_dir=str(tmp_path / "env")), "suite.step", **more)

    return call


def test_its_page_comes_after_asvs_output(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    child = Child()
    profile(lambda: child.run("suite.step.latency-3"))
    out = capsys.readouterr().out
    assert out.startswith("asv's own\n\nsuite.step: 4 profiled calls")
    told = " ".join(out.split())
    assert "1.25 x the latency without the profiler" in told and "unexpected synchronisation" in told
    asked_for = child.given["dcu"]["profile"]
    assert (asked_for["only"], asked_for["stacks"], asked_for["first"]) == (True, False, False)
    assert Path(asked_for["trace"]).name == "suite.step.latency-3.trace.json.gz"
    assert child.given["timeout"] == 60


def test_each_set_of_parameters_has_a_page(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def both() -> None:
        Child().run("suite.step.latency-0")
        Child().run("suite.step.latency-1")

    profile(both)
    assert capsys.readouterr().out.count("4 profiled calls") == 2


def test_a_benchmark_that_is_not_ours_is_left_alone(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    child = Child()
    profile(lambda: child.run("suite.time_plain"))
    assert child.given == {"timeout": 60}
    assert capsys.readouterr().out == "asv's own\n"


def test_what_opens_a_window_is_asvs(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    child = Child()
    profile(lambda: child.run("suite.step.latency"), gui="snakeviz")
    assert child.given == {"timeout": 60}
    assert capsys.readouterr().out == "asv's own\n"


def test_outside_of_asv_profile_nothing_is_asked_for() -> None:
    assert not device_profile._RUNNING
    assert asked("suite.step.latency", "{}") == "{}"


def test_a_profile_that_asv_had_kept(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    profile(lambda: None)
    assert "asv profile --force makes a new one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("child", "words"),
    [
        (
            Child(trace=False, missing={"rows": "the profiler recorded nothing"}),
            "the profiler recorded nothing",
        ),
        (Child(trace=False), "it has no profile pass"),
        (Child(status="skipped: too large"), "suite.step.latency: skipped: too large"),
    ],
)
def test_without_a_trace_it_is_a_sentence(
    profile: Any, capsys: pytest.CaptureFixture[str], child: Child, words: str
) -> None:
    profile(lambda: child.run("suite.step.latency"))
    out = capsys.readouterr().out
    assert words in out and out.count("\n") == 3


def test_a_failure_is_asvs_error_in_one_sentence(profile: Any) -> None:
    def fail() -> None:
        Child(status="failed in the first call: no").run("suite.step.latency")
        raise KeyError("suite.step.latency")

    with pytest.raises(util.UserError, match=r"suite\.step\.latency: failed in the first call: no"):
        profile(fail)
    assert not device_profile._RUNNING


def test_other_errors_pass(profile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise util.UserError("benchmark not found")

    with pytest.raises(util.UserError, match="benchmark not found"):
        profile(fail)
    assert "--force" not in capsys.readouterr().out
