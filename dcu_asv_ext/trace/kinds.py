"""What the names and categories of a trace's rows mean, on every runtime and in every version of Kineto."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

KERNEL, COPY, FILL = 0, 1, 2
#: Category, lower-case -> kind of device row. The short ones are those of Kineto before 2022.
DEVICE_KINDS = {
    "kernel": KERNEL,
    "gpu_memcpy": COPY,
    "memcpy": COPY,
    "gpu_memset": FILL,
    "memset": FILL,
}

#: What a call of the device's runtime does, as far as it matters here.
OTHER, LAUNCH, COPY_CALL, FILL_CALL, SYNC, ALLOCATE, FREE, WAIT_EVENT, RECORD_EVENT, QUERY = range(10)

DIRECTIONS = ("HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "unknown")
UNKNOWN = DIRECTIONS.index("unknown")

#: hipMemcpyKind and cudaMemcpyKind.
_API_DIRECTIONS = {"0": "HtoH", "1": "HtoD", "2": "DtoH", "3": "DtoD"}
#: Record types that DTK's tracer puts into `kind`.
_DTK_DIRECTIONS = {0x11F3: "DtoH", 0x11F4: "HtoD", 0x11F5: "DtoD"}
_IN_NAME = re.compile(r"\b([HDPA])to([HDPA])\b")
_IN_WORDS = re.compile(r"Copy(Host|Device)To(Host|Device)|(Host|Device)To(Host|Device)", re.IGNORECASE)

#: Copies and fills that ROCm's runtime makes with kernels of its own, and newer Kineto writes as kernels.
_RUNTIME_KERNEL = re.compile(r"(__amd_rocclr_)?(copy|fill)(Buffer|Image)", re.IGNORECASE)

#: Kernels of NCCL, RCCL and their like, and vLLM's own.
_COLLECTIVE = re.compile(r"(void )?(n|r|ms|d|h|one)ccl|(void )?(\w+::)*cross_device_reduce", re.IGNORECASE)

_PREFIX = re.compile(r"^[a-z]+(?=[A-Z])(Drv(?=[A-Z]))?")
_VERSION = re.compile(r"(_ptsz|_ptds|_spt|_v\d+|R\d{4})+$")


@lru_cache(maxsize=4096)
def api(name: str) -> str:
    """A call's name without runtime and version: hipLaunchKernel and cudaLaunchKernel are `LaunchKernel`."""
    return _VERSION.sub("", _PREFIX.sub("", name, count=1))


@lru_cache(maxsize=4096)
def call_kind(name: str) -> int:
    """OTHER, LAUNCH, ... of a call of the runtime."""
    plain = api(name)
    if "Launch" in plain and "Config" not in plain and "HostFunc" not in plain:
        return LAUNCH
    if plain.endswith("Synchronize"):
        return SYNC
    if plain.startswith("Memcpy"):
        return COPY_CALL
    if plain.startswith("Memset"):
        return FILL_CALL
    if re.match(r"(Mem)?(Ext)?(Host|Pitch|Managed)?(Malloc|Alloc)|MemCreate|MemMap|HostRegister", plain):
        return ALLOCATE
    if re.match(r"(Mem)?(Host)?Free|MemUnmap|MemRelease|HostUnregister", plain):
        return FREE
    if plain == "StreamWaitEvent":
        return WAIT_EVENT
    if plain.startswith("EventRecord"):
        return RECORD_EVENT
    if plain in ("EventQuery", "StreamQuery"):
        return QUERY
    return OTHER


@lru_cache(maxsize=4096)
def launches_graph(name: str) -> bool:
    """A launch of many rows at once."""
    return api(name).startswith("GraphLaunch")


@lru_cache(maxsize=4096)
def blocks_by_itself(name: str) -> bool:
    """A copy that returns only when it is done: hipMemcpyWithStream, and copies without a stream."""
    plain = api(name)
    return plain == "MemcpyWithStream" or (plain.startswith("Memcpy") and "Async" not in plain)


@lru_cache(maxsize=4096)
def sync_kind(name: str) -> str:
    """ "device", "stream", "event", or "copy" for a copy that blocks."""
    plain = api(name)
    if plain.startswith("Memcpy"):
        return "copy"
    if plain.startswith("Stream"):
        return "stream"
    return "event" if plain.startswith("Event") else "device"


def direction(name: str, kind: Any) -> int:
    """Index into DIRECTIONS of a copy row, from its `kind` argument or its name."""
    if isinstance(kind, str) and kind in DIRECTIONS:
        return DIRECTIONS.index(kind)
    found = _IN_NAME.search(name)
    if found is not None and "".join((found[1], "to", found[2])) in DIRECTIONS:
        return DIRECTIONS.index(found[0])
    words = _IN_WORDS.search(name)
    if words is not None:
        source, target = [one for one in words.groups() if one is not None]
        return DIRECTIONS.index(f"{source[0].upper()}to{target[0].upper()}")
    number = whole(kind)
    return DIRECTIONS.index(_DTK_DIRECTIONS[number]) if number in _DTK_DIRECTIONS else UNKNOWN


def api_direction(kind: Any) -> int:
    """Index into DIRECTIONS of the `kind` argument of a copying call."""
    return DIRECTIONS.index(_API_DIRECTIONS.get(str(kind), "unknown"))


def copies_as_kernel(name: str) -> bool:
    """A kernel of the runtime's own that copies or fills memory."""
    return _RUNTIME_KERNEL.match(name) is not None


def copies_by_kernel(name: str) -> bool:
    """Of those, one that copies."""
    found = _RUNTIME_KERNEL.match(name)
    return found is not None and found[2].lower() == "copy"


def is_collective(name: str) -> bool:
    """A kernel by which the devices of a distributed run exchange data."""
    return _COLLECTIVE.match(name) is not None


def whole(value: Any) -> int | None:
    """A whole number, also one written as text in any base; None where it is none."""
    if type(value) is int:
        return value
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None
