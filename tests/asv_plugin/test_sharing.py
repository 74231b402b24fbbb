"""One launch answers every metric of a measurement, whatever became of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin import sharing, watchdog
from dcu_asv_ext.asv_plugin.batches import INDEX
from dcu_asv_ext.asv_plugin.session import begin
from dcu_asv_ext.asv_plugin.sharing import TIMEOUT_CODE, Request, StorageFault, fuller
from dcu_asv_ext.metrics import PROTOCOL

from .fakes import FAMILY, METRICS, Desk, Launcher, benchmarks, dies, measures, record

pytestmark = pytest.mark.usefixtures("own_locks")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def resumed(desk: Desk, attributes: dict[str, Any] | None = None, **settings: Any) -> Desk:
    """The next run, after the one at `desk` was killed."""
    desk.stop()
    session = begin(desk.evidence, "1234567890ab", "env", "box", attributes or {})
    return Desk(desk.folder, session, **settings)


class TestOneLaunchAnswersAll:
    def test_every_metric_gets_its_own_part_of_one_measurement(self, desk: Desk) -> None:
        launch = measures()
        assert desk.ask("cold_start", launch) == ({"samples": [0.5], "number": 1}, 0)
        assert desk.output == "said something"
        assert desk.ask("latency", launch) == ({"samples": [0.25, 0.125], "number": 8}, 0)
        assert desk.output == "", "the output belongs to the process, and is told once"
        assert desk.ask("peak_allocated", launch) == ({"samples": [4096.0], "number": 1}, 0)
        assert launch.started == 1
        assert len(desk.lines()) == 1
        assert desk.firsts == 1

    def test_other_parameters_and_later_rounds_are_launched_anew(self, desk: Desk) -> None:
        launch = measures()
        for metric in METRICS:
            desk.ask(metric, launch, 0)
            desk.ask(metric, launch, 1)
            desk.ask(metric, launch, 0)
        assert launch.started == 3
        about = [one["dcu"]["about"] for one in launch.parameters]
        assert [(one["round"], one["order"]) for one in about] == [(1, 1), (1, 2), (2, 3)]
        assert {one["session"] for one in about} == {desk.session.identity}
        assert {(one["commit"], one["env"], one["machine"]) for one in about} == {
            ("1234567890ab", "env", "box")
        }

    def test_a_function_without_parameters_has_no_index(self, tmp_path: Path) -> None:
        desk = Desk(tmp_path, benchmarks=benchmarks(params=False))
        launch = measures(params={}, param_index=None)
        assert desk.ask("latency", launch, None)[1] == 0
        assert desk.ask("cold_start", launch, None)[1] == 0
        assert launch.started == 1

    def test_only_the_series_of_decorated_functions_are_ours(self, desk: Desk) -> None:
        assert desk.sharing.is_ours(f"{FAMILY}.latency-1")
        assert not desk.sharing.is_ours("suite.time_plain")
        assert not desk.sharing.is_ours(f"{FAMILY}.host_time"), "asv did not discover it"

    def test_the_child_is_told_where_things_go(self, desk: Desk) -> None:
        launch = measures()
        desk.ask("latency", launch, 1, repeat=3, number=5)
        (given,) = launch.parameters
        assert (given["repeat"], given["number"]) == (3, 5)
        assert given["dcu"]["evidence"] == str(desk.evidence)
        assert given["dcu"]["batch"] == {}
        desk.ask("latency", launch, 0)
        folders = {one["dcu"]["cache_root"] for one in launch.parameters}
        assert len(folders) == 2, "parameters do not share on-disk caches"
        assert all(Path(one).is_dir() for one in folders)
        assert not Path(given["dcu"]["record"]).parent.exists(), "cleared away"

    def test_marks_are_in_the_evidence_of_the_child_and_of_its_death(self, tmp_path: Path) -> None:
        marks = {"dirty": True, "head": "1234567890ab", "variant": "X=1"}
        desk = Desk(tmp_path, marks=marks)
        launch = measures()
        desk.ask("latency", launch)
        assert marks.items() <= launch.parameters[0]["dcu"]["about"].items()
        desk.ask("latency", dies(-9), 1)
        assert marks.items() <= desk.lines()[-1].items()

    def test_the_project_s_size_is_handed_on_apart_from_older_fields(self, tmp_path: Path) -> None:
        size = {"package_size": 4096, "files": 3}
        desk = Desk(tmp_path, project=lambda: size)
        launch = measures()
        desk.ask("latency", launch)
        given = launch.parameters[0]["dcu"]
        assert given["project"] == size and "project" not in given["about"]
        desk.ask("latency", dies(-9), 1)
        assert desk.lines()[-1]["project"] == size

    def test_environments_of_one_commit_do_not_share_on_disk_caches(self, tmp_path: Path) -> None:
        folders = []
        for env in ("env", "env-X1"):
            evidence = tmp_path / f"12345678-{env}.evidence.jsonl"
            desk = Desk(tmp_path, begin(evidence, "1234567890ab", env, "box", {}))
            launch = measures()
            desk.ask("latency", launch)
            folders.append(launch.parameters[0]["dcu"]["cache_root"])
        assert folders[0] != folders[1]

    def test_the_first_batch_sizes_are_handed_to_every_later_round(self, desk: Desk) -> None:
        launch = measures()
        for _ in range(2):
            desk.ask("latency", launch)
        assert launch.parameters[1]["dcu"]["batch"] == {"cold": 1, "latency": 8}

    def test_a_missing_metric_is_na_and_told_with_its_reason(self, desk: Desk) -> None:
        launch = measures(missing={"peak_allocated": "the allocator tells nothing"})
        value, code = desk.ask("peak_allocated", launch)
        assert math.isnan(value)
        assert code == 0
        desk.sharing.report()
        assert desk.told == [f"peak_allocated not measured for {FAMILY}: the allocator tells nothing"]

    def test_metrics_that_are_missing_for_one_reason_are_told_together(self, desk: Desk) -> None:
        reason = "the CPU has no device rows"
        names = ("sync_count", "kernel_count", "idle_share", "overlap_share")
        desk.ask("latency", measures(missing=dict.fromkeys(names, reason) | {"peak_card": "no card"}))
        desk.sharing.report()
        assert desk.told == [
            f"idle_share, kernel_count, overlap_share and others not measured for {FAMILY}: {reason}",
            f"peak_card not measured for {FAMILY}: no card",
        ]

    def test_a_skipped_measurement_is_na_in_every_metric(self, desk: Desk) -> None:
        launch = measures(status="skipped: not on this device", times={}, memory={})
        for metric in METRICS:
            value, code = desk.ask(metric, launch)
            assert math.isnan(value)
            assert code == 0
        desk.sharing.report()
        assert desk.told == [f"every metric not measured for {FAMILY}: skipped: not on this device"]

    def test_what_asvs_own_mark_skips_is_na_and_no_fault(self, desk: Desk) -> None:
        """asv's child wrote its n/a and ended well, without calling us."""

        def skips(parameters: dict[str, Any]) -> tuple[str, int]:
            (desk.folder / "asv-result").write_text("NaN")
            return "", 0

        for _ in range(2):
            value, code = desk.ask("latency", Launcher(skips))
            assert math.isnan(value) and code == 0
        assert desk.lines() == []

    def test_a_suite_that_cannot_be_imported_says_what_is_missing(self, desk: Desk) -> None:
        desk.ask("latency", dies(1, "Traceback\nModuleNotFoundError: No module named 'einops'\n"))
        (line,) = desk.lines()
        assert "No module named 'einops'" in line["status"] and "install what is missing" in line["status"]

    def test_what_one_round_skipped_is_not_started_again(self, desk: Desk) -> None:
        launch = measures(status="skipped: not on this device", times={}, memory={})
        for _ in range(3):
            value, _ = desk.ask("latency", launch)
            assert math.isnan(value)
        assert launch.started == 1
        desk.ask("latency", launch, 1)
        assert launch.started == 2, "other parameters may run"


