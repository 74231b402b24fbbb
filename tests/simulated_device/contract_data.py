"""Where bytes are and when: copies, memory, numbers."""

from __future__ import annotations

import time

import pytest
from contract_support import DEVICE, KERNEL, MIB, MS, api, form, median, milliseconds, multiply, torch

# Copies


def test_a_pinned_copy_on_a_side_stream_is_asynchronous() -> None:
    form.set_cost("copy:htod_ns_per_kb", 20_000)
    host, stream = torch.ones(1024, 256).pin_memory(), api.Stream()
    kept = []

    def work() -> None:
        with api.stream(stream):
            kept.append(host.to(DEVICE, non_blocking=True))

    assert host.is_pinned() and not torch.ones(2).is_pinned()
    assert median(work) < 10
    assert min(milliseconds(work, api.synchronize) for _ in range(3)) >= 20


def test_a_pinned_copy_to_the_host_is_seen_after_the_synchronise_only() -> None:
    form.set_cost("copy:dtoh_ns_per_kb", 50_000)
    device, host = torch.ones(256, 1024, device=DEVICE), torch.zeros(256, 1024).pin_memory()
    api.synchronize()
    host.copy_(device, non_blocking=True)
    time.sleep(0.01)
    assert host.sum() == 0
    api.synchronize()
    assert host.sum() == 256 * 1024


def test_a_pageable_copy_to_the_host_waits() -> None:
    form.set_cost("copy:dtoh_ns_per_kb", 5_000)
    device, host = torch.ones(256, 1024, device=DEVICE), torch.zeros(256, 1024)
    assert milliseconds(lambda: host.copy_(device, non_blocking=True)) >= 5
    assert host.sum() == 256 * 1024


def test_a_pageable_copy_to_the_device_is_staged_before_it_returns() -> None:
    form.sleep_ns(20 * MS)
    host = torch.ones(1024)
    device = host.to(DEVICE, non_blocking=True)
    host.zero_()
    assert device.sum().item() == 1024


def test_the_default_cost_is_of_kernels_not_of_kilobytes() -> None:
    form.set_cost("*", 2 * MS)
    assert median(lambda: torch.ones(256, 1024).to(DEVICE)) < 1024


def test_a_host_scalar_is_read_at_the_launch() -> None:
    ones, scalar = torch.ones(4, device=DEVICE), torch.tensor(2.0)
    ones * scalar  # now its shapes are known, and the next launch is quick
    form.sleep_ns(20 * MS)
    product = ones * scalar
    scalar.fill_(7.0)
    assert product.sum().item() == 8


def test_item_waits() -> None:
    assert min(milliseconds(lambda: multiply().sum().item()) for _ in range(3)) >= KERNEL


# Memory


def test_peaks_and_the_cache() -> None:
    api.empty_cache()
    allocated, reserved = api.memory_allocated(), api.memory_reserved()
    api.reset_peak_memory_stats()
    tensor = torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE)
    del tensor
    assert api.max_memory_allocated() - allocated == 64 * MIB and api.memory_allocated() == allocated
    assert api.memory_reserved() - reserved == 64 * MIB == api.max_memory_reserved() - reserved
    api.empty_cache()
    assert api.memory_reserved() == reserved
    assert api.max_memory_reserved() == reserved + 64 * MIB
    api.reset_peak_memory_stats()
    assert api.max_memory_allocated() == allocated and api.max_memory_reserved() == reserved


def test_small_blocks_are_rounded_and_share_a_segment() -> None:
    api.empty_cache()
    kept = [torch.empty(1, device=DEVICE)]
    reserved, allocated = api.memory_reserved(), api.memory_allocated()
    kept += [torch.empty(129, device=DEVICE) for _ in range(10)]
    assert api.memory_allocated() - allocated == 10 * 1024
    assert api.memory_reserved() == reserved


def test_memory_functions_take_a_device_in_every_spelling() -> None:
    tensor = torch.empty(8 * MIB, dtype=torch.uint8, device=f"{DEVICE}:1")
    for device in (1, f"{DEVICE}:1", torch.device(DEVICE, 1)):
        assert (
            api.memory_allocated(device)
            == tensor.numel()
            == api.memory_stats(device)["allocated_bytes.all.current"]
        )
        assert api.memory_reserved(device) == 20 * MIB == api.max_memory_reserved(device)
        assert api.max_memory_allocated(device) >= tensor.numel()
        assert str(tensor.numel()) in api.memory_summary(device, abbreviated=True)
        free, total = api.mem_get_info(device)
        assert total == 64 << 30 and free == total - 20 * MIB
    del tensor
    api.reset_peak_memory_stats(1)
    assert api.max_memory_allocated(1) == 0
    api.empty_cache()


