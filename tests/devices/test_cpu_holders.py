from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices import NotMeasured, cpu_holders, operators
from dcu_asv_ext.devices.cpu import Cpu
from dcu_asv_ext.devices.cpu_holders import changes_of
from dcu_asv_ext.devices.cpu_levels import levels_of
from dcu_asv_ext.devices.cpu_trace import Mark, Step, Trace
from dcu_asv_ext.devices.holders import NO_LINE, Holder, Holders
from dcu_asv_ext.devices.operators import Operator

torch = pytest.importorskip("torch")
HERE = Path(__file__).name


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Cpu:
    # Other tests of this process may have compiled something.
    monkeypatch.setattr(cpu_holders, "compiles", lambda: False)
    return Cpu(torch)


def line(mark: str) -> str:
    lines = Path(__file__).read_text().splitlines()
    return f"{HERE}:{next(n for n, text in enumerate(lines, 1) if text.endswith(f'# {mark}'))}"


def at(holder: Holder) -> str:
    return holder.where.split("/")[-1].split(" ")[0]


def lines_of(found: Holders, least: int = 1000) -> dict[str, int]:
    return {at(one): one.bytes for one in found.holders if one.bytes >= least}


def test_a_tensor_alive_only_inside_the_call(cpu: Cpu) -> None:
    def call() -> None:
        torch.empty(64 << 20, dtype=torch.uint8)  # inside

    found = cpu.alive_at_peak(call)
    (holder,) = found.holders
    assert (holder.bytes, holder.count, at(holder)) == (64 << 20, 1, line("inside"))
    assert holder.where.endswith(" in call") and holder.what == "aten::empty uint8[67108864]"
    assert found.bytes == cpu.peak_memory(call).peak_allocated
    assert found.bytes - found.before_call == 64 << 20 and found.rest == found.unexplained == 0
    assert not found.kept


def test_a_chain_whose_peak_is_in_the_middle(cpu: Cpu) -> None:
    x = torch.zeros(1000, 1000)

    def chain() -> Any:
        y = x + 1
        y = y[:500] * 2  # half
        pair = torch.cat([y, y, y])  # peak
        del y
        return pair[:10].clone()

    chain()
    found = cpu.alive_at_peak(chain)
    assert lines_of(found) == {line("half"): 2_000_000, line("peak"): 6_000_000}
    assert found.bytes == cpu.peak_memory(chain).peak_allocated


def test_a_backward_pass_names_its_operators_and_the_line_that_called_it(cpu: Cpu) -> None:
    x = torch.zeros(500, 500, requires_grad=True)

    def step() -> None:
        x.grad = None
        loss = x.exp().sum()  # forward
        loss.backward()  # backward

    step()
    found = cpu.alive_at_peak(step)
    assert lines_of(found) == {line("forward"): 1_000_000, line("backward"): 1_000_000}
    what = {at(one): one.what for one in found.holders if one.bytes >= 1000}
    assert what[line("backward")] == "ExpBackward0: aten::mul float32[500, 500]"


def test_scratch_memory_of_a_library_belongs_to_its_operator(cpu: Cpu) -> None:
    image, kernel = torch.randn(4, 16, 32, 32), torch.randn(32, 16, 3, 3)

    def convolve() -> None:
        with torch.no_grad():
            torch.nn.functional.conv2d(image, kernel, padding=1)

    convolve()
    found = cpu.alive_at_peak(convolve)
    assert {one.what.split(" ")[0] for one in found.holders} == {"aten::convolution"}
    assert found.unexplained == 0 and found.bytes == cpu.peak_memory(convolve).peak_allocated


def test_memory_that_is_filled_before_its_first_operator(cpu: Cpu) -> None:
    def call() -> Any:
        return torch.tensor([1.0] * 1000)  # filled

    call()
    assert lines_of(cpu.alive_at_peak(call)) == {line("filled"): 4000}


def test_the_largest_from_before_are_named_by_shape(cpu: Cpu) -> None:
    held = torch.zeros(3000, 1000)
    found = cpu.alive_at_peak(lambda: None)
    assert found.earlier[0] == Holder(12_000_000, 1, "alive before the call", "float32[3000, 1000]")
    assert found.bytes == found.before_call >= held.untyped_storage().nbytes()


def test_what_is_kept(cpu: Cpu) -> None:
    kept: list[Any] = []
    found = cpu.alive_at_peak(lambda: kept.append(torch.zeros(256)))
    assert [(one.bytes, one.what) for one in found.kept] == [(1024, "aten::zeros float32[256]")]


def test_an_error_of_the_call_passes_through_and_the_next_call_is_watched(cpu: Cpu) -> None:
    with pytest.raises(ZeroDivisionError):
        cpu.alive_at_peak(lambda: 1 / 0)
    assert cpu.alive_at_peak(lambda: torch.zeros(1000)).holders[0].bytes == 4000


