"""Runs the device's contract, and what needs a process of its own, on both forms of the device."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from . import build

HERE = Path(__file__).resolve().parent
FORMS = tuple(build.FORMS)
MODULES = [str(HERE / f"contract_{subject}.py") for subject in ("time", "data", "errors")]
CHECKS = [
    node.name
    for module in MODULES
    for node in ast.parse(Path(module).read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]

pytestmark = pytest.mark.simulated


def run(
    *arguments: str, folder: Path, timeout: float = 120, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    environment.update(variables, OMP_NUM_THREADS="1")
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


@functools.cache
def contract_results(form: str, folder: Path) -> dict[str, str]:
    """Check -> "" where it passed, else what pytest says. One process for all checks of a form."""
    build.build(form)
    report = folder / f"{form}.xml"
    done = run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "contract_support"),
        *("-c", os.devnull, f"--rootdir={HERE}", "--import-mode=importlib"),
        *(f"--junitxml={report}", *MODULES),
        folder=folder,
        PYTHONPATH=str(HERE),
        SIM_FORM=form,
        SIM_DEVICES="2",
    )
    assert report.exists(), f"the contract did not run:\n{done.stdout}\n{done.stderr}"
    results = {}
    for case in ElementTree.parse(report).iter("testcase"):
        results[case.attrib["name"]] = "\n".join(
            part.text or part.tag for part in case if part.tag != "system-out"
        )
    # An abort at exit fails no single check.
    results["exit"] = (
        "" if done.returncode in (0, 1) else f"rc {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    return results


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contract")


@pytest.mark.parametrize("check", [*CHECKS, "exit"])
@pytest.mark.parametrize("form", FORMS)
def test_contract(form: str, check: str, folder: Path) -> None:
    results = contract_results(form, folder)
    assert check in results, f"{check} did not run"
    assert not results[check], results[check]


@pytest.mark.parametrize("form", FORMS)
def test_threads_and_streams_agree_with_the_cpu_and_exit_cleanly_with_work_queued(
    form: str, tmp_path: Path
) -> None:
    build.build(form)
    done = run(str(HERE / "stress.py"), form, "1", folder=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    pending = re.search(r"pending at exit: (\d+)", done.stdout)
    assert pending and int(pending[1]) > 20, done.stdout


@pytest.mark.parametrize(("form", "loader"), [("sim", "sim_backend"), ("cuda", "fake_cuda")])
def test_a_machine_without_the_device_from_a_foreign_folder(form: str, loader: str, tmp_path: Path) -> None:
    build.build(form)
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import {loader} as form; import torch\n"
        "print(form.api.is_available(), form.api.device_count())\n"
        "torch.empty(1, device=form.DEVICE)"
    )
    done = run("-c", code, folder=tmp_path, SIM_DEVICES="0")
    assert done.stdout == "False 0\n", done.stderr
    assert done.returncode == 1 and "No simulated devices are available" in done.stderr


def test_fake_cuda_after_torch_is_refused(tmp_path: Path) -> None:
    code = (
        "import sys, types; sys.modules['torch'] = types.ModuleType('torch')\n"
        f"sys.path.insert(0, {str(HERE)!r}); import fake_cuda"
    )
    done = run("-c", code, folder=tmp_path)
    assert done.returncode == 1 and "import fake_cuda before torch" in done.stderr
