"""NVIDIA cards through libnvidia-ml. Types and numbers: NVIDIA's NVML API reference.

Loads a library: only for a process of its own (see `sampler`).
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from ..base import NotMeasured
from .libraries import Calls, load
from .processes import Process
from .source import Reading
from .sysfs import sensible_clock, sensible_memory, sensible_power, sensible_temperature

_LIBRARY = "libnvidia-ml.so.1"
_FOLDERS = ("usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib")
_SM, _MEMORY = 1, 2
_NOT_TOLD = 2**64 - 1

#: nvmlClocksEventReason*. An idle card (0x1) and clocks that somebody set (0x2, 0x100) are no throttling.
_REASONS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _Utilization(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in ("gpu", "memory")]


class _Process(ctypes.Structure):
    """nvmlProcessInfo_v2_t; the layout behind the newest name changed between drivers, this one's did not."""

    _fields_ = [
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class Nvml:
    """The card at a PCI address. Raises NotMeasured."""

    name = "NVML"
    interval = 0.01

    def __init__(self, address: str, root: Path = Path("/")) -> None:
        self.arguments: tuple[str, ...] = ("nvml", address, str(root))
        self._calls = Calls(load(_LIBRARY, _FOLDERS, root))
        if not self._calls.succeeds("nvmlInit_v2"):
            raise NotMeasured("NVML does not start (no NVIDIA driver, or one of another version)")
        handle = self._calls.value(
            "nvmlDeviceGetHandleByPciBusId_v2", ctypes.c_void_p, ctypes.c_char_p(address.encode())
        )
        if handle is None:
            raise NotMeasured(f"NVML knows no card {address}")
        self._handle = ctypes.c_void_p(handle)

    def read(self) -> Reading:
        value, handle = self._calls.value, self._handle
        memory = value("nvmlDeviceGetMemoryInfo", _Memory, handle)
        used, total = sensible_memory(*((None, None) if memory is None else (memory.used, memory.total)))
        busy = value("nvmlDeviceGetUtilizationRates", _Utilization, handle)
        state = value("nvmlDeviceGetPerformanceState", ctypes.c_int, handle)
        return Reading(
            used_bytes=used,
            total_bytes=total,
            core_clock_mhz=sensible_clock(self._clock(_SM), 1),
            memory_clock_mhz=sensible_clock(self._clock(_MEMORY), 1),
            power_w=sensible_power(value("nvmlDeviceGetPowerUsage", ctypes.c_uint, handle), 1e3),
            temperature_c=sensible_temperature(
                value("nvmlDeviceGetTemperature", ctypes.c_uint, handle, ctypes.c_uint(0)), 1
            ),
            utilization=busy.gpu / 100 if busy is not None and busy.gpu <= 100 else None,
            performance_level=f"P{state}" if state is not None and 0 <= state <= 15 else None,
            throttle=self._throttle(),
        )

    def _clock(self, kind: int) -> int | None:
        found = self._calls.value("nvmlDeviceGetClockInfo", ctypes.c_uint, self._handle, ctypes.c_uint(kind))
        return None if found is None else int(found)

    def _throttle(self) -> tuple[str, ...] | None:
        # The second is the same under its name before driver 535.
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            bits = self._calls.value(name, ctypes.c_ulonglong, self._handle)
            if bits is not None:
                return tuple(words for bit, words in _REASONS.items() if bits & bit)
        return None

    def processes(self) -> list[Process] | None:
        """Those with compute contexts on the card, None where the driver does not tell."""
        name = "nvmlDeviceGetComputeRunningProcesses_v2"
        for room in (64, 4096):
            count, found = ctypes.c_uint(room), (_Process * room)()
            if self._calls.succeeds(name, self._handle, ctypes.byref(count), found):
                return [Process(one.pid, _bytes(one.used)) for one in found[: count.value]]
        return None


def _bytes(told: int) -> int | None:
    return None if told == _NOT_TOLD else int(told)
