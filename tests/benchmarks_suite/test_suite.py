"""The suite's own truth: every benchmark is right on the CPU, and each reference and check can tell wrong."""

from __future__ import annotations

import importlib
import math
import pkgutil
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dcu_asv_ext.decorator import spec_of
from dcu_asv_ext.devices import select
from dcu_asv_ext.measure.arguments import CallArguments, make_arguments
from dcu_asv_ext.measure.correctness import judge, judge_check
from dcu_asv_ext.measure.errors import compare
from dcu_asv_ext.measure.facts import work_of
from dcu_asv_ext.measure.judging import seed_everything
from dcu_asv_ext.measure.spec import Spec

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

#: What a whole `asv run` may hold: at five rounds of about 3 s each it takes a quarter of an hour.
MOST_COMBINATIONS = 45
NEED_ACCELERATOR = {"copies.copy", "overlap.copy_and_compute"}
MAY_BE_MISSING = {"transformer.block_bfloat16", "compile.compiled_chain", "compile.compile_from_cache"}


def _specs() -> dict[str, Spec]:
    import benchmarks

    found = {}
    for place in pkgutil.iter_modules(benchmarks.__path__, "benchmarks."):
        module = importlib.import_module(place.name)
        for value in vars(module).values():
            spec = spec_of(value)
            if spec is not None and spec.module == module.__name__:
                assert spec.family not in found
                found[spec.family] = spec
    return found


SPECS = _specs()
FAMILIES = sorted(SPECS)
RUNNABLE = [family for family in FAMILIES if family not in NEED_ACCELERATOR]


@pytest.fixture(autouse=True, scope="module")
def _on_the_cpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    threads = torch.get_num_threads()
    # Threads of one call wait for each other in a loop, which is slow beside other processes.
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCU_ASV_DEVICE", "cpu")
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
        yield
    torch.set_num_threads(threads)


class Case:
    """One benchmark set up with its first parameters, and one output of it."""

    def __init__(self, family: str, params: dict[str, Any] | None = None) -> None:
        self.spec = SPECS[family]
        self.params = self.spec.combinations()[0] if params is None else params
        self.arguments = self.set_up()
        if self.spec.reset is not None:
            self.arguments.call(self.spec.reset)
        self.output = self.arguments.call(self.spec.function)

    def set_up(self) -> CallArguments:
        device = select("cpu")
        seed_everything(self.spec.seed(self.params), device)
        try:
            return make_arguments(self.spec, self.params, device.torch_device)[0]
        except NotImplementedError as reason:
            if self.spec.family not in MAY_BE_MISSING:
                raise
            pytest.skip(str(reason))

    def wrong(self, output: Any) -> str:
        """Why the benchmark's own reference or check calls the output wrong ("" if it does not)."""
        if self.spec.check is not None:
            return judge_check(self.spec, [self.spec.check(output)]).wrong
        assert self.spec.reference is not None
        if not hasattr(self, "_trusted"):
            self._trusted = self.arguments.call(self.spec.reference)
        return judge(self.spec, [], output, self._trusted).wrong

    def close(self) -> None:
        if self.spec.teardown is not None:
            self.arguments.call(self.spec.teardown)


@pytest.fixture(scope="module")
def cases() -> Iterator[dict[str, Case]]:
    made: dict[str, Case] = {}
    yield made
    for case in made.values():
        case.close()


def _case(cases: dict[str, Case], family: str) -> Case:
    if family not in cases:
        cases[family] = Case(family)
    return cases[family]


def _disturbed(value: Any, kind: str) -> Iterator[Any]:
    """Copies of an output, each with one leaf off: its largest element a tenth smaller, or NaN."""
    if isinstance(value, torch.Tensor):
        changed = value.detach().clone(memory_format=torch.contiguous_format)
        flat = changed.view(-1)
        place = int(flat.abs().argmax())
        flat[place] = math.nan if kind == "nan" else flat[place] * 0.9
        yield changed
    elif isinstance(value, dict):
        for key in value:
            for changed in _disturbed(value[key], kind):
                yield {**value, key: changed}
    elif isinstance(value, (tuple, list)):
        for number, one in enumerate(value):
            for changed in _disturbed(one, kind):
                yield type(value)([*value[:number], changed, *value[number + 1 :]])
    elif isinstance(value, array):
        yield value[:-1] if kind == "smaller" else array("d", [math.nan, *value[1:]])
    else:
        yield math.nan if kind == "nan" else value * 0.9 - 1


@pytest.mark.parametrize("family", RUNNABLE)
def test_is_right(cases: dict[str, Case], family: str) -> None:
    case = _case(cases, family)
    assert case.wrong(case.output) == ""


