from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.devices.cards.source import Reading
from dcu_asv_ext.devices.cards.sysfs import CpuClock, SysfsCard

from .made_up import ADDRESS, FILES, MIB, card, write


def test_a_card_in_full(tmp_path: Path) -> None:
    card(tmp_path)
    source = SysfsCard(ADDRESS, tmp_path)
    assert source.read() == Reading(
        used_bytes=500 * MIB,
        total_bytes=65520 * MIB,
        core_clock_mhz=1500.0,
        memory_clock_mhz=1800.0,
        power_w=135.0,
        temperature_c=44.0,
        utilization=0.37,
        performance_level="auto",
    )
    assert source.arguments == ("sysfs", ADDRESS, str(tmp_path))


def test_the_address_as_other_tools_write_it(tmp_path: Path) -> None:
    card(tmp_path, "0000:c9:00.0")
    assert SysfsCard("0000:C9:00.0", tmp_path).read().used_bytes == 500 * MIB


def test_a_reading_is_of_now(tmp_path: Path) -> None:
    folder = card(tmp_path)
    source = SysfsCard(ADDRESS, tmp_path)
    (folder / "mem_info_vram_used").write_text("7\n")
    assert source.read().used_bytes == 7


@pytest.mark.parametrize(
    ("file", "text", "field"),
    [
        ("mem_info_vram_used", "-1", "used_bytes"),
        ("mem_info_vram_used", str(65521 * MIB), "used_bytes"),
        ("mem_info_vram_total", "0", "used_bytes"),
        ("mem_info_vram_total", "many", "total_bytes"),
        ("gpu_busy_percent", "101", "utilization"),
        ("hwmon__hwmon3__temp1_input", "511000", "temperature_c"),
        ("hwmon__hwmon3__temp1_input", "-60000", "temperature_c"),
        ("hwmon__hwmon3__power1_average", "0", "power_w"),
        ("hwmon__hwmon3__power1_average", "4000000000", "power_w"),
        ("hwmon__hwmon3__freq1_input", "0", "core_clock_mhz"),
        ("hwmon__hwmon3__freq2_input", "99000000000", "memory_clock_mhz"),
    ],
)
def test_what_cannot_be_true_is_not_told(tmp_path: Path, file: str, text: str, field: str) -> None:
    card(tmp_path, **{file: text})
    reading = SysfsCard(ADDRESS, tmp_path).read()
    assert getattr(reading, field) is None
    untouched = {"utilization", "core_clock_mhz", "temperature_c"} - {field}
    assert all(getattr(reading, name) is not None for name in untouched)


@pytest.mark.parametrize("missing", [name.replace("/", "__") for name in FILES])
def test_a_file_that_is_not_there(tmp_path: Path, missing: str) -> None:
    card(tmp_path, **{missing: None})
    reading = SysfsCard(ADDRESS, tmp_path).read()
    told = [value for value in vars(reading).values() if value is not None]
    lost = 2 if "mem_info" in missing else 1
    assert len(told) == len(FILES) - lost


def test_the_power_of_newer_drivers(tmp_path: Path) -> None:
    card(tmp_path, hwmon__hwmon3__power1_average=None, hwmon__hwmon3__power1_input="90500000")
    assert SysfsCard(ADDRESS, tmp_path).read().power_w == 90.5


def test_a_history_of_limits_tells_only_that_it_changed(tmp_path: Path) -> None:
    folder = card(tmp_path, pp_gfx_limit_info="PPT 3\nTDC 0\n")
    source = SysfsCard(ADDRESS, tmp_path)
    assert source.read().throttle == ()
    (folder / "pp_gfx_limit_info").write_text("PPT 4\nTDC 0\n")
    assert source.read().throttle == ("the driver's history of frequency limits changed",)
    assert source.read().throttle == ()


def test_a_card_number_that_does_not_exist(tmp_path: Path) -> None:
    card(tmp_path)
    with pytest.raises(NotMeasured, match=r"no PCI device 0000:0a:00.0 in sysfs"):
        SysfsCard("0000:0a:00.0", tmp_path)


def test_a_driver_that_publishes_nothing(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices" / ADDRESS).mkdir(parents=True)
    with pytest.raises(NotMeasured, match="publishes neither memory nor sensors"):
        SysfsCard(ADDRESS, tmp_path)


def cpu(root: Path, number: int, clock: str, cores: str | None = None) -> None:
    folder = root / f"sys/devices/system/cpu/cpufreq/policy{number}"
    write(folder / "scaling_cur_freq", clock)
    if cores is not None:
        write(folder / "affected_cpus", cores)


def test_the_clock_of_the_busiest_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    cpu(tmp_path, 0, "1200000\n", "0")
    cpu(tmp_path, 1, "3400000\n", "1 9")
    cpu(tmp_path, 2, "5000000\n", "2")
    cpu(tmp_path, 10, "gone\n")
    source = CpuClock(tmp_path)
    assert source.read() == Reading(core_clock_mhz=3400.0)
    assert source.arguments == ("cpufreq", str(tmp_path))


def test_a_machine_without_cpufreq(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="no CPU clock"):
        CpuClock(tmp_path)
