"""The parts of a cold start and the compile time: exact on the virtual device, and of real compilers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dcu_asv_ext import asv_type
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.measure import compile_watch
from dcu_asv_ext.measure.cold_parts import HOW
from dcu_asv_ext.measure.compile_watch import (
    COMPILATION,
    EXTENSION_BUILD,
    EXTENSION_LOAD,
    IMPORTS,
    SEARCH,
    Place,
)
from dcu_asv_ext.measure.request import Options, Request
from dcu_asv_ext.measure.session import measure

from .fakes import LAUNCH, MS, FakeDevice
from .virtual_runs import run, spec_of

ROOT = Path(__file__).resolve().parents[2]
STEPS = {
    "trace": COMPILATION,
    "build": EXTENSION_BUILD,
    "load": EXTENSION_LOAD,
    "bring": IMPORTS,
    "tune": SEARCH,
}


class Workshop(ModuleType):
    """A loaded compiler whose steps take milliseconds of the device's host clock, and may be given more to do."""

    def __init__(self, device: FakeDevice) -> None:
        super().__init__("workshop")

        def step(milliseconds: int, inner: Callable[[], Any] = lambda: None) -> None:
            device.host(milliseconds * MS)
            inner()

        for name in STEPS:
            # A copy each, as a module's functions are.
            setattr(self, name, lambda *args: step(*args))


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def shop(device: FakeDevice, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Workshop(device)
    monkeypatch.setitem(sys.modules, "workshop", made)
    places = tuple(Place("workshop", name, kind) for name, kind in STEPS.items())
    monkeypatch.setattr(compile_watch, "PLACES", places)
    unseen: list[str] = []
    monkeypatch.setattr(compile_watch, "_compiled_before", lambda: list(unseen))
    monkeypatch.setattr(compile_watch, "_compiled_unseen", list)
    made.unseen = unseen
    return made


def first_only(work: Callable[[], Any]) -> Callable[[], None]:
    """Done by the first call alone."""
    left = [work]

    def once() -> None:
        if left:
            left.pop()()

    return once


def measured(device: FakeDevice, tmp_path: Path, work: Callable[[], Any], **options: Any) -> Measurement:
    """A function that does `work` at its first call, and takes 5 ms each time besides."""
    once = first_only(work)

    def function(*_: Any) -> None:
        once()
        device.kernel(5 * MS)

    options.setdefault("metrics", ("latency", "cold_start", "compile_time"))
    record = run(spec_of(function, **options), device, tmp_path, repeat=1, quick=True).record
    assert record.status == "ok", record.error
    return record


def test_the_parts_of_a_first_call_add_up_to_it(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    def work() -> None:
        shop.trace(100, lambda: shop.bring(10, lambda: shop.build(1000, lambda: shop.load(7))))
        shop.tune(30, lambda: shop.trace(3))
        device.host(40 * MS)  # what nobody can tell apart

    record = measured(device, tmp_path, work)
    expected = {
        COMPILATION: 0.103,
        IMPORTS: 0.010,
        EXTENSION_BUILD: 1.0,
        EXTENSION_LOAD: 0.007,
        SEARCH: 0.030,
    }
    assert record.cold["in_first_call"] == pytest.approx(expected)
    told = {name: record.parts[name] for name in expected}
    assert told == pytest.approx(expected)
    assert record.parts["first_use_rest"] == pytest.approx(0.040)
    steady = 0.005 + LAUNCH / 1e9
    assert record.times["latency"] == [pytest.approx(steady)]
    assert record.times["cold"] == [pytest.approx(sum(expected.values()) + 0.040 + steady)]
    assert record.times["compile"] == [pytest.approx(1.103)], "neither imports, nor loading, nor searching"
    assert {*expected, "first_use_rest"} <= set(HOW)


def test_what_setup_compiles_counts_and_is_no_part_of_the_first_call(
    device: FakeDevice, shop: Any, tmp_path: Path
) -> None:
    record = measured(device, tmp_path, lambda: shop.trace(3), setup=lambda: shop.build(20))
    assert record.parts[COMPILATION] == pytest.approx(0.003)
    assert record.parts[EXTENSION_BUILD] == pytest.approx(0.020)
    assert record.cold["in_first_call"] == pytest.approx({COMPILATION: 0.003})
    assert record.times["compile"] == [pytest.approx(0.023)]


def test_what_later_calls_compile_does_not_count(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    def function() -> None:
        shop.trace(3)
        device.kernel(5 * MS)

    record = run(spec_of(function, metrics=("latency", "compile_time")), device, tmp_path, repeat=3).record
    assert record.times["compile"] == [pytest.approx(0.003)]
    assert record.parts["first_use_rest"] == 0.0


def test_nothing_compiled_is_a_measured_zero(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    record = measured(device, tmp_path, lambda: device.host(40 * MS))
    assert record.times["compile"] == [0.0]
    line = json.loads(record.to_line())
    assert outcome(line, "compile_time").samples == (0.0,)
    assert {name: line["parts"][name] for name in (COMPILATION, EXTENSION_BUILD, EXTENSION_LOAD)} == {
        COMPILATION: 0.0,
        EXTENSION_BUILD: 0.0,
        EXTENSION_LOAD: 0.0,
    }
    assert line["parts"]["first_use_rest"] == pytest.approx(0.040)


def test_what_cannot_be_told_apart_has_a_reason_and_no_figure(
    device: FakeDevice, shop: Any, tmp_path: Path
) -> None:
    record = measured(device, tmp_path, lambda: None)
    for name in ("library_init", "pool_growth", "algorithm_search"):
        assert name not in record.parts and "within first_use_rest" in record.cold["missing"][name]
    assert "imported with the suite" in record.cold["missing"]["imports"]


def test_imports_of_this_process_are_a_part_where_they_were_timed(device: FakeDevice, tmp_path: Path) -> None:
    spec = spec_of(lambda: device.kernel(5 * MS))
    request = Request(spec, {}, {}, options=Options(1, quick=True), cache_root=tmp_path, imports=1.5)
    record = measure(request, device).record
    assert record.parts["imports"] == 1.5 and "imports" not in record.cold["missing"]


def test_imports_are_timed_where_the_suite_has_not_imported_torch() -> None:
    assert asv_type._import_what_measures() is None
    code = "from dcu_asv_ext import asv_type; print(asv_type._import_what_measures() > 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_what_compiles_unseen_leaves_no_compile_time(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    shop.unseen.append("numba is loaded, and what it compiles is not watched")
    record = measured(device, tmp_path, lambda: shop.trace(3))
    assert "compile" not in record.times and record.missing["compile_time"] == shop.unseen[0]
    # What was seen is told all the same; what was not seen is not called nothing.
    assert record.parts[COMPILATION] == pytest.approx(0.003)
    assert EXTENSION_BUILD not in record.parts and record.cold["missing"][EXTENSION_BUILD] == shop.unseen[0]


@pytest.mark.parametrize(
    ("variable", "seen", "reason"),
    [
        ("CUDA_CACHE_PATH", True, "the driver compiled something too"),
        ("MIOPEN_CUSTOM_CACHE_DIR", True, "MIOpen compiled something too"),
        ("PYTORCH_KERNEL_CACHE_PATH", True, "torch's run-time compiler compiled something too"),
        ("TRITON_CACHE_DIR", False, "the triton cache was written to by something that is not watched"),
        ("TRITON_CACHE_DIR", True, ""),
        # A search for algorithms is no compilation.
        ("MIOPEN_USER_DB_PATH", False, ""),
    ],
)
def test_caches_that_were_written_to_are_evidence(
    device: FakeDevice, shop: Any, tmp_path: Path, variable: str, seen: bool, reason: str
) -> None:
    def work() -> None:
        if seen:
            shop.trace(3)
        folder = Path(os.environ[variable])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "entry").write_text("x")

    record = measured(device, tmp_path, work)
    assert len(record.cold["wrote"]) == 1
    if reason:
        assert reason in record.missing["compile_time"] and "compile" not in record.times
    else:
        assert record.times["compile"] == [pytest.approx(0.003 if seen else 0.0)]


def test_a_filled_cache_leaves_no_compile_time(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    (tmp_path / "inductor").mkdir()
    (tmp_path / "inductor" / "kernel").write_text("compiled")
    record = measured(device, tmp_path, lambda: shop.trace(3))
    assert "caches were not empty" in record.missing["compile_time"] and "compile" not in record.times
    assert outcome(json.loads(record.to_line()), "compile_time").state == "missing"


def test_it_is_measured_where_it_is_asked_for(device: FakeDevice, shop: Any, tmp_path: Path) -> None:
    record = measured(device, tmp_path, lambda: shop.trace(3), metrics=("latency", "cold_start"))
    assert "compile" not in record.times and "compile_time" not in record.missing
    assert record.parts[COMPILATION] == pytest.approx(0.003)


@pytest.mark.parametrize("stage", ["setup", "first call", "later"])
def test_a_fault_leaves_nothing_wrapped(device: FakeDevice, shop: Any, tmp_path: Path, stage: str) -> None:
    before = {name: getattr(shop, name) for name in STEPS}
    finders = list(sys.meta_path)
    calls = [0]

    def fail() -> None:
        raise RuntimeError(stage)

    def function(*_: Any) -> None:
        calls[0] += 1
        shop.trace(3)
        if stage == "first call" or calls[0] > 1:
            fail()

    options = {"setup": fail} if stage == "setup" else {}
    spec = spec_of(function, metrics=("latency", "compile_time"), **options)
    record = run(spec, device, tmp_path, repeat=1, quick=True).record
    assert "RuntimeError" in record.status
    assert {name: getattr(shop, name) for name in STEPS} == before and sys.meta_path == finders
    assert (COMPILATION in record.parts) == (stage == "later")
    if stage == "later":
        assert record.cold["missing"]["first_use_rest"] == "no steady call was timed"


REAL = """
import json, sys
from pathlib import Path
import torch
from dcu_asv_ext.devices import select
from dcu_asv_ext.measure.request import Options, Request
from dcu_asv_ext.measure.session import measure
from dcu_asv_ext.measure.spec import Spec

work = Path(sys.argv[1])

def plain(device):
    return torch.ones(8)

def double(x):
    return x + x

def extension(x):
    from torch.utils.cpp_extension import load
    load("halve", [str(work / "halve.cpp")], build_directory=None, is_python_module=False)
    return x

def compiled(device):
    return torch.compile(lambda x: (x.sin() * x).sum()), torch.ones(8, requires_grad=True)

def train(function, x):
    function(x).backward()
    return x.grad

CASES = {"double": (double, plain), "extension": (extension, plain), "train": (train, compiled)}
for number, name in enumerate(sys.argv[2:]):
    function, setup = CASES[name]
    metrics = ("latency", "cold_start", "compile_time")
    spec = Spec(family=name, name=name, module="suite", function=function, setup=setup, metrics=metrics)
    options = Options(repeat=1, quick=True)
    request = Request(spec, {}, {}, options=options, cache_root=work / f"caches-{name}")
    print("record:" + measure(request, select("cpu")).record.to_line(), end="")
timers = getattr(sys.modules.get("torch._dynamo.utils"), "compilation_time_metrics", {})
wanted = ("_compile.compile_inner", "backward._backward_impl")
print("timers:" + json.dumps([sum(timers.get(name, [])) for name in wanted]))
"""


def really(tmp_path: Path, *cases: str) -> tuple[list[dict[str, Any]], list[float]]:
    """Records of cases measured one after another in a fresh process, and torch's own timers at its end."""
    (tmp_path / "halve.cpp").write_text('extern "C" int halve(int x) { return x / 2; }\n')
    (tmp_path / "real.py").write_text(REAL)
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "DCU_ASV_DEVICE": "cpu"}
    command = [sys.executable, "-W", "ignore", str(tmp_path / "real.py"), str(tmp_path), *cases]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    *lines, timers = [line for line in done.stdout.splitlines() if line.startswith(("record:", "timers:"))]
    records = [json.loads(line.removeprefix("record:")) for line in lines]
    assert [record["status"] for record in records] == ["ok"] * len(cases), records
    return records, json.loads(timers.removeprefix("timers:"))


needs_compiler = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("ninja")), reason="needs a C++ compiler and ninja"
)


@pytest.mark.e2e
@needs_compiler
def test_a_real_extension(tmp_path: Path) -> None:
    (nothing, built, again), _ = really(tmp_path, "double", "extension", "extension")
    assert nothing["times"]["compile"] == [0.0]
    parts = built["parts"]
    assert built["times"]["compile"] == [parts["extension_build"]] and parts["compilation"] == 0.0
    assert parts["extension_build"] > parts["extension_load"] > 0.0
    assert built["cold"]["wrote"] == ["torch_extensions"]
    assert sum(built["cold"]["in_first_call"].values()) <= built["times"]["cold"][0]
    assert "caches were not empty" in again["missing"]["compile_time"]


@pytest.mark.e2e
@needs_compiler
def test_a_real_training_step_by_inductor(tmp_path: Path) -> None:
    (first,), (forward, backward) = really(tmp_path, "train")
    (compile_time,) = first["times"]["compile"]
    assert first["parts"]["compilation"] == compile_time and first["parts"]["compiler_imports"] > 0.0
    assert forward > 0.0 and backward > 0.0, "this torch names its timers otherwise"
    # torch's own timers lie inside what was watched; the imports among them are told apart here.
    inside = first["cold"]["in_first_call"]
    assert inside["compilation"] + inside["compiler_imports"] >= 0.99 * (forward + backward)
    assert compile_time <= first["times"]["cold"][0] + first["parts"]["setup"]
    assert first["cold"]["wrote"] == ["inductor"]
