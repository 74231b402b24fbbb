from __future__ import annotations

import gc
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices import MemoryPeaks, NotMeasured
from dcu_asv_ext.devices.cpu import Cpu
from dcu_asv_ext.devices.cpu_trace import Trace, read_trace

torch = pytest.importorskip("torch")

#: oneDNN and BLAS scratch, loss scalars, alignment.
SLACK = 64 << 10
FLOAT = 4


@pytest.fixture
def cpu() -> Cpu:
    return Cpu(torch)


def added(peaks: MemoryPeaks) -> int:
    assert peaks.peak_allocated is not None and peaks.baseline_allocated is not None, peaks.missing
    return peaks.peak_allocated - peaks.baseline_allocated


def test_a_chain_whose_temporaries_overlap(cpu: Cpu) -> None:
    size = 300 * 300 * FLOAT

    def chain() -> Any:
        a, b = torch.randn(300, 300), torch.randn(300, 300)
        c = a @ b
        return (c + 1).relu_().sum()

    chain()
    peaks = cpu.peak_memory(chain)
    assert 4 * size <= added(peaks) <= 4 * size + SLACK
    assert peaks.after_allocated == peaks.baseline_allocated


def test_views_and_out_arguments_allocate_nothing(cpu: Cpu) -> None:
    held, target = torch.randn(500, 500), torch.empty(500, 500)

    def views() -> None:
        rows = [held[i] for i in range(100)]
        torch.add(held, held.t(), out=target)
        del rows

    views()
    assert added(cpu.peak_memory(views)) <= SLACK


def test_a_training_step_that_replaces_its_gradients(cpu: Cpu) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256))
    weights = sum(p.numel() for p in net.parameters()) * FLOAT
    optimiser = torch.optim.SGD(net.parameters(), 0.01)
    x = torch.randn(8, 256)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        net(x).square().mean().backward()
        optimiser.step()

    step()
    activations = 8 * (1024 + 256) * FLOAT
    # The old gradients are gone before the new ones come: counting both would read `weights` more.
    assert added(cpu.peak_memory(step)) <= 8 * activations + SLACK < weights
    optimiser.zero_grad(set_to_none=True)
    peaks = cpu.peak_memory(step)
    assert weights <= added(peaks) <= weights + 8 * activations + SLACK
    assert peaks.after_allocated is not None and peaks.baseline_allocated is not None
    assert weights <= peaks.after_allocated - peaks.baseline_allocated <= weights + SLACK


def test_convolution_scratch_is_counted(cpu: Cpu) -> None:
    image, kernel = torch.randn(4, 16, 32, 32), torch.randn(32, 16, 3, 3)

    def convolve() -> None:
        with torch.no_grad():
            torch.nn.functional.conv2d(image, kernel, padding=1)

    convolve()
    output = 4 * 32 * 32 * 32 * FLOAT
    assert output <= added(cpu.peak_memory(convolve)) <= 4 * output


def test_baseline_is_every_live_storage_once(cpu: Cpu) -> None:
    gc.collect()
    before = cpu.peak_memory(lambda: None).baseline_allocated
    weight = torch.nn.Parameter(torch.zeros(1000))
    weight.sum().backward()  # a gradient that no Python name holds
    views = [weight.detach()[i:] for i in range(5)]
    after = cpu.peak_memory(lambda: None)
    assert before is not None and after.baseline_allocated == before + 8000
    assert added(after) == 0 and views


def test_memory_that_the_call_frees_is_gone_after_it(cpu: Cpu) -> None:
    held = [torch.zeros(100_000)]
    peaks = cpu.peak_memory(held.clear)
    assert peaks.baseline_allocated is not None
    assert peaks.peak_allocated == peaks.baseline_allocated
    assert peaks.after_allocated == peaks.baseline_allocated - 400_000


def test_tensors_without_memory_are_passed_over(cpu: Cpu) -> None:
    held = [torch.empty(10**9, device="meta"), torch.eye(3).to_sparse()]
    peaks = cpu.peak_memory(lambda: None)
    assert peaks.baseline_allocated is not None and peaks.baseline_allocated < 4 * 10**9 and held


def test_reserve_is_missing_with_its_reason(cpu: Cpu) -> None:
    peaks = cpu.peak_memory(lambda: None)
    assert peaks.peak_reserved is None and "no reserve" in peaks.missing["peak_reserved"]


def test_the_calls_error_passes_through_and_the_next_call_is_measured(cpu: Cpu) -> None:
    with pytest.raises(ZeroDivisionError):
        cpu.peak_memory(lambda: 1 / 0)
    assert added(cpu.peak_memory(lambda: torch.zeros(1000))) >= 4000


def test_without_a_profiler_the_peak_is_missing_and_the_call_is_made(
    cpu: Cpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.autograd, "kineto_available", lambda: False)
    calls: list[int] = []
    peaks = cpu.peak_memory(lambda: calls.append(1))
    assert peaks.peak_allocated is None and "Kineto" in peaks.missing["peak_allocated"] and calls == [1]
    assert "Kineto" in str(cpu.metric_support()["peak_allocated"])


