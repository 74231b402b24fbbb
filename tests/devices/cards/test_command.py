"""Readings through a management tool, which is a small script here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.devices.cards.command import SmiCommand
from dcu_asv_ext.devices.cards.processes import Process
from dcu_asv_ext.devices.cards.source import Reading

from .made_up import ADDRESS, MIB

BUSES = """
HCU[0]\t\t: Bus Id : 0000:04:00.0         : Healthy
HCU[1]\t\t: Bus Id : 0000:09:00.0         : Healthy
"""
VALUES = """
HCU[0] : vram Total Memory (MiB): 65520
HCU[0] : vram Total Used Memory (MiB): 9000
HCU[1] : vram Total Memory (MiB): 65520
HCU[1] : vram Total Used Memory (MiB): 500
HCU[1] : Temperature (Sensor edge) (C): 40.0
HCU[1] : sclk clock level: 1 (600Mhz)
HCU[1] : mclk clock level: 0 (1800Mhz)
HCU[1] : Average Graphics Package Power (W): 135.0
HCU[1] : HCU use (%): 25.0
"""
PIDS = """
PIDs for KFD processes:

PID: 100
\tHCU Index: ['1']
\tVRAM USED(MiB): 512
PID: 101
\tHCU Index: ['0']
\tVRAM USED(MiB): 64
PID: 102
\tHCU Index: ['0'] ['1']
\tVRAM USED(MiB): 96
"""


def tool(
    root: Path, buses: str = BUSES, values: str = VALUES, pids: str = PIDS, name: str = "hy-smi"
) -> Path:
    """Its calls are listed in the file "calls" beside it."""
    folder = root / ("opt/hyhal/bin" if name == "hy-smi" else "opt/rocm/bin")
    folder.mkdir(parents=True)
    for part, text in (("buses", buses), ("values", values), ("pids", pids)):
        (folder / part).write_text(text)
    script = folder / name
    script.write_text(
        f"""#!/bin/sh
echo "$@" >> {folder}/calls
case "$1" in
    --showbus) cat {folder}/buses ;;
    --showpids) cat {folder}/pids ;;
    *) cat {folder}/values ;;
esac
"""
    )
    script.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def nothing_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)


def test_the_card_at_an_address(tmp_path: Path) -> None:
    folder = tool(tmp_path)
    source = SmiCommand(ADDRESS, tmp_path)
    assert source.name == "hy-smi" and source.interval >= 1
    assert source.read() == Reading(
        used_bytes=500 * MIB,
        total_bytes=65520 * MIB,
        core_clock_mhz=600.0,
        memory_clock_mhz=1800.0,
        power_w=135.0,
        temperature_c=40.0,
        utilization=0.25,
    )
    calls = (folder / "calls").read_text().splitlines()
    assert calls[0] == "--showbus" and calls[1].endswith("-d 1")


def test_processes_of_this_card(tmp_path: Path) -> None:
    tool(tmp_path)
    assert SmiCommand(ADDRESS, tmp_path).processes() == [Process(100, 512 * MIB), Process(102, None)]


def test_processes_on_cards_that_are_not_named(tmp_path: Path) -> None:
    tool(tmp_path, pids="PID: 100\n\tVRAM USED(MiB): 512\n")
    assert SmiCommand(ADDRESS, tmp_path).processes() is None


def test_a_list_of_processes_that_a_container_cannot_have(tmp_path: Path) -> None:
    tool(tmp_path, pids="could not open process directory\n")
    assert SmiCommand(ADDRESS, tmp_path).processes() is None


def test_rocm_smi_where_there_is_no_hy_smi(tmp_path: Path) -> None:
    tool(tmp_path, buses=BUSES.replace("HCU", "GPU").replace("Bus Id :", "PCI Bus:"), name="rocm-smi")
    assert SmiCommand(ADDRESS, tmp_path).name == "rocm-smi"


def test_no_management_tool(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="neither hy-smi nor rocm-smi was found"):
        SmiCommand(ADDRESS, tmp_path)


def test_a_card_that_the_tool_does_not_list(tmp_path: Path) -> None:
    tool(tmp_path)
    with pytest.raises(NotMeasured, match=r"hy-smi lists 2 cards, and none at 0000:0a:00.0"):
        SmiCommand("0000:0a:00.0", tmp_path)


@pytest.mark.parametrize("text", ["", "ERROR: 设备不存在\n", "Open mkfd failed\nNo device available\n"])
def test_a_tool_that_tells_nothing(tmp_path: Path, text: str) -> None:
    tool(tmp_path, buses=text)
    with pytest.raises(NotMeasured, match="hy-smi tells of no cards"):
        SmiCommand(ADDRESS, tmp_path)


@pytest.mark.parametrize("text", ["", "card 1 does not exist\n", VALUES.replace("HCU[1]", "HCU[2]")])
def test_a_tool_that_does_not_know_the_number_of_the_card(tmp_path: Path, text: str) -> None:
    tool(tmp_path, values=text)
    assert SmiCommand(ADDRESS, tmp_path).read() == Reading()
