"""Which benchmark, commit and environment are profiled; measuring itself is in tests/e2e/test_profile_command.py."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.interleaving import Function
from dcu_asv_ext.daily import profiling
from dcu_asv_ext.daily.choice import ChoiceError
from dcu_asv_ext.daily.profiling import ProfilingError, Request
from dcu_asv_ext.daily.snapshot import Snapshot

GEMM = Function(
    "suite.gemm",
    ("suite.gemm.latency",),
    ("n", "dtype"),
    tuple((n, dtype) for n in ("256", "1024") for dtype in ("'float32'", "'float16'")),
    ours=True,
)
STEP = Function("suite.step", ("suite.step.latency",), (), ((),), ours=True)
PLAIN = Function("suite.time_plain", ("suite.time_plain",), (), ((),), ours=False)
HEAD, OTHER = "a" * 40, "b" * 40


class Side:
    """Keeps what it was asked for, and measures nothing."""

    asked: Any = None

    def __init__(self, bench: Any, environments: Any, commit: str, marks: Any, profile: Any) -> None:
        Side.asked = SimpleNamespace(
            envs=[one.name for one in environments], commit=commit, marks=marks, ask=profile
        )
        self.files: list[Any] = []

    def measure(self, selection: Any) -> None:
        Side.asked.selection = selection


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    made = SimpleNamespace(
        settles_in=tmp_path / "dcu-run",
        settle=lambda folder: None,
        existing=False,
        resolve={"HEAD": HEAD, "v1": OTHER, OTHER[:8]: OTHER}.get,
        environments=lambda: [SimpleNamespace(name="overlay-py3")],
        install=lambda environments, commit: None,
        discover=lambda environments, commit: [GEMM, STEP, PLAIN],
    )
    monkeypatch.setattr(profiling.Bench, "open", lambda config: made)
    monkeypatch.setattr(profiling, "Side", Side)
    monkeypatch.setattr(
        profiling, "working_tree", lambda bench, environ: Snapshot("c" * 40, HEAD, ("a note",))
    )
    return made


def ask(*arguments: Any, **more: Any) -> tuple[Any, list[str]]:
    told: list[str] = []
    return profiling.profile(Request(*arguments, **more), told.append), told


class TestWhich:
    @pytest.mark.parametrize(
        ("request_", "selection"),
        [
            (Request("step"), {"suite.step": [0]}),
            (Request("gemm(1024, float16)"), {"suite.gemm": [3]}),
            (Request("gemm", {"n": "1024", "dtype": "float32"}), {"suite.gemm": [2]}),
            (Request("gemm", {"n": "256", "dtype": "'float16'"}), {"suite.gemm": [1]}),
            (Request("gemm.*256.*float16"), {"suite.gemm": [1]}),
        ],
    )
    def test_one_is_meant(self, bench: Any, request_: Request, selection: Any) -> None:
        profiling.profile(request_, lambda text: None)
        assert Side.asked.selection == selection

    def test_several_are_listed(self, bench: Any) -> None:
        with pytest.raises(ProfilingError) as fault:
            ask("gemm", {"n": "256"})
        assert "suite.gemm(256, 'float32'), suite.gemm(256, 'float16')" in str(fault.value)
        assert "1024" not in str(fault.value)

    def test_several_functions_are_listed(self, bench: Any) -> None:
        with pytest.raises(ProfilingError, match=r"means several: name one of .*suite\.step"):
            ask("suite")

    def test_params_that_there_are_not(self, bench: Any) -> None:
        with pytest.raises(ProfilingError, match=r"gemm has no parameters n=7; there are suite.gemm\(256"):
            ask("gemm", {"n": "7"})

    def test_a_name_that_is_not_known(self, bench: Any) -> None:
        with pytest.raises(ChoiceError, match=r"did you mean suite\.gemm"):
            ask("gem_m")

    def test_what_is_asvs_own_is_left_to_asv(self, bench: Any) -> None:
        with pytest.raises(ProfilingError, match=r"asv profile suite\.time_plain"):
            ask("time_plain")


class TestWhere:
    def test_the_working_tree(self, bench: Any) -> None:
        found, told = ask("step")
        assert Side.asked.commit == "c" * 40
        assert Side.asked.marks == {"dirty": True, "head": HEAD}
        assert "working tree (changed since aaaaaaaa)" in found.code
        assert told[0] == "note: a note"

    @pytest.mark.parametrize(("name", "code"), [("v1", "v1 (bbbbbbbb)"), (OTHER[:8], OTHER[:8])])
    def test_a_commit(self, bench: Any, name: str, code: str) -> None:
        found, _ = ask("step", commit=name)
        assert (Side.asked.commit, Side.asked.marks, found.code) == (OTHER, {}, code)

    def test_a_commit_that_is_not_there(self, bench: Any) -> None:
        with pytest.raises(ProfilingError, match="there is no commit, branch or tag v9"):
            ask("step", commit="v9")

    def test_an_existing_environment_has_no_commits(self, bench: Any) -> None:
        bench.existing = True
        with pytest.raises(ProfilingError, match="existing environment holds one install"):
            ask("step", commit="v1")

    def test_of_several_environments_one_is_chosen(self, bench: Any) -> None:
        bench.environments = lambda: [SimpleNamespace(name=name) for name in ("py3-A1", "py3-A2")]
        with pytest.raises(ProfilingError, match=r"several environments \(py3-A1, py3-A2\)"):
            ask("step")
        ask("step", env="a2")
        assert Side.asked.envs == ["py3-A2"]
        with pytest.raises(ProfilingError, match="no environment 'a3'; it gives py3-A1, py3-A2"):
            ask("step", env="a3")


def test_what_is_asked_of_the_measuring_process(bench: Any) -> None:
    found, _ = ask("gemm(256, float32)", stacks=True, first=True)
    assert found.trace.name == "suite.gemm-0.trace.json.gz"
    assert found.first_trace is not None and found.first_trace.name == "suite.gemm-0.first.trace.json.gz"
    assert Side.asked.ask == {
        "only": True,
        "stacks": True,
        "first": True,
        "trace": str(found.trace),
        "first_trace": str(found.first_trace),
    }
    assert found.trace.parent.parent == bench.settles_in
    assert ask("step")[0].first_trace is None


def test_two_in_one_second_have_folders_of_their_own(bench: Any) -> None:
    assert ask("step")[0].trace.parent != ask("step")[0].trace.parent
