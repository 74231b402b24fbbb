"""`dcu-asv profile --compare`: two commits' kept profiles, a benchmark profiled on both, or two trace files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.commands import profile_bench
from dcu_asv_ext.comparing.profile_changes import compare_profiles
from dcu_asv_ext.daily.profiling import Profiled
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.exit_codes import BENCHMARK_FAILED, FINE, NOTHING_COMPARABLE, WRONG_USE
from tests.comparing.profiles import GEMM, RELU, Kernel, profile
from tests.gates.candidates import Candidates, measured

from .profile_traces import hip, written
from .running import Run, runner

NEW: Kernel = ("new_kernel", "4x1", 4, 0.95e-3)


@pytest.fixture
def made(tmp_path: Path) -> Candidates:
    return Candidates(tmp_path)


@pytest.fixture
def run(made: Candidates, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("profile", made.suite, monkeypatch, capsys)


def records(kernels: tuple[Kernel, ...] | None, name: str = "suite.step", **more: Any) -> list[Measurement]:
    """kernels: None: without a profile."""
    found = measured(name, rounds=3, **more)
    for one in found:
        one.profile = {} if kernels is None else profile(kernels)
    return found


def side(found: list[Measurement], place: int) -> list[Measurement]:
    return [one for one in found if one.benchmark == f"suite.f{place}"]


def keep(made: Candidates, before: list[Measurement], after: list[Measurement]) -> tuple[str, str]:
    made.keep(made.base, before)
    made.keep(made.candidate, after)
    return made.base, made.candidate


class TestKept:
    def test_what_changed_between_two_commits(self, made: Candidates, run: Run) -> None:
        before, after = keep(made, records((GEMM, RELU)), records((GEMM, RELU, NEW), hours=1.0))
        code, out, _ = run("--compare", before, after)
        assert code == FINE
        assert "suite.step" in out and "new_kernel" in out
        code, out, _ = run("--compare", before, after, "--json")
        (change,) = json.loads(out)["changes"]
        assert code == FINE
        assert [(row["name"], row["changes"]) for row in change["kernels"]] == [("new_kernel", ["added"])]

    def test_latencies_and_verdicts_are_those_of_compare(
        self, made: Candidates, run: Run, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A noisy benchmark looks changed alone, and does not in its suite."""
        changes = (1.0, 1.0, 1.0, 1.1, 0.8)
        before, after = (
            [
                one
                for place, change in enumerate(changes)
                for one in records(
                    (GEMM,),
                    f"suite.f{place}",
                    spread=0.06,
                    seed=10 * place + (100 if side else 0),
                    latency=0.01 * (change if side else 1.0),
                    hours=float(side),
                )
            ]
            for side in (0, 1)
        )
        names = keep(made, before, after)
        told = json.loads(run("--compare", *names, "--json")[1])["changes"]
        cli.main(["compare", *names, "--json"])
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert {
            one["benchmark"]: (
                one["latency_verdict"],
                one["before"]["latency"]["value"],
                one["after"]["latency"]["value"],
            )
            for one in told
        } == {
            row["benchmark"]: (row["verdict"], row["before"], row["after"])
            for row in rows
            if row["metric"] == "latency"
        }
        alone = [
            compare_profiles([one.to_dict() for one in old], [one.to_dict() for one in new]).verdict
            for old, new in ((side(before, at), side(after, at)) for at in range(len(changes)))
        ]
        assert alone != [one["latency_verdict"] for one in told]

    def test_a_benchmark_is_chosen(self, made: Candidates, run: Run) -> None:
        kernels = (GEMM, RELU)
        before, after = keep(
            made,
            [*records(kernels), *records(kernels, "suite.other")],
            [*records(kernels, hours=1.0), *records(kernels, "suite.other", hours=1.0)],
        )
        for name in ("step", "suite.step", "st.p"):
            found = json.loads(run(name, "--compare", before, after, "--json")[1])["changes"]
            assert [one["benchmark"] for one in found] == ["suite.step"], name

    def test_parameters_are_chosen(self, made: Candidates, run: Run) -> None:
        before, after = keep(
            made,
            [one for n in "48" for one in records((GEMM,), params={"n": n})],
            [one for n in "48" for one in records((GEMM,), params={"n": n}, hours=1.0)],
        )
        found = json.loads(run("step(8)", "--compare", before, after, "--json")[1])["changes"]
        assert [one["params"] for one in found] == [{"n": "8"}]

    def test_what_has_a_profile_on_one_side_alone_is_told(self, made: Candidates, run: Run) -> None:
        kernels = (GEMM, RELU)
        before, after = keep(
            made,
            [*records(kernels), *records(None, "suite.other")],
            [*records(kernels, hours=1.0), *records(kernels, "suite.other", hours=1.0)],
        )
        code, out, _ = run("--compare", before, after)
        assert code == FINE and "left out: suite.other: there is no profile on the side before" in out

    def test_without_profiles_it_says_which_command_makes_them(self, made: Candidates, run: Run) -> None:
        before, after = keep(made, records(None), records(None, hours=1.0))
        code, out, err = run("--compare", before, after)
        assert code == NOTHING_COMPARABLE and not out
        assert f"asv run {before}^!" in err and f"dcu-asv profile BENCH --compare {before} {after}" in err
        assert "there is no profile on the side before the change" in err

    def test_without_results(self, made: Candidates, run: Run) -> None:
        code, _, err = run("--compare", made.base, made.candidate)
        assert code == NOTHING_COMPARABLE and "there are no results" in err and "asv run" in err

    def test_a_commit_that_does_not_exist(self, made: Candidates, run: Run) -> None:
        keep(made, records((GEMM,)), records((GEMM,), hours=1.0))
        code, _, err = run("--compare", "nosuch", made.candidate)
        assert code == WRONG_USE and "nosuch" in err

    def test_a_machine_without_results(self, made: Candidates, run: Run) -> None:
        before, after = keep(made, records((GEMM,)), records((GEMM,), hours=1.0))
        code, _, err = run("--compare", before, after, "--machine", "other")
        assert code == WRONG_USE and "other" in err


