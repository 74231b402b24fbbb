"""DCU and AMD cards through librocm_smi64. Types and numbers: rocm_smi.h of ROCm and of the DCU vendor.

Loads a library: only for a process of its own (see `sampler`).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

from ..base import NotMeasured
from .libraries import Calls, load
from .source import Reading
from .sysfs import sensible_clock, sensible_memory, sensible_power, sensible_temperature

_LIBRARY = "librocm_smi64.so"
_FOLDERS = (
    "opt/hyhal/lib",
    "usr/local/hyhal/lib",
    "opt/dtk/.hyhal/rocm_smi/lib",
    "opt/rocm/lib",
    "opt/rocm/rocm_smi/lib",
)
_VRAM = 0
_SENSORS = range(3)  # edge, junction, memory
_SYSTEM_CLOCK, _MEMORY_CLOCK = 0, 4
_MOST_FREQUENCIES = 33
_LEVELS = (
    "auto",
    "low",
    "high",
    "manual",
    "stable_std",
    "stable_peak",
    "stable_min_mclk",
    "stable_min_sclk",
    "determinism",
)


class RocmSmi:
    """The card at a PCI address, found among all by its address: the library counts cards in its own order.

    Raises NotMeasured.
    """

    name = "ROCm SMI library"
    interval = 0.01

    def __init__(
        self, address: str, root: Path = Path("/"), environ: Mapping[str, str] | None = None
    ) -> None:
        self.arguments: tuple[str, ...] = ("rsmi", address, str(root))
        environ = os.environ if environ is None else environ
        given = [environ[name].lstrip("/") for name in ("HYHAL_PATH", "ROCM_PATH") if environ.get(name)]
        folders = [f"{folder}/{place}" for folder in given for place in ("lib", "rocm_smi/lib")]
        self._calls = Calls(load(_LIBRARY, [*folders, *_FOLDERS], root))
        if not self._calls.succeeds("rsmi_init", ctypes.c_uint64(0)):
            raise NotMeasured("the ROCm SMI library does not start (no driver, or no right to use it)")
        self._card = ctypes.c_uint32(self._find(address))

    def _find(self, address: str) -> int:
        count = self._calls.value("rsmi_num_monitor_devices", ctypes.c_uint32) or 0
        for number in range(count):
            told = self._calls.value("rsmi_dev_pci_id_get", ctypes.c_uint64, ctypes.c_uint32(number))
            if told is not None and _address(told) == address.lower():
                return number
        raise NotMeasured(f"the ROCm SMI library sees {count} cards, and none at {address}")

    def read(self) -> Reading:
        value, card = self._calls.value, self._card
        kind = ctypes.c_int(_VRAM)
        used, total = sensible_memory(
            value("rsmi_dev_memory_usage_get", ctypes.c_uint64, card, kind),
            value("rsmi_dev_memory_total_get", ctypes.c_uint64, card, kind),
        )
        busy = value("rsmi_dev_busy_percent_get", ctypes.c_uint32, card)
        level = value("rsmi_dev_perf_level_get", ctypes.c_int, card)
        power = value("rsmi_dev_power_ave_get", ctypes.c_uint64, card, ctypes.c_uint32(0))
        return Reading(
            used_bytes=used,
            total_bytes=total,
            core_clock_mhz=self._clock(_SYSTEM_CLOCK),
            memory_clock_mhz=self._clock(_MEMORY_CLOCK),
            power_w=sensible_power(power, 1e6),
            temperature_c=self._temperature(),
            utilization=busy / 100 if busy is not None and busy <= 100 else None,
            performance_level=_LEVELS[level] if level is not None and 0 <= level < len(_LEVELS) else None,
        )

    def _temperature(self) -> float | None:
        for sensor in _SENSORS:
            told = self._calls.value(
                "rsmi_dev_temp_metric_get",
                ctypes.c_int64,
                self._card,
                ctypes.c_uint32(sensor),
                ctypes.c_int(0),
            )
            found = sensible_temperature(told, 1e3)
            if found is not None:
                return found
        return None

    def _clock(self, kind: int) -> float | None:
        told = ctypes.create_string_buffer(1024)
        if not self._calls.succeeds("rsmi_dev_gpu_clk_freq_get", self._card, ctypes.c_int(kind), told):
            return None
        return current_frequency(told.raw)


def current_frequency(told: bytes) -> float | None:
    """MHz from an rsmi_frequencies_t, which newer releases begin with a flag of its own.

    A layout is believed where its count, its index and the frequency there can be true; no content fits both.
    """
    for flag, first in ((0, 8), (4, 16)):
        count, current = (int.from_bytes(told[flag + at : flag + at + 4], "little") for at in (0, 4))
        if 0 < count <= _MOST_FREQUENCIES and current < count:
            place = first + 8 * current
            return sensible_clock(int.from_bytes(told[place : place + 8], "little"), 1e6)
    return None


def _address(told: int) -> str:
    """Domain in the upper half, then bus, device and function; bits 28 to 31 may hold a partition."""
    return f"{told >> 32:04x}:{told >> 8 & 0xFF:02x}:{told >> 3 & 0x1F:02x}.{told & 7}"