def test_out_of_memory_and_after() -> None:
    assert api.OutOfMemoryError is torch.OutOfMemoryError
    ooms = api.memory_stats()["num_ooms"]
    form.set_capacity(api.memory_reserved() + 8 * MIB)
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 1073741824 bytes"):
        torch.empty(1 << 30, dtype=torch.uint8, device=DEVICE)
    assert api.memory_stats()["num_ooms"] == ooms + 1
    assert multiply().sum().item() == 512
    form.set_capacity(0)
    assert api.mem_get_info() == (0, 0)


def test_cached_blocks_are_given_back_before_memory_runs_out() -> None:
    api.empty_cache()
    form.set_capacity(api.memory_reserved() + 64 * MIB)
    for size in (40 * MIB, 60 * MIB):
        torch.empty(size, dtype=torch.uint8, device=DEVICE)
    assert api.memory_reserved() <= 64 * MIB + 22 * MIB


def freed_while_a_side_stream_reads(record: bool) -> float:
    """The sum that a side stream, busy until then, reads from a tensor that was freed meanwhile."""
    side = api.Stream()
    tensor = torch.ones(8 * MIB, dtype=torch.float32, device=DEVICE)
    api.synchronize()
    with api.stream(side):
        form.sleep_ns(30 * MS)
        total = tensor.sum()
    if record:
        tensor.record_stream(side)
    del tensor
    torch.zeros(8 * MIB, dtype=torch.float32, device=DEVICE)
    api.synchronize()
    return float(total.item())


def test_record_stream_keeps_a_block_from_being_used_again() -> None:
    assert freed_while_a_side_stream_reads(record=True) == 8 * MIB


def test_a_missing_record_stream_shows() -> None:
    assert freed_while_a_side_stream_reads(record=False) == 0


# Numbers


def test_random_numbers_follow_the_order_of_launches() -> None:
    def draw(by_host: int) -> torch.Tensor:
        torch.manual_seed(3)
        form.sleep_ns(20 * MS)
        first = torch.rand(64, device=DEVICE)
        torch.rand(by_host)
        return torch.cat([first, torch.rand(64, device=DEVICE)])

    draw(0)
    one, other = draw(0), draw(64)
    assert torch.equal(one.cpu(), other.cpu())
    assert not torch.equal(one[:64].cpu(), one[64:].cpu())


def test_generators_of_the_device() -> None:
    one, other = (torch.Generator(device=DEVICE).manual_seed(5) for _ in range(2))
    first = torch.randn(16, device=DEVICE, generator=one).cpu()
    assert one.device.type == DEVICE
    assert torch.equal(first, torch.randn(16, device=DEVICE, generator=other).cpu())
    state = api.get_rng_state()
    before = torch.rand(4, device=DEVICE).cpu()
    api.set_rng_state(state)
    assert torch.equal(before, torch.rand(4, device=DEVICE).cpu())


def test_dropout_draws_from_the_device_s_generator() -> None:
    def draw(by_host: int) -> torch.Tensor:
        torch.manual_seed(3)
        form.sleep_ns(20 * MS)
        kept = torch.nn.functional.dropout(torch.ones(4096, device=DEVICE), 0.25)
        torch.rand(by_host)
        return kept.cpu()

    draw(0)
    one = draw(0)
    assert torch.equal(one, draw(64))
    assert one.unique().tolist() == pytest.approx([0, 4 / 3])
    assert 0.2 < (one == 0).float().mean() < 0.3


def train(device: str) -> list[float]:
    torch.manual_seed(0)
    layers = (torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    model = torch.nn.Sequential(*layers).to(device)
    optimiser = torch.optim.AdamW(model.parameters())
    data = torch.linspace(-1, 1, 2 * 3 * 64).reshape(2, 3, 8, 8).to(device)
    losses = []
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(model(data), torch.tensor([1, 2], device=device))
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    return losses


def test_training_computes_what_the_cpu_computes() -> None:
    assert train(DEVICE) == pytest.approx(train("cpu"), abs=1e-5)


def test_an_out_argument_is_resized_in_stream_order() -> None:
    out = torch.empty(0, device=DEVICE)
    torch.add(torch.ones(1000, device=DEVICE), 1, out=out)
    assert out.shape == (1000,) and out.sum().item() == 2000
    grown = torch.arange(4.0).to(DEVICE).resize_(8)
    assert grown[:4].cpu().tolist() == [0, 1, 2, 3]


def test_computing_can_be_switched_off() -> None:
    form.set_compute(False)
    assert min(milliseconds(multiply, api.synchronize) for _ in range(3)) >= KERNEL
