"""What goes wrong and how it is told; several devices."""

from __future__ import annotations

import os

import pytest
from contract_support import DEVICE, KERNEL, MIB, api, form, median, milliseconds, multiply, reject, torch

# Errors


def test_an_asynchronous_error_surfaces_at_the_synchronise_and_once() -> None:
    form.fail("memory access fault")
    with pytest.raises(torch.AcceleratorError, match="asynchronous error: memory access fault"):
        api.synchronize()
    api.synchronize()
    assert multiply().sum().item() == 512


def test_an_asynchronous_error_surfaces_at_a_blocking_copy() -> None:
    form.fail("bad kernel")
    with reject("bad kernel"):
        torch.ones(2, device=DEVICE).cpu()


def test_wrong_arguments_raise_at_the_call() -> None:
    with reject("shape|size"):
        torch.ones(2, 3, device=DEVICE) @ torch.ones(2, 3, device=DEVICE)


def test_a_forked_child_is_told() -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            multiply()
            said = "nothing"
        except RuntimeError as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert "forked subprocess" in os.read(read, 4096).decode()


# Several devices


def test_each_device_has_its_own_memory_and_streams() -> None:
    assert api.device_count() == 2
    before = api.memory_allocated(0)
    tensor = torch.empty(MIB, dtype=torch.uint8, device=f"{DEVICE}:1")
    assert api.memory_allocated(0) == before and api.memory_allocated(1) >= tensor.numel()
    assert api.current_stream(1).device_index == 1 and api.current_stream(0).device_index == 0


def test_synchronise_waits_for_the_device_that_is_named() -> None:
    def work() -> None:
        for _ in range(5):
            multiply(f"{DEVICE}:1")

    assert median(work, lambda: api.synchronize(0)) < 2.5 * KERNEL
    for device in (1, f"{DEVICE}:1", torch.device(DEVICE, 1)):
        assert milliseconds(work, lambda device=device: api.synchronize(device)) >= 5 * KERNEL


def test_an_op_leaves_the_current_device_alone() -> None:
    multiply(f"{DEVICE}:1")
    assert api.current_device() == 0
    with api.device(1):
        assert torch.ones(2, device=DEVICE).device.index == 1
    assert api.current_device() == 0


def test_devices_do_not_mix() -> None:
    one, other = torch.ones(2, device=f"{DEVICE}:0"), torch.ones(2, device=f"{DEVICE}:1")
    with reject("same device"):
        one + other
    assert (one + other.to(one.device)).sum().item() == 4


def test_a_device_that_is_not_there_is_refused() -> None:
    with reject("invalid device ordinal 5"):
        torch.empty(2, device=f"{DEVICE}:5")
    with reject("invalid device ordinal 2"):
        api.set_device(2)
