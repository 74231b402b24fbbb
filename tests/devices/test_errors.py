from __future__ import annotations

from types import SimpleNamespace

import pytest

from dcu_asv_ext.devices.errors import error_kind


class Memory21(RuntimeError):
    pass


class Accelerator(RuntimeError):
    pass


TORCH_21 = SimpleNamespace(cuda=SimpleNamespace(OutOfMemoryError=Memory21))
TORCH_28 = SimpleNamespace(OutOfMemoryError=Memory21, AcceleratorError=Accelerator)


@pytest.mark.parametrize("torch", [TORCH_21, TORCH_28, SimpleNamespace()])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "out of memory"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."),
            "out of memory",
        ),
        (RuntimeError("HIP error: out of memory"), "out of memory"),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), "out of memory"),
        (RuntimeError("HIP error: invalid device function"), "device error"),
        (RuntimeError("CUDA error: device-side assert triggered"), "device error"),
        (RuntimeError("asynchronous error: memory access fault"), "device error"),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), None),
        (ValueError("CUDA error"), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_by_text(torch: object, error: BaseException, kind: str | None) -> None:
    assert error_kind(error, torch) == kind


def test_by_class_in_old_and_new_torch() -> None:
    assert error_kind(Memory21("tried to allocate"), TORCH_21) == "out of memory"
    assert error_kind(Memory21("tried to allocate"), TORCH_28) == "out of memory"
    assert error_kind(Accelerator("something new"), TORCH_28) == "device error"
    assert error_kind(Accelerator("out of memory"), TORCH_28) == "out of memory"
