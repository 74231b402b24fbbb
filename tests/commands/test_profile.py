"""`dcu-asv profile TRACE`: what is printed of a file that a user has, and what is said of one that is none."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcu_asv_ext.commands import profile
from dcu_asv_ext.exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from dcu_asv_ext.trace.table_rows import SORT_KEYS
from tests.asv_plugin.overlay_project import PACKAGE_PARENT
from tests.trace.building import Building

from .profile_traces import cpu, device_only, hip, written
from .running import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    call = runner("profile", tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("COLUMNS", "100")
    return call


@pytest.fixture
def trace(tmp_path: Path) -> str:
    return written(hip(), tmp_path / "trace.json.gz").name


def figures(run: Run, *arguments: str) -> dict:
    code, out, _ = run(*arguments, "--json")
    assert code == FINE
    (found,) = json.loads(out)["profiles"]
    return found


class TestText:
    def test_its_parts_come_in_order(self, run: Run, trace: str) -> None:
        code, out, err = run(trace)
        assert code == FINE and not err
        parts = [
            "trace.json.gz: 4 profiled steps",
            "device 0, 1 stream, HIP",
            "totals of the trace, and of one of its 4 steps (profiled)",
            "kernels      12 (3 a step)",
            "copies DtoH  4 (1 a step), 16 B (4 B a step)",
            "syncs        4 (1 a step): 4 in a copy that blocks",
            "findings, by the time",
            "unexpected synchronisation: up to",
            "next: Keep the value on the device",
            "\noperator ",
            "Is it on the critical path?",
            "\nkernel ",
        ]
        places = [out.find(part) for part in parts]
        assert -1 not in places, parts[places.index(-1)]
        assert places == sorted(places)

    def test_no_line_is_wider_than_the_terminal(self, run: Run, trace: str) -> None:
        out = run(trace)[1]
        assert max(map(len, out.splitlines())) <= 100
        assert "overlap" not in out, "of one stream there is nothing to say"

    def test_what_the_profiler_costs_is_not_known_of_a_file(self, run: Run, trace: str) -> None:
        assert (
            "98.0 us a profiled step (the median), how much of a time is the profiler's own is not"
            in run(trace)[1]
        )

    def test_but_of_a_kept_one_it_is(self, run: Run, tmp_path: Path) -> None:
        cost = {"latency": 49e-6, "overhead": 2.0, "doubtful": False}
        path = written(hip(dcu_asv_ext=cost), tmp_path / "kept.json")
        out = run(path.name)[1]
        assert (
            "98.0 us a profiled step (the median), 2.00 x the latency without the profiler (49.0 us)" in out
        )
        busy = written(hip(dcu_asv_ext={**cost, "doubtful": True}), tmp_path / "busy.json")
        assert "own could not be determined (the machine was busy)" in " ".join(run(busy.name)[1].split())

    def test_of_a_folder_of_results_the_kept_traces_are_told(self, run: Run, tmp_path: Path) -> None:
        kept = tmp_path / "results" / "vm" / "abc-py3.traces"
        kept.mkdir(parents=True)
        written(hip(), kept / "gemm-0.json.gz")
        for own in ("machine.json", "abc-py3.json"):
            (kept.parent / own).write_text("{}")
        for folder in ("results/vm", "results/"):
            code, out, err = run(folder)
            assert (code, err) == (FINE, "") and "gemm-0.json.gz: 4 profiled steps" in out

    def test_kernels_of_the_operators_asked_for_are_shown(self, run: Run, trace: str) -> None:
        out = run(trace, "--filter", "aten::add")[1]
        assert "No kernel of this name" not in out and "from aten::add" in out

    def test_faults_stand_above_the_figures(self, run: Run, tmp_path: Path) -> None:
        path = written(hip(), tmp_path / "cut.json")
        path.write_text(path.read_text()[:-300])
        code, out, _ = run(path.name)
        assert code == FINE
        assert -1 < out.find("fault: ") < out.find("totals of the trace")

    def test_nothing_found_is_said(self, run: Run, tmp_path: Path) -> None:
        assert "findings: nothing found" in run(written(cpu(), tmp_path / "cpu.json").name)[1]

    def test_tables_are_sorted_filtered_and_cut(self, run: Run, trace: str) -> None:
        code, out, _ = run(trace, "--sort", "name", "--filter", "aten::[am]", "--top", "1")
        assert code == FINE
        assert "aten::add " in out and "\naten::mm" not in out and "\naten::item" not in out

    def test_kernels_alone(self, run: Run, trace: str) -> None:
        out = run(trace, "--kernels")[1]
        assert out.count("\nkernel ") == 1 and "\noperator" not in out and "critical path" not in out

    def test_a_row_for_each_shape(self, run: Run, tmp_path: Path) -> None:
        made = Building()
        for number, size in enumerate((2, 3)):
            made.operator("aten::mm", 10 * number, 10 * number + 5, **{"Input Dims": [[size, size]]})
        name = written(made, tmp_path / "shapes.json").name
        assert run(name)[1].count("\naten::mm") == 1
        assert run(name, "--by-shape")[1].count("\naten::mm") == 2


class TestForms:
    def test_json_has_everything(self, run: Run, trace: str) -> None:
        found = figures(run, trace)
        assert found["totals"]["kernel_count"] == 12
        assert found["idle_share"] == found["totals"]["idle_share"]
        assert sum(found["idle_by_cause"].values()) == pytest.approx(
            found["totals"]["span"] - found["totals"]["busy_time"]
        )
        assert [one["operator"] for one in found["syncs"]] == ["aten::item"]
        assert found["copies"][0]["bytes"] == 16
        kinds = {one["kind"] for one in found["findings"]}
        assert "unexpected synchronisation" in kinds
        assert all(one["next_step"] for one in found["findings"])
        assert {one["name"] for one in found["tables"]["operators"]} == {
            "aten::mm",
            "aten::item",
            "aten::add",
        }
        assert found["tables"]["questions"]
        assert found["overhead"] is None and found["latency_seconds"] is None

    def test_json_keeps_every_row_and_takes_the_choice(self, run: Run, trace: str) -> None:
        found = figures(run, trace, "--top", "1", "--filter", "add")
        assert [one["name"] for one in found["tables"]["operators"]] == ["aten::add"]

    def test_csv_on_standard_output_is_the_table_alone(self, run: Run, trace: str) -> None:
        code, out, err = run(trace, "--csv", "-")
        rows = list(csv.DictReader(io.StringIO(out)))
        assert code == FINE and not err
        assert [row["name"] for row in rows] == ["aten::add", "aten::mm", "aten::item"]
        assert {row["profile"] for row in rows} == {trace}

    def test_csv_of_kernels_into_a_file_beside_the_text(self, run: Run, trace: str, tmp_path: Path) -> None:
        code, out, err = run(trace, "--kernels", "--csv", "rows.csv")
        (row,) = csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text()))
        assert code == FINE and row["name"] == "work" and row["count"] == "12"
        assert "totals of the trace" in out and "rows.csv" in err

    def test_csv_of_several_has_one_heading(self, run: Run, tmp_path: Path) -> None:
        names = [written(made(), tmp_path / f"{made.__name__}.json").name for made in (device_only, cpu)]
        rows = list(csv.DictReader(io.StringIO(run(*names, "--csv", "-")[1])))
        assert [row["profile"] for row in rows] == names

    def test_a_page(self, run: Run, trace: str, tmp_path: Path) -> None:
        code, out, _ = run(trace, "--html", "page.html")
        assert code == FINE and "totals of the trace" in out
        assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")

    def test_pages_of_several_go_into_a_folder(self, run: Run, trace: str, tmp_path: Path) -> None:
        other = written(hip(), tmp_path / "other.json").name
        code, _, err = run(trace, other, "--html", "page.html")
        assert code == WRONG_USE and "a page for each" in err
        (tmp_path / "pages").mkdir()
        assert run(trace, other, "--html", "pages")[0] == FINE
        assert sorted(one.name for one in (tmp_path / "pages").iterdir()) == ["other.html", "trace.html"]

    @pytest.mark.parametrize("form", ["--csv", "--html"])
    def test_a_full_disk_leaves_the_text(self, run: Run, trace: str, form: str, monkeypatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr(Path, "write_text", full)
        monkeypatch.setattr("dcu_asv_ext.trace.report_html.write_html", full)
        code, out, err = run(trace, form, "out.file")
        assert code == WRONG_USE
        assert "totals of the trace" in out
        assert "out.file cannot be written: No space left on device" in err and "Traceback" not in err

    def test_a_full_standard_output_is_one_sentence(self, trace: str, tmp_path: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("there is no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "dcu_asv_ext.cli", "profile", trace],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": PACKAGE_PARENT},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert done.returncode == WRONG_USE
        assert "No space left" in done.stderr and "Traceback" not in done.stderr


class TestSeveral:
    def test_a_folder_is_its_traces_by_number(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "log").mkdir()
        for rank in (10, 2):
            about = {"rank": rank, "world_size": 12, "backend": "nccl"}
            written(hip(distributedInfo=about), tmp_path / "log" / f"rank{rank}.json.gz")
        (tmp_path / "log" / "notes.txt").write_text("no trace")
        code, out, _ = run("log")
        assert code == FINE
        assert -1 < out.find("rank2.json.gz") < out.find("rank10.json.gz")
        assert "  rank    2 of 12" in out
        assert "ranks 2, 10 of a run of 12; without 0, 1, 3, 4, 5, 6, 7, 8, 9, 11" in out
        found = json.loads(run("log", "--json")[1])["profiles"]
        assert [(one["rank"], one["world_size"]) for one in found] == [(2, 12), (10, 12)]

    def test_a_file_that_is_none_costs_the_others_nothing(self, run: Run, trace: str, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text("hello")
        code, out, err = run("bad.json", trace)
        assert code == WRONG_USE
        assert "trace.json.gz: 4 profiled steps" in out and "bad.json is no Chrome trace" in err

    def test_what_is_no_trace_outweighs_what_is_empty(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text("hello")
        (tmp_path / "empty.json").write_text('{"traceEvents": []}')
        assert run("bad.json", "empty.json")[0] == run("empty.json", "bad.json")[0] == WRONG_USE

    def test_pages_of_equal_names_are_two(self, run: Run, tmp_path: Path) -> None:
        for folder in ("one", "two", "pages"):
            (tmp_path / folder).mkdir()
        names = [str(written(hip(), tmp_path / folder / "t.json")) for folder in ("one", "two")]
        assert run(*names, "--html", "pages")[0] == FINE
        assert sorted(one.name for one in (tmp_path / "pages").iterdir()) == ["t-2.html", "t.html"]

    def test_a_folder_without_traces(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "log").mkdir()
        code, _, err = run("log/")
        assert code == WRONG_USE and "log/ holds no *.json and no *.json.gz" in err

    def test_several_devices_are_told_one_by_one(self, run: Run, tmp_path: Path) -> None:
        made = Building(deviceProperties=[{"id": 0, "name": "One"}, {"id": 1, "name": "Other"}])
        for device in (0, 1):
            made.launch(10, 20, 40 + 10 * device, device=device)
        name = written(made, tmp_path / "two.json").name
        assert "device 0 (One), device 1 (Other), 2 streams" in " ".join(run(name)[1].split())
        assert [one["device"] for one in figures(run, name)["streams"]] == [0, 1]


def test_what_runs_at_once_is_told(run: Run, tmp_path: Path) -> None:
    made = Building()
    made.launch(10, 20, 40, stream=0)
    made.launch(15, 30, 60, stream=1)
    made.copies("CopyHostToDevice", (20, 22), (30, 50), size=1 << 20, stream=2)
    out = " ".join(run(written(made, tmp_path / "t.json").name)[1].split())
    assert "two streams or more at once in 50 % of the busy time; 100 % of the time of copies" in out


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "code", "words"),
        [
            ("", WRONG_USE, "is empty"),
            ("hello", WRONG_USE, "it is not JSON"),
            ('{"traceEvents": [{"ph": "X", "na', WRONG_USE, "has no events"),
            ('{"a": 1}', WRONG_USE, "it has no"),
            ('{"traceEvents": []}', NOTHING_COMPARABLE, "has no events"),
            (
                '{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1}]}',
                NOTHING_COMPARABLE,
                "recorded nothing",
            ),
        ],
    )
    def test_one_sentence(self, run: Run, tmp_path: Path, text: str, code: int, words: str) -> None:
        (tmp_path / "bad.json").write_text(text)
        found, out, err = run("bad.json")
        assert found == code and not out
        assert err.startswith("dcu-asv profile: bad.json") and words in err and err.count("\n") == 1

    def test_a_file_that_is_not_there(self, run: Run) -> None:
        code, _, err = run("gone.json.gz")
        assert code == WRONG_USE and "gone.json.gz cannot be read: No such file or directory" in err

    def test_json_of_nothing_is_still_json(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text("hello")
        code, out, _ = run("bad.json", "--json")
        assert code == WRONG_USE and json.loads(out) == {"profiles": []}

    def test_a_trace_of_a_cpu_has_its_table_and_says_what_cannot_be_told(
        self, run: Run, tmp_path: Path
    ) -> None:
        name = written(cpu(), tmp_path / "cpu.json").name
        code, out, _ = run(name)
        assert code == FINE
        assert "only the host's side can be told" in out and "\naten::mm" in out
        assert "device       not known: the trace has no rows of a device" in out
        found = figures(run, name)
        assert found["totals"]["kernel_count"] is None and found["idle_by_cause"] is None
        assert "No kernels" in run(name, "--kernels")[1]

    def test_a_trace_of_a_device_alone(self, run: Run, tmp_path: Path) -> None:
        code, out, _ = run(written(device_only(), tmp_path / "device.json").name)
        assert code == FINE
        assert "busy 30.0 us of 50.0 us" in out and "of that unknown 100 %" in out
        assert "syncs        not known" in out and "launches     not known" in out

    def test_negative_durations_are_told(self, run: Run, tmp_path: Path) -> None:
        made = hip()
        made.kernel(50, 40)
        assert "with a negative duration: left out" in run(written(made, tmp_path / "t.json").name)[1]

    def test_a_name_cannot_command_the_terminal(self, run: Run, tmp_path: Path) -> None:
        made = hip(deviceProperties=[{"id": 0, "name": "a\x1b[31mb"}])
        assert "\x1b" not in run(written(made, tmp_path / "t.json").name)[1]


def test_neither_torch_nor_asv_is_loaded(trace: str, tmp_path: Path) -> None:
    code = (
        "import sys; from dcu_asv_ext.cli import main; code = main(sys.argv[1:]); "
        "print(sorted({'torch', 'asv', 'scipy'} & set(sys.modules)), code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "profile", trace, "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": PACKAGE_PARENT},
        capture_output=True,
        text=True,
    )
    assert done.stderr == "[] 0\n"


def test_the_keys_of_sort_are_those_of_the_table() -> None:
    assert profile.SORT_KEYS == SORT_KEYS