def test_compiled_code_is_not_run_under_a_dispatch_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_holders, "compiles", lambda: True)
    calls: list[int] = []
    with pytest.raises(NotMeasured, match=r"torch\.compile"):
        Cpu(torch).alive_at_peak(lambda: calls.append(1))
    assert calls == []


def test_a_call_of_too_many_operators_is_made_and_not_told(cpu: Cpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "MOST_OPERATORS", 10)
    x = torch.zeros(1)
    with pytest.raises(NotMeasured, match="more than 10 operators"):
        cpu.alive_at_peak(lambda: [x.add_(1) for _ in range(11)])
    assert float(x) == 11
    assert cpu.alive_at_peak(lambda: [x.add_(1) for _ in range(10)]).unexplained == 0


def test_allocations_belong_to_the_mark_that_they_lie_in() -> None:
    ran = [
        Operator("a.py:1 in f", "aten::mm", {10: "f32[2]"}),
        Operator("a.py:2 in f", "aten::lift_fresh", {30: "f32[4]"}),
    ]
    steps = [
        Step(1.0, 100, 10),  # inside the first, its result
        Step(1.5, 50, 20),  # inside, scratch
        Step(2.0, -50, 20),
        Step(2.5, 7, 40),  # between, and nobody's
        Step(2.6, 16, 30),  # between, and handed out by the second
        Step(2.7, -5, None),
    ]
    changes = changes_of(Trace(0, steps, {0: Mark(1.0, 2.0), 1: Mark(3.0, 4.0)}), ran)
    told = [(c.bytes, c.block and (c.block.where, c.block.operator, c.block.result)) for c in changes]
    mm = ("a.py:1 in f", "aten::mm")
    assert told == [
        (100, (*mm, "f32[2]")),
        (50, (*mm, "scratch")),
        (-50, (*mm, "scratch")),
        (7, (NO_LINE, "", "")),
        (16, ("a.py:2 in f", "aten::lift_fresh", "f32[4]")),
        (-5, None),
    ]
    assert changes[1].block is changes[2].block


def test_an_operator_whose_mark_the_profiler_lost() -> None:
    ran = [Operator("a.py:1 in f", "aten::mm"), Operator("a.py:2 in f", "aten::add")]
    (change,) = changes_of(Trace(0, [Step(3.5, 8, 1)], {1: Mark(3.0, 4.0)}), ran)
    assert change.block is not None and change.block.where == "a.py:2 in f"


def test_levels_after_each_call_peaks_and_collected_garbage() -> None:
    steps = [
        Step(0.5, 1, 9),  # between the start and the first call
        Step(1.1, 100, 10),
        Step(1.2, 50, 20),
        Step(1.3, -50, 20),
        Step(2.5, -100, 10),  # garbage, collected between the calls
        Step(3.1, 30, 30),
        Step(4.5, -1, None),
    ]
    levels = levels_of(Trace(1000, steps, {0: Mark(1.0, 2.0), 1: Mark(3.0, 4.0)}), 2)
    assert levels.allocated == [1001, 1030] and levels.peak == [1151, 1031]
    assert levels.collected == 101 and levels.reserved == []


def test_levels_of_a_leak_of_a_cycle_and_of_a_graph_that_only_c_plus_plus_holds(cpu: Cpu) -> None:
    kept: list[Any] = []
    total = torch.zeros(1, requires_grad=True)
    x = torch.zeros(100, requires_grad=True)

    class Cyclic:
        def __init__(self) -> None:
            self.itself, self.tensor = self, torch.zeros(500)

    def call() -> None:
        nonlocal total
        kept.append(torch.zeros(256))
        total = total + x.exp().sum()
        Cyclic()

    frozen = gc.get_freeze_count()
    levels = cpu.memory_levels(call, 20)
    steps = {b - a for a, b in zip(levels.allocated[1:], levels.allocated[2:], strict=False)}
    assert len(levels.allocated) == 20 and steps == {1024 + 400}
    assert levels.collected == 20 * 2000 and not levels.full
    assert gc.get_freeze_count() == frozen


def test_calls_that_keep_more_than_there_is_room_for_end_early(
    cpu: Cpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcu_asv_ext.devices.cpu_levels._free_memory", lambda: 400_000)
    kept: list[Any] = []
    levels = cpu.memory_levels(lambda: kept.append(torch.zeros(250)), 500)
    assert levels.full and len(levels.allocated) == 100


def test_a_trace_that_would_be_too_large_is_cut_short(cpu: Cpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcu_asv_ext.devices.cpu_levels._MOST_TRACE", 1)
    levels = cpu.memory_levels(lambda: torch.zeros(250), 500)
    assert len(levels.allocated) == 1 and not levels.full
