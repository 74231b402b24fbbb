"""The matrix as people see it: in a terminal and as Markdown."""

from __future__ import annotations

import re
from typing import Any

from dcu_asv_ext.comparing import matrix_markdown
from dcu_asv_ext.comparing.figures import columns
from dcu_asv_ext.comparing.matrix import Matrix
from dcu_asv_ext.comparing.matrix_experiments import experiments
from dcu_asv_ext.comparing.matrix_text import render
from dcu_asv_ext.comparing.table import Style
from dcu_asv_ext.evidence.matrix import ASV, MatrixRow, Statistic

EVERY = {
    "latency": Statistic(1.25e-3, 1.2e-3, 1.3e-3, 1e-3, 2e-3),
    "device_time": Statistic(1e-3, None, None, 1e-3, 1e-3),
    "host_time": Statistic(5e-6, None, None, 5e-6, 5e-6),
    "cold_start": Statistic(0.5, None, None, 0.5, 0.5),
    "peak_allocated": Statistic(2**20, None, None, 2**20, 2**20),
    "peak_reserved": Statistic(2**21, None, None, 2**21, 2**21),
    "peak_card": Statistic(3 * 2**30, None, None, 2**30, 2**30),
    "max_error": Statistic(2.5e-7, None, None, 0, 1),
}


def row(commit: str = "a", benchmark: str = "gemm.matmul", **changes: Any) -> MatrixRow:
    made: dict[str, Any] = {
        "params": {"n": "256"},
        "variant": commit * 8,
        "commit": commit * 40,
        "machine": "k100",
        "env": "overlay",
        "status": "ok",
        "kind": "micro",
        "device_kind": "dcu",
        "device_product": "K100_AI",
        "device_architecture": "gfx928",
        "driver": "6.3.8",
        "dtk": "25.04",
        "runtime": "hip 6.3.1",
        "torch": "2.4.1",
        "python": "3.10.12",
        "rounds": 5,
        "samples": {"latency": [40, 42, 41, 40, 40]},
        "batch": {"latency": [1, 4, 4, 4, 4]},
        "figures": EVERY,
        "protocol": 1,
    }
    return MatrixRow(benchmark, **{**made, **changes})


def of(*rows: MatrixRow, notes: tuple[str, ...] = ()) -> Matrix:
    return Matrix(list(rows), experiments(rows), list(notes))


def lines(found: Matrix, width: int = 200) -> list[str]:
    shown = render(found, Style(width=width)).splitlines()
    assert all(columns(line) <= width for line in shown), shown
    return shown


def test_what_all_rows_share_is_told_once() -> None:
    shown = lines(of(row("a"), row("a", benchmark="gemm.other", params={})))
    assert shown[:6] == [
        "commit       aaaaaaaa",
        "machine      k100",
        "environment  overlay",
        "device       K100_AI (gfx928), dcu",
        "software     driver 6.3.8, DTK 25.04, hip 6.3.1, torch 2.4.1, Python 3.10.12",
        "matrix       2 rows of 2 benchmarks",
    ]


def test_one_variant_is_one_table() -> None:
    shown = lines(of(row("a"), row("a", params={"n": "1024"}), row("a", benchmark="gemm.other", params={})))
    heading = next(line for line in shown if "latency" in line)
    assert heading.split("  ")[-1] == "max error" and "host" in heading and "status" not in heading
    body = shown[shown.index(heading) + 1 :]
    assert body[0] == "gemm.matmul"
    assert body[1].startswith("  n=256") and "5 x 40 x 4" in body[1] and "1.25 ms  [1.20, 1.30]" in body[1]
    assert body[2].startswith("  n=1024") and body[3].startswith("gemm.other  ")
    for figure in ("1.00 ms", "500 ms", "1 MiB", "2 MiB", "3 GiB", "2.50e-07"):
        assert figure in body[1]


def test_several_variants_stand_below_their_benchmark_with_the_sentence() -> None:
    shown = lines(
        of(row("a"), row("b"), row("a", benchmark="x.y", params={}), row("b", benchmark="x.y", params={}))
    )
    assert (
        "Between the rows of a benchmark with the same parameters: single-variable: commit was aaaaaaaa, is bbbbbbbb."
        in shown
    )
    place = shown.index("  n=256")
    assert shown[place - 1].startswith("gemm.matmul") and "latency" in shown[place - 1]
    assert shown[place + 1].startswith("    aaaaaaaa  ") and shown[place + 2].startswith("    bbbbbbbb  ")


def test_sentences_that_differ_stand_with_their_benchmark() -> None:
    other = {"facts": {"device.driver": "7", "software.torch": "2"}}
    same = {"facts": {"device.driver": "6", "software.torch": "2"}}
    found = of(
        row("a", **same), row("b", **other), row("a", params={"n": "1"}, **same), row("b", params={"n": "1"}, **same)
    )  # fmt: skip
    shown = "\n".join(lines(found))
    assert "  n=256: not a single-variable experiment: commit and device.driver differ." in shown
    assert "  n=1: single-variable: commit was aaaaaaaa, is bbbbbbbb." in shown
    assert "Between the rows" not in shown
    told = matrix_markdown.render(found)
    assert "- `gemm.matmul`: n=256: not a single-variable experiment: commit and device.driver differ" in told