class TestNow:
    """A benchmark is named, and the results have no profile of it on both sides."""

    @pytest.fixture
    def profiled(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
        """The commits that were profiled; the second one has one more kernel."""
        asked: list[str] = []
        trace = written(hip(), tmp_path / "t.json.gz")

        def profile_now(options: Any, name: str, commit: str) -> Profiled:
            asked.append(commit)
            (record, *_) = records((GEMM, RELU, NEW)[: 1 + len(asked)])
            return Profiled(name, record.to_dict(), commit, trace, None)

        monkeypatch.setattr(profile_bench, "profile_now", profile_now)
        return asked

    def test_both_are_profiled(self, made: Candidates, run: Run, profiled: list[str]) -> None:
        before, after = keep(made, records(None), records((GEMM,), hours=1.0))
        code, out, _ = run("step", "--compare", before, after)
        assert code == FINE and profiled == [before, after]
        assert "new_kernel" in out

    def test_what_is_kept_is_not_made_again(self, made: Candidates, run: Run, profiled: list[str]) -> None:
        before, after = keep(made, records((GEMM,)), records((GEMM, NEW), hours=1.0))
        code, out, _ = run("step", "--compare", before, after)
        assert code == FINE and not profiled and "new_kernel" in out

    def test_one_that_fails(self, made: Candidates, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        failed = {"benchmark": "suite.step", "params": {}, "status": "failed in the first call: no"}
        monkeypatch.setattr(
            profile_bench,
            "profile_now",
            lambda options, name, commit: Profiled(name, failed, commit, made.root / "none", None),
        )
        code, out, err = run("step", "--compare", made.base, made.candidate)
        assert code == BENCHMARK_FAILED and not out
        assert "step: failed in the first call: no" in err


class TestFiles:
    def test_two_traces(self, run: Run, made: Candidates) -> None:
        small, large = hip(), hip()
        for step in range(4):
            large.launch(10 + 100 * step + 90, 10 + 100 * step + 92, 10 + 100 * step + 97, took=1, stream=1)
        names = [written(one, made.suite / f"{at}.json.gz").name for at, one in enumerate((small, large))]
        code, out, _ = run("--compare", *names)
        assert code == FINE and out.startswith("0.json.gz → 1.json.gz")
        code, out, _ = run("--compare", *names, "--json")
        (change,) = json.loads(out)["changes"]
        before, after = (change[side]["metrics"]["kernel_count"]["value"] for side in ("before", "after"))
        assert (before, after) == (3, 4)

    def test_one_that_is_no_trace(self, run: Run, made: Candidates) -> None:
        good = written(hip(), made.suite / "good.json").name
        (made.suite / "bad.json").write_text("hello")
        code, _, err = run("--compare", good, "bad.json")
        assert code == WRONG_USE and "bad.json is no Chrome trace" in err

    def test_one_in_which_nothing_was_recorded(self, run: Run, made: Candidates) -> None:
        good = written(hip(), made.suite / "good.json").name
        for events, words in (("[]", "has no events"), ('[{"ph": "M", "name": "x"}]', "recorded nothing")):
            (made.suite / "empty.json").write_text(f'{{"traceEvents": {events}}}')
            code, _, err = run("--compare", good, "empty.json")
            assert code == NOTHING_COMPARABLE and words in err
