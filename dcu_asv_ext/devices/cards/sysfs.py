"""Readings from the files that drivers publish: a card's under its PCI address, and the CPU's clock.

Plain file reads, so any process may do them. Layout: the amdgpu driver's documentation; on DCUs the same names under
`hycu`, as public monitoring tools read them.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..base import NotMeasured
from .source import Reading

_POWER = ("power1_average", "power1_input")
_SENSORS = ("temp1_input", "freq1_input", "freq2_input", *_POWER)
#: What can be true, in the unit of the reading.
_TEMPERATURES = (-50.0, 150.0)
_MOST_WATTS = 3000.0
_MOST_MHZ = 20_000.0
_LIMITS_CHANGED = "the driver's history of frequency limits changed"


class SysfsCard:
    """The card at a PCI address ("0000:09:00.0"). Raises NotMeasured where its driver publishes nothing.

    throttle: the vendor's `pp_gfx_limit_info` is text of its own making, so only that it has changed since the last
    look is told.
    """

    name = "sysfs"
    interval = 0.005

    def __init__(self, address: str, root: Path = Path("/")) -> None:
        self.arguments: tuple[str, ...] = ("sysfs", address, str(root))
        folder = root / "sys/bus/pci/devices" / address.lower()
        if not folder.is_dir():
            raise NotMeasured(f"no PCI device {address} in sysfs")
        self._folder = str(folder)
        monitors = sorted(folder.glob("hwmon/hwmon*"))
        self._monitor = next(
            (str(one) for one in monitors if any((one / name).exists() for name in _SENSORS)), None
        )
        self._limits: str | None = None
        if not answers(self.read()):
            raise NotMeasured(f"the driver of {address} publishes neither memory nor sensors in sysfs")

    def read(self) -> Reading:
        used, total = sensible_memory(self._number("mem_info_vram_used"), self._number("mem_info_vram_total"))
        power = next((value for name in _POWER if (value := self._sensor(name)) is not None), None)
        busy = self._number("gpu_busy_percent")
        return Reading(
            used_bytes=used,
            total_bytes=total,
            core_clock_mhz=sensible_clock(self._sensor("freq1_input"), 1e6),
            memory_clock_mhz=sensible_clock(self._sensor("freq2_input"), 1e6),
            power_w=sensible_power(power, 1e6),
            temperature_c=sensible_temperature(self._sensor("temp1_input"), 1e3),
            utilization=busy / 100 if busy is not None and 0 <= busy <= 100 else None,
            performance_level=_text(f"{self._folder}/power_dpm_force_performance_level"),
            throttle=self._throttle(),
        )

    def _number(self, name: str) -> int | None:
        return _integer(f"{self._folder}/{name}")

    def _sensor(self, name: str) -> int | None:
        return None if self._monitor is None else _integer(f"{self._monitor}/{name}")

    def _throttle(self) -> tuple[str, ...] | None:
        before, self._limits = self._limits, _text(f"{self._folder}/pp_gfx_limit_info")
        if self._limits is None:
            return None
        return (_LIMITS_CHANGED,) if before is not None and before != self._limits else ()


class CpuClock:
    """The highest clock among the cores that this process may use, which is a busy one's. Raises NotMeasured.

    Idle cores report their resting clock, so a mean would follow the number of idle cores.
    """

    name = "cpufreq"
    # On some kernels each look interrupts the cores that it asks.
    interval = 0.25

    def __init__(self, root: Path = Path("/")) -> None:
        self.arguments: tuple[str, ...] = ("cpufreq", str(root))
        policies = sorted((root / "sys/devices/system/cpu/cpufreq").glob("policy[0-9]*"))
        usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._files = [str(one / "scaling_cur_freq") for one in policies if _covers(one, usable)]
        if self.read().core_clock_mhz is None:
            raise NotMeasured("this machine publishes no CPU clock (no cpufreq, as in most virtual machines)")

    def read(self) -> Reading:
        found = [sensible_clock(_integer(file), 1e3) for file in self._files]
        return Reading(core_clock_mhz=max((one for one in found if one is not None), default=None))


def _covers(policy: Path, usable: set[int]) -> bool:
    listed = _text(str(policy / "affected_cpus"))
    cores = {int(one) for one in (listed or "").split() if one.isdigit()}
    return not cores or not usable or bool(cores & usable)


def answers(reading: Reading) -> bool:
    """Whether a source told anything that it is asked for."""
    asked = (reading.used_bytes, reading.core_clock_mhz, reading.power_w, reading.temperature_c)
    return any(one is not None for one in asked)


def sensible_memory(used: int | None, total: int | None) -> tuple[int | None, int | None]:
    """(used, total) bytes; None for both where they cannot be true together."""
    if used is None or total is None or total <= 0 or not 0 <= used <= total:
        return None, None
    return used, total


def sensible_clock(value: float | None, per_mhz: float) -> float | None:
    return None if value is None or not 0 < value / per_mhz < _MOST_MHZ else value / per_mhz


def sensible_power(value: float | None, per_watt: float) -> float | None:
    return None if value is None or not 0 < value / per_watt < _MOST_WATTS else value / per_watt


def sensible_temperature(value: float | None, per_degree: float) -> float | None:
    low, high = _TEMPERATURES
    return None if value is None or not low <= value / per_degree <= high else value / per_degree


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _integer(path: str) -> int | None:
    try:
        return int(_text(path) or "")
    except ValueError:
        return None
