"""What `dcu-asv profile BENCH` tells of a measurement, and where its traces go."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.daily import profiling
from dcu_asv_ext.daily.profiling import Profiled
from dcu_asv_ext.exit_codes import BENCHMARK_FAILED, FINE, NOTHING_COMPARABLE, WRONG_USE
from dcu_asv_ext.trace.syncs import OWN_SPAN
from tests.comparing.measured import record

from .profile_traces import hip, written
from .running import Run, runner

CODE = "the working tree (as in aaaaaaaa)"


class Measuring:
    """Stands for the measuring process; a test says what it leaves."""

    def __init__(self, folder: Path) -> None:
        made = hip()
        for step in range(4):
            begin = 10 + 100 * step
            made.span(OWN_SPAN, begin + 92, begin + 97)
            made.call("hipDeviceSynchronize", begin + 93, begin + 96)
        made.launch(500, 510, 530)  # after the profiled calls
        self.trace = written(made, folder / "raw.trace.json.gz")
        self.first: Path | None = None
        about = {"steps": 4, "overhead": 1.25, "missing": {}}
        self.record: dict[str, Any] | None = {**record(1, [78.4e-6] * 3), "profile": about}
        self.asked: profiling.Request | None = None

    def profile(self, request: profiling.Request, tell: Any) -> Profiled:
        self.asked = request
        if request.config is not None:
            os.chdir(Path(request.config).parent)  # as asv does
        tell("Installing")
        return Profiled("gemm.matmul(1)", self.record, CODE, self.trace, self.first)


@pytest.fixture
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measuring:
    made = Measuring(tmp_path)
    monkeypatch.setattr(profiling, "profile", made.profile)
    return made


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("profile", tmp_path, monkeypatch, capsys)


def test_the_overhead_stands_beside_every_figure(measuring: Measuring, run: Run) -> None:
    code, out, err = run("gemm")
    assert code == FINE and err == "Installing\n"
    assert f"of {CODE}: 4 profiled calls" in out
    assert "98.0 us a profiled step (the median), 1.25 x the latency without the profiler (78.4 us)" in out
    assert out.count("profiled: 1.25 x the latency") == 2, "totals and findings"
    assert out.count("1.25 times as long") == 2, "operators and kernels"
    assert f"{measuring.trace} (https://ui.perfetto.dev opens it)" in " ".join(out.split())


@pytest.mark.parametrize(
    "told", [{"overhead": 0.74}, {"overhead": 30.1, "seconds": [1e-4, 1e-4, 9e-3, 9e-3]}]
)
def test_a_factor_that_means_nothing_is_not_told(
    measuring: Measuring, run: Run, told: dict[str, Any]
) -> None:
    assert measuring.record is not None
    measuring.record["profile"].update(told)
    out = " ".join(run("gemm", "--html", "page.html")[1].split())
    assert out.count("could not be determined (the machine was busy)") == 5
    page = Path("page.html").read_text()
    assert "slows the calls could not be determined (the machine was busy)" in page
    for text in ("0.74", "30.1"):
        assert text not in out and text not in page.partition("<script")[0]
    (found,) = json.loads(run("gemm", "--json")[1])["profiles"]
    assert found["overhead"] is None and found["overhead_doubtful"]


def test_idle_time_between_the_calls_is_the_harness_own(measuring: Measuring, run: Run) -> None:
    (found,) = json.loads(run("gemm", "--json")[1])["profiles"]
    assert found["overhead"] == 1.25
    assert found["idle_share"] == found["per_call"]["idle_share"] < found["totals"]["idle_share"]
    assert "within the calls" in run("gemm")[1]


def test_only_the_profiled_calls_count(measuring: Measuring, run: Run) -> None:
    (found,) = json.loads(run("gemm", "--json")[1])["profiles"]
    assert found["totals"]["kernel_count"] == 12
    assert found["per_call"]["kernel_count"] == 3


def test_the_harness_own_waits_are_told_apart(measuring: Measuring, run: Run) -> None:
    out = " ".join(run("gemm")[1].split())
    assert "syncs 4 (1 a step): 4 in a copy that blocks; beside them 4 of the profiler's" in out


def test_files_lie_where_the_user_is(measuring: Measuring, run: Run, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    files = ("--trace", "t.json.gz", "--csv", "t.csv", "--html", "t.html")
    assert run("gemm", "--config", "project/asv.conf.json", *files)[0] == FINE
    assert all((tmp_path / name).is_file() for name in files[1::2])


def test_options_reach_the_measurement(measuring: Measuring, run: Run) -> None:
    run(
        "gemm",
        "--commit",
        "v1",
        "--params",
        "n=1,m=2",
        "--stacks",
        "--first",
        "--env",
        "py3",
        "--config",
        "c.json",
    )
    assert measuring.asked == profiling.Request(
        "gemm", {"n": "1", "m": "2"}, "v1", "c.json", "py3", stacks=True, first=True
    )


class TestTraces:
    def test_it_is_kept_where_it_is_wanted(self, measuring: Measuring, run: Run, tmp_path: Path) -> None:
        code, out, _ = run("gemm", "--trace", "mine.json.gz")
        assert code == FINE and "mine.json.gz" in out
        assert (tmp_path / "mine.json.gz").read_bytes() == measuring.trace.read_bytes()

    def test_a_name_without_gz_is_not_compressed(
        self, measuring: Measuring, run: Run, tmp_path: Path
    ) -> None:
        run("gemm", "--trace", "mine.json")
        assert (tmp_path / "mine.json").read_bytes() == gzip.decompress(measuring.trace.read_bytes())

    def test_a_full_disk_leaves_the_text(self, measuring: Measuring, run: Run, tmp_path: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("there is no /dev/full")
        (tmp_path / "full.json.gz").symlink_to("/dev/full")
        code, out, err = run("gemm", "--trace", "full.json.gz")
        assert code == WRONG_USE and "totals of the trace" in out
        assert "full.json.gz cannot be written: No space left on device; the trace is" in err
        assert "Traceback" not in err

    def test_the_first_call_is_a_page_of_its_own(
        self, measuring: Measuring, run: Run, tmp_path: Path
    ) -> None:
        measuring.first = written(hip(steps=1), tmp_path / "raw.first.trace.json.gz")
        code, out, _ = run("gemm", "--first", "--trace", "mine.trace.json.gz")
        assert code == FINE
        assert -1 < out.find("the first call of a process") < out.find("4 profiled calls")
        assert "a first call has nothing to compare with" in " ".join(out.split())
        assert (tmp_path / "mine.first.trace.json.gz").exists()
        first, steady = json.loads(run("gemm", "--first", "--json")[1])["profiles"]
        assert (first["first_call"], first["overhead"]) == (True, None)
        assert (steady["first_call"], steady["overhead"]) == (False, 1.25)

    def test_a_first_call_without_a_profile(self, measuring: Measuring, run: Run, tmp_path: Path) -> None:
        assert measuring.record is not None
        measuring.first = tmp_path / "none"
        measuring.record["profile"]["missing"] = {"first_call": "nothing was recorded"}
        code, out, err = run("gemm", "--first")
        assert code == NOTHING_COMPARABLE and "4 profiled calls" in out
        assert "no profile of its first call: nothing was recorded" in err


class TestFailures:
    def test_a_benchmark_that_raises(self, measuring: Measuring, run: Run) -> None:
        assert measuring.record is not None
        measuring.record |= {"status": "failed in profile: no", "error": {"traceback": "Traceback ...\n"}}
        code, out, err = run("gemm")
        assert code == BENCHMARK_FAILED and not out
        assert err.splitlines()[-2:] == [
            "Traceback ...",
            "dcu-asv profile: gemm.matmul(1): failed in profile: no",
        ]

    def test_one_that_is_skipped(self, measuring: Measuring, run: Run) -> None:
        assert measuring.record is not None
        measuring.record["status"] = "skipped: too large"
        code, _, err = run("gemm")
        assert code == NOTHING_COMPARABLE and "gemm.matmul(1): skipped: too large" in err

    def test_one_that_leaves_no_evidence(self, measuring: Measuring, run: Run) -> None:
        measuring.record = None
        code, _, err = run("gemm")
        assert code == NOTHING_COMPARABLE and "skipped for these parameters" in err

    @pytest.mark.parametrize(
        ("missing", "expected"),
        [
            ({"rows": "torch's profiler recorded nothing"}, NOTHING_COMPARABLE),
            ({"trace": "it cannot be written: No space left on device"}, WRONG_USE),
            ({}, NOTHING_COMPARABLE),
        ],
    )
    def test_one_without_a_trace(
        self, measuring: Measuring, run: Run, tmp_path: Path, missing: dict[str, str], expected: int
    ) -> None:
        assert measuring.record is not None
        measuring.trace = tmp_path / "none"
        measuring.record["profile"] = {"missing": missing}
        code, out, err = run("gemm")
        assert code == expected and not out
        assert next(iter(missing.values()), "has no profile pass") in err

    def test_a_trace_in_which_nothing_is(self, measuring: Measuring, run: Run) -> None:
        measuring.trace.write_bytes(gzip.compress(b'{"traceEvents": []}'))
        code, out, err = run("gemm")
        assert code == NOTHING_COMPARABLE and not out and "has no events" in err
