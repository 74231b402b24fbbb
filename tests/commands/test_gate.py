"""`dcu-asv gate` over results that were written down, on the CPU and on a simulated HIP device."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dcu_asv_ext.daily import loop, recheck
from dcu_asv_ext.daily.experiment import ExperimentError
from dcu_asv_ext.daily.loop import Outcome
from tests.commands.running import Run, runner
from tests.e2e.prepared import ENV
from tests.gates.asking import side
from tests.gates.candidates import DEVICES, MIB, Candidates, measured, wrong

Ask = Callable[..., tuple[int, str, str]]
GATES = ("correctness", "performance", "resources")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Candidates:
    return Candidates(tmp_path_factory.mktemp("gate"))


@pytest.fixture
def made(shared: Candidates) -> Candidates:
    """A project whose base alone has results, with its configuration as it began."""
    for path in (shared.results_dir / "box").glob("*overlay*"):
        path.unlink()
    shared.set_up()
    keep(shared, shared.base)
    return shared


@pytest.fixture
def run(made: Candidates, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("gate", made.suite, monkeypatch, capsys)


def keep(made: Candidates, commit: str, *, evidence: bool = True, others: int = 2, **changes: Any) -> Path:
    """Of a step as it is changed, and of others that are not."""
    place = int(commit == made.candidate)
    session: dict[str, Any] = {"hours": float(place), "device": changes.get("device", DEVICES["cpu"])}
    records = measured(seed=100 * place, **{**session, **changes})
    for number in range(others):
        records += measured(f"suite.other_{number}", seed=100 * place + 10 * (number + 1), **session)
    return made.keep(commit, records, evidence=evidence)


def gates(out: str) -> dict[str, str]:
    return {name: one["outcome"] for name, one in json.loads(out)["gates"].items()}


@pytest.mark.parametrize("device", DEVICES)
class TestReach:
    """What has to be stopped, and what has to pass."""

    def answer(
        self, made: Candidates, run: Run, device: str, **changes: Any
    ) -> tuple[int, dict[str, str], str]:
        keep(made, made.base, device=DEVICES[device])
        keep(made, made.candidate, device=DEVICES[device], **changes)
        code, out, err = run(made.base, made.candidate, "--json")
        assert err == ""
        return code, gates(out), json.loads(out)["conclusion"]

    def test_faster_and_wrong(self, made: Candidates, run: Run, device: str) -> None:
        code, found, told = self.answer(made, run, device, latency=0.009, **wrong())
        assert code == 1 and found["correctness"] == "failed"
        assert told.startswith("stopped by correctness")

    def test_faster_in_device_time_alone(self, made: Candidates, run: Run, device: str) -> None:
        code, found, told = self.answer(made, run, device, device_time=0.0072)
        assert code == 1 and told == "stopped by performance"
        assert found == {"correctness": "passed", "performance": "failed", "resources": "passed"}

    def test_faster_and_heavier(self, made: Candidates, run: Run, device: str) -> None:
        code, found, told = self.answer(made, run, device, latency=0.009, allocated=13 * MIB)
        assert code == 1 and told == "stopped by resources"
        assert found == {"correctness": "passed", "performance": "passed", "resources": "failed"}

    def test_right_faster_and_lighter(self, made: Candidates, run: Run, device: str) -> None:
        changes: dict[str, Any] = {"latency": 0.009, "device_time": 0.0072, "allocated": 9 * MIB}
        code, found, told = self.answer(made, run, device, **changes)
        assert code == 0 and told == "passed"
        assert set(found.values()) == {"passed"}


class TestOutcomes:
    def test_a_crash_in_the_candidate_is_2(self, made: Candidates, run: Run) -> None:
        keep(made, made.candidate, status="out of memory in the first call: 3 GiB", times={}, memory={})
        code, out, _ = run(made.base, made.candidate)
        assert code == 2
        assert "out of memory in the first call: 3 GiB" in out
        assert out.splitlines()[-1].startswith("stopped by correctness, performance (not measured)")

    def test_inconclusive_is_5_and_names_the_way_out(self, made: Candidates, run: Run) -> None:
        keep(made, made.base, spread=0.03)
        keep(made, made.candidate, spread=0.03, latency=0.0103)
        code, out, _ = run(made.base, made.candidate)
        assert code == 5
        last = out.splitlines()[-1]
        assert re.match(r"inconclusive: \d+ more rounds a side of suite\.step would settle it", last)
        assert last.endswith("(--rerun measures interleaved rounds)")

    def test_an_improvement_may_be_required(self, made: Candidates, run: Run) -> None:
        keep(made, made.candidate)
        assert run(made.base, made.candidate)[0] == 0
        code, out, _ = run(made.base, made.candidate, "--require-improvement")
        assert code == 1 and "no improvement" in out
        keep(made, made.candidate, latency=0.009)
        assert run(made.base, made.candidate, "--require-improvement")[0] == 0

    def test_evidence_of_an_older_protocol_is_4(self, made: Candidates, run: Run) -> None:
        keep(made, made.candidate, protocol=0)
        code, out, _ = run(made.base, made.candidate)
        assert code == 4
        assert "the way of measuring changed (protocol 1 before, 0 after)" in " ".join(out.split())

    def test_asv_s_files_without_evidence(self, made: Candidates, run: Run) -> None:
        keep(made, made.base, evidence=False)
        keep(made, made.candidate, evidence=False, latency=0.009)
        for path in (made.results_dir / "box").glob("*.evidence.jsonl"):
            path.unlink()
        code, out, _ = run(made.base, made.candidate)
        assert code == 0
        assert "3 benchmarks: there is no evidence beside asv's file" in " ".join(out.split())
        made.gate({"correctness": {"unchecked": "forbid"}})
        assert run(made.base, made.candidate)[0] == 1

    def test_a_wrong_result_without_evidence_is_a_failure(self, made: Candidates, run: Run) -> None:
        keep(made, made.base)
        keep(made, made.candidate, evidence=False, **wrong())
        code, out, _ = run(made.base, made.candidate)
        assert code == 2 and "asv keeps no reason" in out

    def test_a_reference_for_some_parameters_only(self, made: Candidates, run: Run) -> None:
        why = "the reference has no result for these parameters"
        for place, commit in enumerate((made.base, made.candidate)):
            session: dict[str, Any] = {"hours": float(place), "seed": place}
            some = measured(params={"n": "8"}, **session)
            rest = measured(
                params={"n": "16"}, correctness={"unchecked": why}, missing={"max_error": why}, **session
            )
            made.keep(commit, [*some, *rest])
        code, out, _ = run(made.base, made.candidate)
        assert code == 0
        assert f"unchecked  1 benchmark: {why} (suite.step(n=16))" in out

    def test_another_suite_s_benchmarks_are_workloads(self, made: Candidates, run: Run) -> None:
        for commit, level in ((made.base, 1.0), (made.candidate, 1.5)):
            made.write(commit, {}, {"suite.time_it": [level * (1 + n / 1000) for n in range(20)]})
        code, out, _ = run(made.base, made.candidate)
        assert code == 5 or "regression" in out  # one round a side says little
        assert "suite.time_it time" in out

    def test_bench_looks_at_some(self, made: Candidates, run: Run) -> None:
        keep(made, made.candidate, latency=0.02)
        assert run(made.base, made.candidate)[0] == 1
        assert run(made.base, made.candidate, "--bench", "other")[0] == 0
        assert run(made.base, made.candidate, "--bench", "nothing")[0] == 3

    def test_two_files_need_no_repository(
        self,
        made: Candidates,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        before = keep(made, made.base)
        after = keep(made, made.candidate, allocated=13 * MIB)
        elsewhere = runner("gate", tmp_path, monkeypatch, capsys)
        assert elsewhere(str(before), str(after))[0] == 1
        # The configuration of the folder, or a named one, holds for files too.
        made.gate({"resources": {"peak_allocated": "50%", "peak_reserved": "50%"}})
        assert elsewhere(str(before), str(after), "--config", str(made.suite / "asv.conf.json"))[0] == 0
        assert runner("gate", made.suite, monkeypatch, capsys)(str(before), str(after))[0] == 0


class TestRerun:
    """Over a measurement that is there already."""

    @pytest.fixture
    def asked(self, made: Candidates, monkeypatch: pytest.MonkeyPatch) -> list[recheck.Wanted]:
        keep(made, made.base, spread=0.03)
        keep(made, made.candidate, spread=0.03, latency=0.0103)
        self.outcome = Outcome(rounds=9, seconds=60.0, ended=loop.BUDGET)
        self.fault: Exception | None = None
        requests: list[recheck.Wanted] = []

        def measure(wanted: recheck.Wanted, tell: Any) -> recheck.Rechecked:
            requests.append(wanted)
            if self.fault is not None:
                raise self.fault
            sets = []
            for place, latency in enumerate((0.010, 0.0103)):
                made_now = measured(
                    rounds=9, seed=90 + place, hours=5 + place / 999, latency=latency, session="f"
                )
                sets.append([replace(side("ab"[place], made_now), env=ENV)])
            return recheck.Rechecked(*sets, self.outcome, Path("raw"))

        monkeypatch.setattr(recheck, "recheck", measure)
        return requests

    def test_what_was_open_is_settled_by_the_fresh_rounds(
        self, made: Candidates, run: Run, asked: list[recheck.Wanted]
    ) -> None:
        code, out, err = run(made.base, made.candidate, "--rerun", "--budget", "90s", "--json")
        assert code == 1 and "9 rounds of both sides in 60 s; raw data: raw" in err
        first = json.loads(out)["gates"]["performance"]["findings"][0]
        assert (first["finding"], first["rounds"]) == ("regression", [9, 9])
        assert "measured again in 9 interleaved rounds of both sides: suite.step" in json.loads(out)["notes"]
        (wanted,) = asked
        assert (wanted.base, wanted.candidate, wanted.machine) == (made.base, made.candidate, "box")
        assert (list(wanted.names), wanted.rounds, wanted.budget) == (["suite.step"], 20, 90.0)

    def test_what_is_settled_is_not_measured(
        self, made: Candidates, run: Run, asked: list[recheck.Wanted]
    ) -> None:
        keep(made, made.candidate, spread=0.03, latency=0.0103, allocated=13 * MIB)
        code, _, err = run(made.base, made.candidate, "--rerun")
        assert (code, err, asked) == (1, "nothing to measure again: failed\n", [])

    def test_ctrl_c_is_130_after_the_answer(
        self, made: Candidates, run: Run, asked: list[recheck.Wanted]
    ) -> None:
        self.outcome.ended = loop.INTERRUPTED
        code, out, _ = run(made.base, made.candidate, "--rerun")
        assert code == 130 and "stopped by performance" in out

    def test_a_fault_is_one_sentence(self, made: Candidates, run: Run, asked: list[recheck.Wanted]) -> None:
        self.fault = ExperimentError("the results are of the machine box, and this one is here")
        code, out, err = run(made.base, made.candidate, "--rerun")
        assert (code, out) == (3, "")
        assert err == "dcu-asv gate: --rerun: the results are of the machine box, and this one is here\n"


class TestWrongUse:
    def told(self, run: Run, *arguments: str) -> str:
        code, out, err = run(*arguments)
        assert code == 3 and out == ""
        assert err.startswith("dcu-asv gate: ") and len(err.splitlines()) == 1
        return err

    def test_a_configuration_with_an_unknown_gate(self, made: Candidates, run: Run) -> None:
        keep(made, made.candidate)
        made.gate({"speed": {}})
        assert 'unknown gate "speed" in "gate"' in self.told(run, made.base, made.candidate)
        made.set_up(dcu={"gate": []})
        assert '"gate" must be an object' in self.told(run, made.base, made.candidate)
        made.set_up(dcu={"gates": {}})
        assert 'did you mean "gate"?' in self.told(run, made.base, made.candidate)

    def test_names_that_are_none(self, made: Candidates, run: Run) -> None:
        assert "there is no commit nothing" in self.told(run, "nothing", made.base)
        assert "both sides are the results of" in self.told(run, made.base, made.base)
        assert "--bench is no regular expression" in self.told(run, made.base, made.base, "--bench", "(")

    def test_options_that_contradict_each_other(self, made: Candidates, run: Run) -> None:
        path = str(keep(made, made.candidate))
        assert "--rerun measures two commits" in self.told(run, path, path, "--rerun")
        assert "--budget is for" in self.told(run, made.base, made.candidate, "--budget", "5m")
        assert "takes standard output" in self.told(run, made.base, made.candidate, "--junit", "-", "--json")
        three = ["--env", "a", "--env", "b", "--env", "c"]
        assert "--env is given 3 times" in self.told(run, made.base, made.candidate, *three)

    def test_a_report_that_cannot_be_written(self, made: Candidates, run: Run, tmp_path: Path) -> None:
        keep(made, made.candidate)
        place = str(tmp_path / "no" / "gate.xml")
        assert f"{place} cannot be written" in self.told(run, made.base, made.candidate, "--junit", place)

    def test_results_that_are_not_there_are_4(self, made: Candidates, run: Run) -> None:
        code, out, err = run(made.base, made.candidate)
        assert (code, out) == (4, "") and "there are no results of" in err


class TestForms:
    @pytest.fixture(autouse=True)
    def candidate(self, made: Candidates) -> None:
        keep(made, made.candidate, latency=0.009, allocated=13 * MIB, error=5e-4)

    def test_text_has_a_block_a_gate_with_its_outcome_first(self, made: Candidates, run: Run) -> None:
        _, out, _ = run(made.base, made.candidate)
        blocks = out.strip().split("\n\n")
        assert [block.split("\n")[0].split()[0] for block in blocks[1:4]] == list(GATES)
        assert [block.split("\n")[0].split()[1] for block in blocks[1:4]] == ["failed", "passed", "failed"]
        assert blocks[-1] == "stopped by correctness and resources"
        for line in (
            "larger error  suite.step max_error  1.00e-06 → 0.000500  5+5 rounds",
            "heavier               suite.step peak_allocated  10 MiB → 13 MiB  1.300  exact  5+5 rounds",
            "asked: peak_allocated may grow by 0%",
        ):
            assert line in out
        assert max(map(len, out.splitlines())) <= 140

    def test_a_narrow_terminal_breaks_rows(
        self, made: Candidates, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        _, out, _ = run(made.base, made.candidate)
        assert "suite.step peak_allocated\n" in out

    def test_all_shows_every_finding(self, made: Candidates, run: Run) -> None:
        assert "suite.other_1 peak_allocated" not in run(made.base, made.candidate)[1]
        assert "suite.other_1 peak_allocated" in run(made.base, made.candidate, "--all")[1]

    def test_json_has_everything(self, made: Candidates, run: Run) -> None:
        code, out, _ = run(made.base, made.candidate, "--json")
        found = json.loads(out)
        assert (code, found["exit_code"], found["outcome"]) == (1, 1, "failed")
        assert found["stopped_by"] == ["correctness", "resources"]
        first = found["gates"]["correctness"]["findings"][0]
        assert (first["benchmark"], first["metric"], first["finding"]) == (
            "suite.step",
            "max_error",
            "larger error",
        )
        assert (first["before"], first["after"], first["ratio"]) == (1e-6, 5e-4, None)
        fastest = found["gates"]["performance"]["findings"][0]
        assert fastest["ci_low"] < fastest["ratio"] < fastest["ci_high"] < 1
        assert fastest["rounds"] == [5, 5] and fastest["rule"] == "no regression beyond 1 %"
        assert {"before", "after", "differences", "notes", "settings"} <= set(found)

    def test_markdown_opens_what_stops(self, made: Candidates, run: Run) -> None:
        _, out, _ = run(made.base, made.candidate, "--markdown")
        assert "**stopped by correctness and resources**" in out
        assert "| performance | passed |" in out and "| resources | **failed** |" in out
        assert "<details><summary>performance: passed</summary>" in out
        assert "#### correctness: failed" in out
        tables = [line for line in out.splitlines() if line.startswith("|")]
        assert {line.replace("\\|", "").count("|") for line in tables} == {3, 9}

    def test_junit_is_read_by_a_parser(self, made: Candidates, run: Run, tmp_path: Path) -> None:
        place = tmp_path / "gate.xml"
        _, out, _ = run(made.base, made.candidate, "--junit", str(place))
        assert "stopped by" in out, "the text too"
        root = ElementTree.parse(place).getroot()
        assert root.tag == "testsuites"
        suites = {one.get("name"): one for one in root}
        assert list(suites) == [f"dcu-asv gate: {name}" for name in GATES]
        for one in suites.values():
            cases = one.findall("testcase")
            assert one.get("tests") == str(len(cases))
            for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                assert one.get(attribute) == str(len(one.findall(f"testcase/{tag}")))
        (failure,) = suites["dcu-asv gate: resources"].findall("testcase/failure")
        assert failure.get("type") == "failed"
        assert "peak_allocated, 10 MiB -> 13 MiB, ratio 1.300 exact" in (failure.text or "")
        case = root.find("testsuite/testcase[@name='suite.step']")
        assert case is not None and case.get("classname") == "gate.correctness"

    def test_junit_alone_on_standard_output(self, made: Candidates, run: Run) -> None:
        code, out, _ = run(made.base, made.candidate, "--junit", "-")
        assert code == 1 and ElementTree.fromstring(out.encode()).get("failures") == "2"

    def test_names_that_markup_would_obey(self, made: Candidates, run: Run, tmp_path: Path) -> None:
        odd = {"x": "'<&>\"|`*\x1b[31m\x00\u4e2d'"}
        for place, commit in enumerate((made.base, made.candidate)):
            made.keep(commit, measured(params=odd, seed=place, hours=place, allocated=(10 + place) * MIB))
        place = str(tmp_path / "gate.xml")
        code, out, _ = run(made.base, made.candidate, "--markdown", "--junit", place)
        assert code == 1 and "\x1b" not in out and "\x00" not in out
        rows = [line for line in out.splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 9}
        assert "`` suite.step(x='<&>\"\\|`*" in out
        names = {one.get("name") for one in ElementTree.parse(place).iter("testcase")}
        assert "suite.step(x='<&>\"|`*  [31m \u4e2d')".replace("  [", " [") in names


def test_words_of_a_crash_that_xml_does_not_have(made: Candidates, run: Run) -> None:
    keep(made, made.candidate, status="failed in setup: ValueError: \x1b[31m<red>\x00", times={}, memory={})
    code, out, _ = run(made.base, made.candidate, "--junit", "-")
    assert code == 2
    failures = ElementTree.fromstring(out.encode()).findall(".//failure")
    assert ["ValueError:  [31m<red> " in (one.text or "") for one in failures] == [True]


def test_it_starts_without_torch_and_help_needs_no_asv(made: Candidates) -> None:
    keep(made, made.candidate)
    probe = (
        "import sys; from dcu_asv_ext import cli; code = cli.main(sys.argv[1:]); "
        "print([one for one in ('torch', 'asv', 'scipy') if one in sys.modules], code)"
    )

    def loaded(*arguments: str) -> str:
        command = [sys.executable, "-c", probe, "gate", *arguments]
        done = subprocess.run(command, cwd=made.suite, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    assert loaded("--help") == "[] 0"
    assert loaded(made.base, made.candidate) == "['asv', 'scipy'] 0"