def test_parts_of_an_experiment_are_counted() -> None:
    rows = [row(letter, facts={"software.torch": torch}) for letter in "ab" for torch in ("2", "3")]
    text = " ".join(render(of(*rows), Style(width=2000)).split())
    assert "commit and software.torch differ; commit alone in 2 sets of 2 rows" in text
    assert "and software.torch alone in 2 sets of 2 rows" in text


def test_another_device_is_a_column() -> None:
    shown = lines(of(row("a"), row("a", variant="x", device_product="K100")))
    assert any("K100 (gfx928), dcu" in line and "1.25 ms" in line for line in shown)


def test_a_narrow_terminal_leaves_out_what_matters_least_and_says_so() -> None:
    shown = lines(of(row("a"), row("b")), width=80)
    heading = next(line for line in shown if "latency" in line)
    assert "device time" in heading and "host" not in heading
    assert any(line.startswith("No room for: ") and "host" in line for line in shown)


def test_what_is_not_ok_says_why() -> None:
    bad = row("a", params={}, status="out of memory in setup: 3 GiB", figures={})
    wrong = row("a", benchmark="x.wrong", params={}, status="wrong result: 3 of 4 elements")
    shown = lines(of(bad, wrong, row("a", benchmark="x.y")))
    assert any(line.startswith("gemm.matmul  out of memory in setup: 3 GiB") for line in shown)
    place = next(place for place, line in enumerate(shown) if line.startswith("x.wrong"))
    assert "1.25 ms" in shown[place] and shown[place + 1].strip() == "wrong result: 3 of 4 elements"
    told = matrix_markdown.render(of(bad, wrong))
    assert "out of memory in setup: 3 GiB" in told and "wrong result: 3 of 4 elements" in told


def test_rows_that_all_fail_alike_are_one_line() -> None:
    bad = [row("a", params={"n": n}, status="skipped: no device", figures={}) for n in "123"]
    assert "  3 rows: skipped: no device" in lines(of(*bad))


def test_missing_figures_and_notes_are_told_with_their_rows() -> None:
    one = row("a", missing={"peak_card": "no tool"}, notes=("never steady",))
    shown = lines(of(one, row("a", benchmark="x.y"), notes=("a line was torn",)))
    assert "note: a line was torn" in shown
    assert "no number: peak_card: no tool (1 row of gemm.matmul)" in shown
    assert "a  never steady" in shown and any(line.endswith("  a") and "1.25 ms" in line for line in shown)
    assert "no number: peak_card: no tool (all rows)" in lines(of(one))


def test_another_suite_s_value_has_its_own_column() -> None:
    foreign = row("a", benchmark="suite.time_it", kind=None, source=ASV, unit="seconds", params={})
    foreign = MatrixRow(
        **{**vars(foreign), "figures": {"value": Statistic(2.0, None, None, 2, 2)}, "samples": {}}
    )
    (line,) = (line for line in lines(of(foreign)) if line.startswith("suite.time_it"))
    assert "2.00 s" in line
    (heading,) = (line for line in lines(of(foreign)) if "asv's value" in line)
    assert "latency" not in heading


def test_protocols_that_differ_are_told_in_the_heading() -> None:
    assert "protocol     1, 0" in lines(of(row("a"), row("b", protocol=0)))


def test_a_terminal_does_not_obey_a_name() -> None:
    evil = row(
        "a",
        benchmark="x\x1b[31m",
        params={"n": "\x1b[2J"},
        variant="\x1b]0;",
        status="failed: \x07",
        notes=("\x1b",),
    )
    for found in (
        of(evil, row("b")),
        of(evil),
        of(evil, row("a", benchmark="\x1b", params={}, variant="\x1b]0;")),
    ):
        assert render(found).replace("\n", "").isprintable()


def test_markdown_escapes_every_cell() -> None:
    evil = row(
        "a",
        benchmark="a|b`c",
        params={"n": "'x|y\n# z'"},
        variant="<b>",
        status="failed: | *x* `y`",
        notes=("[a](b)",),
    )
    told = matrix_markdown.render(of(evil, row("b")))
    table = [line for line in told.splitlines() if line.startswith("|")]
    assert len(table) == 4
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table}
    assert len(bars) == 1
    assert "\\<b\\>" in told and "\\[a\\]\\(b\\)" not in told and "\\[a\\](b)" in told


def test_markdown_is_one_table_with_the_variables_above() -> None:
    told = matrix_markdown.render(of(row("a"), row("b")))
    assert told.startswith("### Experiment matrix: 2 rows of 1 benchmark\n")
    assert "**single-variable: commit was aaaaaaaa, is bbbbbbbb**" in told
    assert "| `gemm.matmul` | `n=256` | bbbbbbbb | micro | 5 x 40 x 4 | 1.25 ms |" in told
