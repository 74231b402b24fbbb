"""NVML and the ROCm SMI library, against fakes that are compiled here."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.devices.cards.nvml import Nvml
from dcu_asv_ext.devices.cards.processes import Process
from dcu_asv_ext.devices.cards.rsmi import RocmSmi, current_frequency
from dcu_asv_ext.devices.cards.source import Reading

from . import fake_libraries
from .made_up import ADDRESS, MIB


def test_an_nvidia_card_in_full(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path)
    source = Nvml(ADDRESS, tmp_path)
    assert source.read() == Reading(
        used_bytes=600,
        total_bytes=1000,
        core_clock_mhz=1980.0,
        memory_clock_mhz=2619.0,
        power_w=345.678,
        temperature_c=44.0,
        utilization=0.25,
        performance_level="P2",
        throttle=("software power cap", "hardware thermal slowdown"),
    )
    assert source.processes() == [Process(100, None), Process(101, 50 * MIB)]


def test_a_driver_from_before_the_events_were_called_so(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, REASONS="nvmlDeviceGetCurrentClocksThrottleReasons")
    assert Nvml(ADDRESS, tmp_path).read().throttle == ("software power cap", "hardware thermal slowdown")


def test_more_processes_than_there_was_room_for(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, LISTED="100")
    listed = Nvml(ADDRESS, tmp_path).processes()
    assert listed is not None and len(listed) == 100 and listed[-1].pid == 199


def test_what_nvml_refuses_or_tells_wrongly_is_not_told(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, REFUSED="3", USED="1001")
    reading = Nvml(ADDRESS, tmp_path).read()
    assert (reading.core_clock_mhz, reading.memory_clock_mhz) == (None, None)
    assert (reading.used_bytes, reading.total_bytes, reading.temperature_c) == (None, None, 44.0)


def test_an_nvml_without_most_of_its_functions(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, BARE="1")
    source = Nvml(ADDRESS, tmp_path)
    assert source.read() == Reading() and source.processes() is None


def test_nvml_that_does_not_serve(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match=r"libnvidia-ml.so.1 is not installed"):
        Nvml(ADDRESS, tmp_path)
    fake_libraries.nvml(tmp_path / "a", START="return 9;")
    with pytest.raises(NotMeasured, match="NVML does not start"):
        Nvml(ADDRESS, tmp_path / "a")
    fake_libraries.nvml(tmp_path / "b")
    with pytest.raises(NotMeasured, match=r"NVML knows no card 0000:0a:00.0"):
        Nvml("0000:0a:00.0", tmp_path / "b")


def test_a_library_that_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib64"
    folder.mkdir(parents=True)
    (folder / "libnvidia-ml.so.1").write_text("no library")
    with pytest.raises(NotMeasured, match=r"libnvidia-ml.so.1 cannot be loaded"):
        Nvml(ADDRESS, tmp_path)


def test_a_dcu_in_full_found_by_its_address(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path)
    assert RocmSmi(ADDRESS, tmp_path, {}).read() == Reading(
        used_bytes=601,
        total_bytes=1000,
        core_clock_mhz=1500.0,
        memory_clock_mhz=1800.0,
        power_w=135.5,
        temperature_c=40.0,
        utilization=0.25,
        performance_level="manual",
    )
    assert RocmSmi("0001:09:00.0", tmp_path, {}).read().used_bytes == 602


def test_frequencies_of_newer_releases(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path, FLAG="_Bool sleeps;", FLAG_VALUE="1,")
    reading = RocmSmi(ADDRESS, tmp_path, {}).read()
    assert (reading.core_clock_mhz, reading.memory_clock_mhz) == (1500.0, 1800.0)


def words(*values: int) -> bytes:
    """A flag of -1 is none; then count and index, then frequencies of 8 bytes each, aligned to 8."""
    flag, count, current, *hertz = values
    head = b"".join(
        one.to_bytes(4, "little") for one in ([count, current] if flag < 0 else [flag, count, current])
    )
    head += bytes(-len(head) % 8)
    return (head + b"".join(one.to_bytes(8, "little") for one in hertz)).ljust(1024, b"\0")


@pytest.mark.parametrize("flag", [-1, 0, 1])
@pytest.mark.parametrize("count", [1, 2, 33])
def test_both_layouts_are_told_apart(flag: int, count: int) -> None:
    hertz = [(100 + number) * 10**6 for number in range(count)]
    for current in range(count):
        assert current_frequency(words(flag, count, current, *hertz)) == 100.0 + current


def test_a_first_frequency_of_nothing_is_no_other_layout() -> None:
    assert current_frequency(words(-1, 3, 2, 0, 100 * 10**6, 200 * 10**6)) == 200.0


@pytest.mark.parametrize(
    "told", [bytes(1024), words(-1, 3, 3, 10**9), words(-1, 40, 2, 10**9), words(-1, 1, 0, 0)]
)
def test_frequencies_that_are_none(told: bytes) -> None:
    assert current_frequency(told) is None


def test_the_first_sensor_that_answers_and_a_level_not_known(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path, FIRST_SENSOR="2", LEVEL="256")
    reading = RocmSmi(ADDRESS, tmp_path, {}).read()
    assert reading.temperature_c == 40.002 and reading.performance_level is None


def test_a_library_where_the_environment_says(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path, "elsewhere/rocm_smi/lib")
    with pytest.raises(NotMeasured, match=r"librocm_smi64.so is not installed"):
        RocmSmi(ADDRESS, tmp_path, {})
    assert RocmSmi(ADDRESS, tmp_path, {"ROCM_PATH": "/elsewhere"}).read().used_bytes == 601


def test_a_smi_library_that_does_not_serve(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path / "a", START="return 8;")
    with pytest.raises(NotMeasured, match="does not start"):
        RocmSmi(ADDRESS, tmp_path / "a", {})
    fake_libraries.rsmi(tmp_path / "b", CARDS="1")
    with pytest.raises(NotMeasured, match=r"sees 1 cards, and none at 0000:09:00.0"):
        RocmSmi(ADDRESS, tmp_path / "b", {})
    fake_libraries.rsmi(tmp_path / "c", BARE="1")
    assert RocmSmi(ADDRESS, tmp_path / "c", {}).read() == Reading()