@pytest.mark.parametrize("kind", ["smaller", "nan"])
@pytest.mark.parametrize("family", RUNNABLE)
def test_a_disturbed_output_is_wrong(cases: dict[str, Case], family: str, kind: str) -> None:
    case = _case(cases, family)
    outputs = list(_disturbed(case.output, kind))
    assert outputs
    for number, output in enumerate(outputs):
        assert case.wrong(output), f"leaf {number} may be wrong unnoticed"


@pytest.mark.parametrize(
    "family", [name for name in RUNNABLE if not name.startswith(("compile", "extension"))]
)
def test_the_seed_fixes_the_inputs(cases: dict[str, Case], family: str) -> None:
    case = _case(cases, family)
    again = Case(family)
    difference = compare(case.output, again.output, case.spec.rtol, case.spec.atol)
    assert difference.right
    assert difference.scale > 0


@pytest.mark.parametrize("family", sorted(NEED_ACCELERATOR))
def test_is_missing_with_a_reason_on_the_cpu(family: str) -> None:
    spec = SPECS[family]
    for params in spec.combinations():
        with pytest.raises(NotImplementedError, match="on the CPU"):
            make_arguments(spec, params, torch.device("cpu"))


@pytest.mark.parametrize("family", FAMILIES)
def test_is_judged_and_its_work_is_told(family: str) -> None:
    spec = SPECS[family]
    assert spec.reference is not None or spec.check is not None
    for params in spec.combinations():
        assert all(amount > 0 for amount in work_of(spec.work, params).values())
        assert all(isinstance(value, (str, int, bool)) for value in params.values())


def test_asv_finds_every_metric_of_every_benchmark() -> None:
    """In a process of its own, as asv does: what is found is for asv's discovery to say."""
    script = (
        "import asv_runner.discovery as discovery\n"
        "for found in discovery.disc_benchmarks('benchmarks'): print(found.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    wanted = [f"{family}.{metric}" for family, spec in SPECS.items() for metric in spec.metrics]
    assert sorted(done.stdout.split()) == sorted(wanted)


def test_the_suite_fits_a_quarter_of_an_hour() -> None:
    assert sum(len(spec.combinations()) for spec in SPECS.values()) <= MOST_COMBINATIONS


def test_the_work_of_a_product() -> None:
    from benchmarks.gemm import make_factors

    side = make_factors.__defaults__[0]
    told = work_of(SPECS["gemm.matmul_float32"].work, {"shape": "square"})
    assert told == {"flop": 2 * side**3, "bytes": 12 * side**2}


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_a_missing_or_doubled_weight_update_is_wrong(cases: dict[str, Case], share: float) -> None:
    case = _case(cases, "training.train_step")
    (trainer,) = case.arguments.args
    loss, norm, *weights = case.output
    start = [weight.detach() for weight in trainer.start.parameters()]
    for number, (weight, first) in enumerate(zip(weights, start, strict=True)):
        off = [*weights[:number], first + share * (weight - first), *weights[number + 1 :]]
        assert case.wrong((loss, norm, *off)), f"weight {number}"


def test_training_starts_anew_after_reset(cases: dict[str, Case]) -> None:
    case = _case(cases, "training.train_step")
    earlier = [one.clone() for one in case.output]
    drifted = case.arguments.call(case.spec.function)
    assert case.wrong(drifted)
    case.arguments.call(case.spec.reset)
    case.output = case.arguments.call(case.spec.function)
    assert case.wrong(case.output) == ""
    assert compare(case.output, tuple(earlier), 0, 1e-7).right


@pytest.mark.parametrize("implementation", ["foreach", "fused"])
def test_the_optimiser_is_right_after_many_steps(implementation: str) -> None:
    case = Case("optimiser.adamw_step", {"implementation": implementation})
    for _ in range(300):
        output = case.arguments.call(case.spec.function)
    assert case.wrong(output) == ""
    error, allowed = case.spec.check(output)
    assert 0 < error < allowed / 5


@pytest.mark.parametrize("part", ["mask", "bias_table"])
def test_windows_without_mask_or_bias_are_wrong(part: str) -> None:
    case = Case("weather_attention.earth_block", {"shifted": True})
    block, _ = case.arguments.args
    assert case.wrong(case.output) == ""
    with torch.no_grad():
        getattr(block, part).zero_()
    assert case.wrong(case.arguments.call(case.spec.function))


def test_the_accelerator_sizes_are_larger() -> None:
    from benchmarks.common import sized

    assert sized(torch.device("cpu"), "small", "large") == "small"
    assert sized(torch.device("cuda", 0), "small", "large") == "large"