PROBE = 4099


def event(time: float, address: int, size: int, swapped: bool = False) -> str:
    fields = ['"Total Allocated": 77', f'"Bytes": {size}', f'"Addr": {address}', '"Device Type": 0']
    text = ", ".join(reversed(fields) if swapped else fields)
    return f'{{"ph": "i", "name": "[memory]", "pid": 1,\n "ts": {time}, "args": {{ {text} }}}}'


def trace(path: Path, *events: str) -> Path:
    probe = event(1.0, 9, PROBE), event(2.0, 9, -PROBE)
    path.write_text('{"traceEvents": [' + ",\n".join([*events, *probe]) + "]}")
    return path


def levels(read: Trace) -> list[int]:
    return list(accumulate((step.bytes for step in read.steps), initial=read.baseline))


def test_a_trace_out_of_order_with_old_memory_freed_half_way(tmp_path: Path) -> None:
    freed = '{"name": "dcu_asv_ext.freed#0", "ts": 4.5, "dur": 1, "args": {}}'
    events = (event(5.0, 2, 200, True), event(4.0, 1, 4000), event(6.0, 1, -4000, True))
    assert levels(read_trace(trace(tmp_path / "t", *events, freed), [150], [0])) == [0, 4000, 3850, 4050, 50]


def test_blocks_that_the_profiler_remembers_from_an_earlier_profile_are_not_counted(tmp_path: Path) -> None:
    stale = event(3.0, 5, -(1 << 20))
    events = (stale, event(4.0, 5, 10), event(5.0, 5, -10))
    assert levels(read_trace(trace(tmp_path / "t", *events), [], [])) == [0, 10, 0]


def test_memory_of_an_earlier_measured_call_is_freed_once(cpu: Cpu) -> None:
    held: list[Any] = []
    cpu.peak_memory(lambda: held.append(torch.zeros(100_000)))
    peaks = cpu.peak_memory(held.clear)
    assert peaks.baseline_allocated is not None
    assert peaks.after_allocated == peaks.baseline_allocated - 400_000


def test_a_trace_without_allocations_is_no_measurement(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text('{"traceEvents": [{"name": "aten::mm", "ts": 1, "args": {}}]}')
    with pytest.raises(NotMeasured, match="does not write allocations"):
        read_trace(path, [], [])


def test_a_free_that_the_profiler_did_not_see_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="on a thread that the profiler does not see"):
        read_trace(trace(tmp_path / "t"), [150], [0])


def test_a_synchronous_device_without_streams_or_events(cpu: Cpu) -> None:
    assert not cpu.asynchronous and cpu.name == "cpu" and cpu.torch_device == torch.device("cpu")
    cpu.synchronize()
    cpu.use([0])
    with pytest.raises(ValueError, match="one device"):
        cpu.use([1])
    with cpu.observe() as usage:
        torch.ones(2)
    assert not usage.streams and not usage.devices
    with pytest.raises(NotMeasured, match="no device events"):
        cpu.event_timer(1)
    with pytest.raises(NotMeasured):
        cpu.card_memory()


def test_support_names_a_reason_for_what_is_not_measured(cpu: Cpu) -> None:
    support = cpu.metric_support()
    assert support["peak_allocated"] is None
    assert all(support[name] for name in ("device_time", "peak_reserved", "peak_card"))


def test_errors(cpu: Cpu) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert cpu.error_kind(caught.value) == "out of memory"
    assert cpu.error_kind(RuntimeError("CUDA error: x")) is None


def test_description(cpu: Cpu, tmp_path: Path) -> None:
    told = cpu.describe()
    assert told["kind"] == "cpu" and told["torch"] == torch.__version__
    assert told["threads"] == torch.get_num_threads() and told["cores"] >= 1 and told["total_memory"] > 0
    assert None not in Cpu(torch, tmp_path).describe().values()


def test_what_the_cpu_has_no_counter_for_is_missing_with_a_reason(cpu: Cpu) -> None:
    held = 64 << 20

    def call() -> None:
        torch.empty(held, dtype=torch.uint8)

    peaks = cpu.peak_memory(call)
    assert added(peaks) == held and peaks.after_allocated == peaks.baseline_allocated
    assert sorted(peaks.missing) == [
        "after_reserved",
        "baseline_reserved",
        "ooms",
        "peak_reserved",
        "requested_peak",
        "retries",
        "segments",
    ]
    with pytest.raises(NotMeasured, match="would slow the call that is timed"):
        cpu.start_peaks()


def test_the_clock_is_looked_at_where_the_machine_tells_it(tmp_path: Path) -> None:
    made = Cpu(torch, tmp_path)
    with pytest.raises(NotMeasured, match="no card with memory of its own"):
        made.card_source()
    with pytest.raises(NotMeasured, match="publishes no CPU clock"):
        made.card_arguments()
    folder = tmp_path / "sys/devices/system/cpu/cpufreq/policy0"
    folder.mkdir(parents=True)
    (folder / "scaling_cur_freq").write_text("3400000\n")
    assert made.card_arguments() == ("cpufreq", str(tmp_path))
