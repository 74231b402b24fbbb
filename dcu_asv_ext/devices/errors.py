"""Which errors of a call are the device's, and of what kind."""

from __future__ import annotations

from typing import Any

OUT_OF_MEMORY = "out of memory"
DEVICE_ERROR = "device error"

# torch's allocators and its BLAS handles say it in these words; "HIP error: out of memory" is no device fault.
_MEMORY_TEXTS = (
    "out of memory",
    "can't allocate memory",
    "defaultcpuallocator: not enough memory",
    "hiperroroutofmemory",
    "cudaerrormemoryallocation",
    "status_alloc_failed",
)
_DEVICE_TEXTS = (
    "hip error",
    "cuda error",
    "hiperror",
    "cudaerror",
    "device-side assert",
    "asynchronous error",
    "asynchronously reported",
    "illegal memory access",
    "memory access fault",
    "unspecified launch failure",
)


def error_kind(error: BaseException, torch: Any) -> str | None:
    """ "out of memory", "device error", or None. `torch` may be any version: missing classes are skipped."""
    if isinstance(error, (MemoryError, *_classes(torch, "OutOfMemoryError"))):
        return OUT_OF_MEMORY
    if not isinstance(error, RuntimeError):
        return None
    text = str(error).lower()
    if any(part in text for part in _MEMORY_TEXTS):
        return OUT_OF_MEMORY
    if isinstance(error, _classes(torch, "AcceleratorError")) or any(part in text for part in _DEVICE_TEXTS):
        return DEVICE_ERROR
    return None


def _classes(torch: Any, name: str) -> tuple[type[BaseException], ...]:
    # torch 2.1 has torch.cuda.OutOfMemoryError alone; later ones have both names for one class.
    places = (torch, getattr(torch, "cuda", None))
    found = (getattr(place, name, None) for place in places)
    return tuple(kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseException))
