from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.doctor.configuration import Config
from dcu_asv_ext.doctor.suite import check_suite, scan

GOOD = """
    import torch
    import dcu_asv_ext as dcu
    from asv_runner.benchmarks.mark import skip_for_params

    DEVICE = torch.device("cuda")

    def make(device):
        torch.cuda.synchronize()
        return torch.ones(3, device="cuda").cuda()

    @dcu.benchmark(setup=make, rounds=5, check=lambda out: out.cuda())
    @skip_for_params([(1,)])
    def total(x):
        return x.sum()

    if __name__ == "__main__":
        total(torch.ones(3, device="cuda"))
"""


def states(root: Path, text: str, **values: Any) -> dict[str, str]:
    suite = root / "benchmarks"
    suite.mkdir(exist_ok=True)
    (suite / "one.py").write_text(textwrap.dedent(text))
    return {one.id: one.state for one in check_suite(Config(root / "asv.conf.json", values))}


def troubled(root: Path, text: str, **values: Any) -> dict[str, str]:
    return {id: state for id, state in states(root, text, **values).items() if state != "ok"}


def test_a_good_suite(tmp_path: Path) -> None:
    assert troubled(tmp_path, GOOD) == {}
    assert troubled(tmp_path, GOOD, launch_method="forkserver") == {}
    assert scan(tmp_path / "benchmarks").decorated == 1


@pytest.mark.parametrize(
    ("imports", "mark", "ours"),
    [
        ("from asv_runner.benchmarks.mark import skip_for_params", "skip_for_params([1])", "dcu.benchmark"),
        ("from asv_runner.benchmarks import mark", "mark.skip_benchmark", "dcu.benchmark(rounds=5)"),
        ("import asv_runner.benchmarks.mark", "asv_runner.benchmarks.mark.timeout_at(9)", "benchmark"),
        ("import asv_runner.benchmarks.mark as m", "m.skip_benchmark", "dcu_asv_ext.benchmark"),
    ],
)
def test_a_mark_above_ours(tmp_path: Path, imports: str, mark: str, ours: str) -> None:
    head = f"import dcu_asv_ext, dcu_asv_ext as dcu\nfrom dcu_asv_ext import benchmark\n{imports}\n"
    above = f"@{mark}\n@{ours}\ndef f(): pass\n"
    below = f"@{ours}\n@{mark}\ndef f(): pass\n"
    assert troubled(tmp_path, head + above) == {"decorator-order": "problem"}
    assert troubled(tmp_path, head + below) == {}
    # Another decorator above ours, or a mark on something that is not ours, hides nothing.
    other = f"@some.mark\n@{ours}\ndef f(): pass\n@{mark}\ndef time_it(): pass\n"
    assert troubled(tmp_path, head + other) == {}


def test_too_few_rounds(tmp_path: Path) -> None:
    text = "import dcu_asv_ext as dcu\n@dcu.benchmark(rounds={})\ndef f(): pass\n"
    assert troubled(tmp_path, text.format(4)) == {"rounds": "warning"}
    assert troubled(tmp_path, text.format(5)) == {}
    assert troubled(tmp_path, text.format("ROUNDS")) == {}


@pytest.mark.parametrize(
    "line",
    [
        "x = torch.ones(3).cuda()",
        'x = torch.ones(3, device="cuda:1")',
        'x = torch.ones(3).to("cuda")',
        'x = torch.ones(3).to(torch.device("cuda"))',
        "torch.cuda.synchronize()",
        "class A:\n    x = torch.cuda.Stream()",
        'def f(x=torch.ones(3, device="cuda")): pass',
        'for n in (1, 2):\n    torch.ones(n, device="cuda")',
        'if torch.cuda.is_available():\n    x = torch.ones(3, device="cuda")',
    ],
)
def test_a_module_that_touches_the_device(tmp_path: Path, line: str) -> None:
    text = f"import torch, dcu_asv_ext as dcu\n@dcu.benchmark\ndef g(): pass\n{line}\n"
    assert troubled(tmp_path, text) == {"device-at-import": "warning"}
    assert troubled(tmp_path, text, launch_method="forkserver") == {"device-at-import": "problem"}


@pytest.mark.parametrize(
    "line",
    ['x = torch.ones(3, device="cpu")', 'x = torch.ones(3).to("float32")', "x = torch.cuda.is_available()"],
)
def test_a_module_that_does_not(tmp_path: Path, line: str) -> None:
    assert (
        troubled(tmp_path, f"import torch, dcu_asv_ext as dcu\n@dcu.benchmark\ndef g(): pass\n{line}\n") == {}
    )


def test_a_suite_that_is_absent_empty_or_broken(tmp_path: Path) -> None:
    config = Config(tmp_path / "asv.conf.json", {"benchmark_dir": "bench"})
    assert [one.state for one in check_suite(config)] == ["problem"]
    assert troubled(tmp_path, "def time_it(): pass\n") == {"suite": "warning"}
    assert troubled(tmp_path, "def broken(:\n") == {"suite": "problem"}


def test_hidden_folders_are_no_part_of_the_suite(tmp_path: Path) -> None:
    (tmp_path / "benchmarks/.ipynb_checkpoints").mkdir(parents=True)
    (tmp_path / "benchmarks/.ipynb_checkpoints/old.py").write_text("def broken(:\n")
    assert troubled(tmp_path, GOOD) == {}
