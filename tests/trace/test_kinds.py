"""What names and categories mean, of every runtime and in every version of Kineto."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.trace import kinds
from dcu_asv_ext.trace.kinds import DIRECTIONS, UNKNOWN


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("hipLaunchKernel", "LaunchKernel"),
        ("cudaLaunchKernel_ptsz", "LaunchKernel"),
        ("hipStreamSynchronize_spt", "StreamSynchronize"),
        ("cuMemcpyHtoDAsync_v2", "MemcpyHtoDAsync"),
        ("cuMemcpyHtoDAsync_v2_ptsz", "MemcpyHtoDAsync"),
        ("hipGetDevicePropertiesR0600", "GetDeviceProperties"),
        ("hipDrvMemcpy3D", "Memcpy3D"),
        ("LaunchKernel", "LaunchKernel"),
        ("", ""),
    ],
)
def test_names_without_runtime_and_version(name: str, plain: str) -> None:
    assert kinds.api(name) == plain


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hipLaunchKernel", kinds.LAUNCH),
        ("hipExtModuleLaunchKernel", kinds.LAUNCH),
        ("hipModuleLaunchKernel", kinds.LAUNCH),
        ("hipGraphLaunch", kinds.LAUNCH),
        ("cudaLaunchKernelExC", kinds.LAUNCH),
        ("cuLaunchKernel", kinds.LAUNCH),
        ("hipLaunchHostFunc", kinds.OTHER),
        ("__hipPushCallConfiguration", kinds.OTHER),
        ("cudaLaunchConfigure", kinds.OTHER),
        ("hipMemcpyWithStream", kinds.COPY_CALL),
        ("hipMemcpyAsync", kinds.COPY_CALL),
        ("hipDrvMemcpy3DAsync", kinds.COPY_CALL),
        ("cudaMemsetAsync", kinds.FILL_CALL),
        ("hipDeviceSynchronize", kinds.SYNC),
        ("cuCtxSynchronize", kinds.SYNC),
        ("hipEventSynchronize", kinds.SYNC),
        ("hipMalloc", kinds.ALLOCATE),
        ("cudaMallocAsync", kinds.ALLOCATE),
        ("hipHostMalloc", kinds.ALLOCATE),
        ("cudaHostAlloc", kinds.ALLOCATE),
        ("hipExtMallocWithFlags", kinds.ALLOCATE),
        ("cuMemCreate", kinds.ALLOCATE),
        ("hipFree", kinds.FREE),
        ("hipHostFree", kinds.FREE),
        ("cuMemUnmap", kinds.FREE),
        ("hipStreamWaitEvent", kinds.WAIT_EVENT),
        ("hipEventRecord", kinds.RECORD_EVENT),
        ("cudaEventRecordWithFlags", kinds.RECORD_EVENT),
        ("hipEventQuery", kinds.QUERY),
        ("cudaStreamQuery", kinds.QUERY),
        ("hipGetDevicePropertiesR0600", kinds.OTHER),
        ("hipStreamGetDevice", kinds.OTHER),
    ],
)
def test_what_a_call_does(name: str, kind: int) -> None:
    assert kinds.call_kind(name) == kind


@pytest.mark.parametrize(
    ("name", "kind", "direction"),
    [
        ("Memcpy HtoD (Host -> Device)", "HtoD", "HtoD"),
        ("Memcpy DtoH (Device -> Pinned)", None, "DtoH"),
        ("Memcpy HtoD (Pageable -> Device)", None, "HtoD"),
        ("Memcpy DtoD (Device -> Device)", "?", "DtoD"),
        ("Memcpy PtoP (Device -> Device)", None, "PtoP"),
        ("Memcpy ? (? -> ?)", None, "unknown"),
        ("Memcpy ? (? -> ?)", 0x11F3, "DtoH"),
        ("Memcpy ? (? -> ?)", 0x11F4, "HtoD"),
        ("Memcpy ? (? -> ?)", "0x11f5", "DtoD"),
        ("Memcpy ? (? -> ?)", "4596", "HtoD"),
        ("CopyHostToDevice", None, "HtoD"),
        ("CopyDeviceToHost", None, "DtoH"),
        ("copyDeviceToDevice", None, "DtoD"),
        ("HostToHost", None, "HtoH"),
        ("Memcpy HtoA (Host -> Array)", None, "unknown"),
        ("something", ["x"], "unknown"),
    ],
)
def test_direction_of_a_copy(name: str, kind: Any, direction: str) -> None:
    assert DIRECTIONS[kinds.direction(name, kind)] == direction


@pytest.mark.parametrize(
    ("kind", "direction"),
    [
        ("0", "HtoH"),
        ("1", "HtoD"),
        (2, "DtoH"),
        ("3", "DtoD"),
        ("4", "unknown"),
        (None, "unknown"),
        ([], "unknown"),
    ],
)
def test_direction_that_a_call_was_told(kind: Any, direction: str) -> None:
    assert DIRECTIONS[kinds.api_direction(kind)] == direction
    assert DIRECTIONS[UNKNOWN] == "unknown"


@pytest.mark.parametrize(
    ("name", "copies", "either"),
    [
        ("__amd_rocclr_copyBuffer", True, True),
        ("__amd_rocclr_copyBufferAligned", True, True),
        ("copyBufferRect", True, True),
        ("__amd_rocclr_fillBufferAligned", False, True),
        ("fillBuffer", False, True),
        ("void at::native::direct_copy_kernel_cuda", False, False),
        ("my_copyBuffer", False, False),
    ],
)
def test_kernels_of_the_runtime(name: str, copies: bool, either: bool) -> None:
    assert (kinds.copies_by_kernel(name), kinds.copies_as_kernel(name)) == (copies, either)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        ("3", 3),
        ("0x10", 16),
        (4.0, 4),
        (4.5, None),
        ("4.5", None),
        (None, None),
        ([], None),
        ("", None),
    ],
)
def test_whole_numbers(value: Any, number: int | None) -> None:
    assert kinds.whole(value) == number


def test_graphs_are_known() -> None:
    assert kinds.launches_graph("hipGraphLaunch") and kinds.launches_graph("cudaGraphLaunch_ptsz")
    assert not kinds.launches_graph("hipLaunchKernel") and not kinds.launches_graph("hipGraphInstantiate")