class TestReport:
    def test_rounds_that_disagree_are_pointed_out_at_the_end(self, desk: Desk) -> None:
        for seconds in (0.1, 0.1, 0.3):
            desk.ask("latency", measures(times={"latency": [seconds] * 3}))
        desk.sharing.report(final=False)
        assert desk.told == []
        desk.sharing.report()
        (said,) = desk.told
        assert said.startswith(FAMILY) and "between 0.1 s and 0.3 s" in said and "busy" in said

    def test_rounds_that_agree_are_not_mentioned(self, desk: Desk) -> None:
        for seconds in (0.1, 0.11, 0.12):
            desk.ask("latency", measures(times={"latency": [seconds] * 3}))
        desk.sharing.report()
        assert desk.told == []

    def test_a_fault_of_every_round_is_said_once(self, desk: Desk) -> None:
        for _ in range(3):
            desk.ask("latency", measures(status="failed in setup: ValueError: no"))
        desk.sharing.report(final=False)
        assert len(desk.told) == 1


class TestProfiles:
    def test_one_profile_goes_to_every_metric(self, desk: Desk, tmp_path: Path) -> None:
        """The child writes it to the place that asv named for the first one."""
        launch = measures()
        for number, metric in enumerate(METRICS):
            place = tmp_path / f"profile-{number}"
            place.write_bytes(b"" if number else b"of one call")
            request = Request(f"{FAMILY}.{metric}-0", "{}", str(tmp_path / "result"), 600.0, str(place))
            assert desk.sharing.answer(request, launch)[1] == 0
            assert place.read_bytes() == b"of one call"
        assert launch.started == 1

    def test_what_was_resumed_has_none(self, desk: Desk, tmp_path: Path) -> None:
        desk.ask("latency", measures())
        place = tmp_path / "profile"
        place.write_bytes(b"")
        request = Request(f"{FAMILY}.latency-0", "{}", str(tmp_path / "result"), 600.0, str(place))
        assert resumed(desk).sharing.answer(request, dies(-11))[1] == 0
        assert place.read_bytes() == b""


class TestFailuresAnswerAll:
    def test_a_fault_of_the_benchmark(self, desk: Desk) -> None:
        launch = measures(status="failed in setup: ValueError: no")
        for metric in METRICS:
            assert desk.ask(metric, launch) == (None, 1)
        assert launch.started == 1
        desk.sharing.report()
        assert desk.told == [f"{FAMILY}(n=64, dtype='float32'): failed in setup: ValueError: no"]

    def test_a_wrong_result_fails_its_times_alone(self, desk: Desk) -> None:
        launch = measures(status="wrong result: 3 of 4")
        assert desk.ask("latency", launch) == (None, 1)
        assert desk.ask("cold_start", launch) == (None, 1)
        assert desk.ask("peak_allocated", launch) == ({"samples": [4096.0], "number": 1}, 0)

    @pytest.mark.parametrize(
        ("code", "status", "kind", "seen"),
        [
            (-11, "crashed: SIGSEGV", "crashed", 1),
            (-9, "crashed: SIGKILL", "crashed", 1),
            (-250, "crashed: signal 250", "crashed", 1),
            (TIMEOUT_CODE, "timed out after 600 s", "timed out", TIMEOUT_CODE),
            (3, "failed: the measuring process ended with exit status 3 before it had a record", "failed", 1),
            (0, "failed: the measuring process ended with exit status 0 before it had a record", "failed", 1),
        ],
    )
    def test_the_wrapper_writes_the_line_of_a_child_that_could_not(
        self, desk: Desk, code: int, status: str, kind: str, seen: int
    ) -> None:
        launch = dies(code)
        for metric in METRICS:
            assert desk.ask(metric, launch, 1) == (None, seen)
        assert launch.started == 1
        (line,) = desk.lines()
        assert line["status"] == status
        assert line["benchmark"] == FAMILY
        assert line["params"] == {"n": "256", "dtype": "'float32'"}
        assert line["param_index"] == 1
        assert line["metrics"] == list(METRICS)
        assert line["versions"] == dict.fromkeys(METRICS, "1")
        assert line["kind"] == "micro"
        assert line["protocol"] == PROTOCOL
        assert line["session"] == desk.session.identity
        assert line["started_at"]
        assert line["error"]["kind"] == kind
        assert line["error"]["output"] == "its last words"
        assert not line["times"]

    def test_a_killed_chatty_child_timed_out(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        def killed_by_the_watchdog(self: watchdog.Watchdog, *_: Any) -> None:
            self._timer.cancel()
            self.fired = True

        monkeypatch.setattr(watchdog.Watchdog, "__exit__", killed_by_the_watchdog)
        assert desk.ask("latency", dies(-9), timeout=2.5) == (None, TIMEOUT_CODE)
        assert desk.lines()[0]["status"] == "timed out after 2.5 s"

    def test_a_torn_record_is_no_record(self, desk: Desk) -> None:
        def half(parameters: dict[str, Any]) -> tuple[str, int]:
            Path(parameters["dcu"]["record"]).write_text(json.dumps(record())[:40])
            return "", -9

        assert desk.ask("latency", Launcher(half)) == (None, 1)
        assert desk.lines()[0]["status"] == "crashed: SIGKILL"

    def test_the_next_parameters_are_measured_all_the_same(self, desk: Desk) -> None:
        desk.ask("latency", dies(-11), 0)
        assert desk.ask("latency", measures(), 1)[1] == 0

    def test_an_interruption_leaves_no_line(self, desk: Desk) -> None:
        def interrupted(parameters: dict[str, Any]) -> tuple[str, int]:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            desk.ask("latency", Launcher(interrupted))
        assert desk.lines() == []
        assert not list((desk.folder / "caches").glob("measure-*"))

    def test_a_full_disk_ends_the_run_in_one_sentence(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(path: Any, line: str) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(sharing, "append_line", full)
        with pytest.raises(StorageFault, match=r"No space left on device.*; free the disk"):
            desk.ask("latency", dies(1))


class TestTimeout:
    def test_the_benchmarks_own_timeout_holds(self, desk: Desk) -> None:
        launch = measures()
        desk.ask("latency", launch)
        assert launch.seconds == [600.0]

    def test_asvs_attribute_is_obeyed(self, desk: Desk) -> None:
        launch = measures()
        desk.ask("latency", launch, timeout=7.5)
        assert launch.seconds == [7.5]


class TestResuming:
    def test_what_was_measured_is_answered_without_a_launch(self, desk: Desk) -> None:
        desk.ask("latency", measures())
        again = resumed(desk)
        for metric in METRICS:
            value, code = again.ask(metric, dies(-11))
            assert code == 0
            assert value["samples"]
        assert len(again.lines()) == 1
        again.sharing.report()
        assert again.told == ["1 measurements were taken from the interrupted session"]

    def test_the_measurement_in_progress_is_made_again(self, desk: Desk) -> None:
        desk.ask("latency", measures())
        launch = measures()
        again = resumed(desk)
        again.ask("latency", launch)
        again.ask("latency", launch)
        assert launch.started == 1
        assert [line["round"] for line in again.lines()] == [1, 2]
        assert [line["order"] for line in again.lines()] == [1, 2]

    @pytest.mark.parametrize(
        "changes",
        [
            {"benchmarks": benchmarks(version="2")},
            {"benchmarks": benchmarks(metrics=[*METRICS, "host_time"])},
        ],
        ids=["another version", "a metric that was not measured"],
    )
    def test_another_version_is_measured_anew(self, desk: Desk, changes: dict[str, Any]) -> None:
        desk.ask("latency", measures())
        launch = measures()
        again = resumed(desk, **changes)
        again.ask("host_time" if "host_time" in str(changes) else "latency", launch)
        assert launch.started == 1

    def test_other_parameters_under_the_same_index_are_measured_anew(self, desk: Desk) -> None:
        desk.ask("latency", measures())
        moved = benchmarks()
        for one in moved.values():
            if one["params"]:
                one["params"] = [["32", "64"], ["'float32'"]]
        launch = measures()
        resumed(desk, benchmarks=moved).ask("latency", launch)
        assert launch.started == 1

    def test_another_protocol_is_measured_anew(self, desk: Desk) -> None:
        desk.ask("latency", measures(protocol=PROTOCOL + 1))
        launch = measures()
        resumed(desk).ask("latency", launch)
        assert launch.started == 1

    def test_a_failed_one_is_measured_again(self, desk: Desk) -> None:
        desk.ask("latency", dies(-11))
        launch = measures()
        assert resumed(desk).ask("latency", launch)[1] == 0
        assert launch.started == 1


class TestProtocol:
    def test_an_unknown_protocol_is_na_with_a_sentence(self, desk: Desk) -> None:
        launch = measures(protocol=99)
        for metric in METRICS:
            value, code = desk.ask(metric, launch)
            assert math.isnan(value)
            assert code == 0
        desk.sharing.report()
        (told,) = desk.told
        assert told == (
            f"every metric not measured for {FAMILY}: "
            f"this commit's benchmarks measure by protocol 99, not {PROTOCOL}"
        )
        assert not (desk.evidence.parent / INDEX).exists(), "its batch sizes mean something else"


class TestWithoutEvidence:
    def test_a_dry_run_shares_and_keeps_nothing(self, tmp_path: Path) -> None:
        session = begin(None, "1234567890ab", "env", "box", {})
        desk = Desk(tmp_path, session, batches=None)
        launch = measures()
        for metric in METRICS:
            assert desk.ask(metric, launch)[1] == 0
        assert launch.started == 1
        assert launch.parameters[0]["dcu"]["evidence"] is None
        assert desk.ask("latency", dies(-11), 1) == (None, 1)
        assert not list(desk.evidence.parent.iterdir())


def test_what_is_told_is_short(desk: Desk) -> None:
    desk.sharing.kept.update(f"suite.f{number}.latency" for number in range(6))
    desk.sharing.missing["device_time", "no events"] = {f"suite.f{number}" for number in range(5)}
    desk.sharing.report()
    assert len(desk.told) == 2
    assert all(text.count("suite.f") <= 4 and "and others" in text for text in desk.told)


@pytest.mark.parametrize(
    ("earlier", "later", "verdict"),
    [
        ([{"repeat": 5}], [{"repeat": 1}], True),
        ([{"repeat": 1}], [{"repeat": 1}], False),
        ([{"repeat": 5}, None], [{"repeat": 1}, {"repeat": 1}], True),
        (None, [{"repeat": 1}], False),
        ([None], [None], False),
        ([{"repeat": 3}], None, True),
        ([{}], [{"repeat": 1}], False),
    ],
)
def test_the_fuller_of_two_results(earlier: Any, later: Any, verdict: bool) -> None:
    assert fuller(earlier, later) is verdict
