"""The card from outside, by a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.doctor.card import check_card, look
from dcu_asv_ext.doctor.check import Check, Host

from .fakes import host

ADDRESS = "0000:09:00.0"
DEVICE = {"kind": "dcu", "name": "cuda:0", "pci_bus_id": ADDRESS, "simulated": False}
FOLDER = f"sys/bus/pci/devices/{ADDRESS}"
CARD = {
    f"{FOLDER}/mem_info_vram_used": f"{2 << 30}\n",
    f"{FOLDER}/mem_info_vram_total": f"{64 << 30}\n",
    f"{FOLDER}/hwmon/hwmon1/power1_average": "95000000\n",
}
KFD = "sys/class/kfd/kfd"
TOPOLOGY = {
    f"{KFD}/topology/nodes/1/gpu_id": "42\n",
    f"{KFD}/topology/nodes/1/properties": f"location_id {9 << 8}\ndomain 0\n",
}
ENVIRON = {"PATH": "/nowhere"}


TRYING = """echo '{"trying": "rsmi"}'; """


def shell(code: str) -> list[str]:
    return ["sh", "-c", code]


def ids(checks: list[Check]) -> dict[str, str]:
    return {one.id: one.state for one in checks}


def found(where: Host, **device: Any) -> dict[str, Check]:
    told = {**DEVICE, **device}
    return {one.id: one for one in check_card(told, look(told, where))}


def test_a_card_that_the_driver_s_files_tell_of(tmp_path: Path) -> None:
    (tmp_path / KFD / "proc").mkdir(parents=True)
    checks = found(host(tmp_path, {**CARD, **TOPOLOGY}, ENVIRON))
    assert checks["card-readings"].state == checks["card-shared"].state == "ok"
    assert checks["card-readings"].finding == "The card is read through sysfs: 2.0 of 64.0 GiB in use, 95 W."
    assert checks["card-shared"].finding == "No process is seen on the card."


def test_others_on_the_card(tmp_path: Path) -> None:
    processes = {f"{KFD}/proc/{number}/vram_42": f"{256 << 20}\n" for number in (999_999_1, 999_999_2)}
    check = found(host(tmp_path, {**CARD, **TOPOLOGY, **processes}, ENVIRON))["card-shared"]
    assert check.state == "warning"
    assert check.finding.startswith("2 processes use the card, holding 512 MiB: ")


def test_nothing_tells_of_the_card(tmp_path: Path) -> None:
    checks = found(host(tmp_path, {}, ENVIRON))
    assert checks["card-readings"].state == "warning"
    assert "Nothing but torch tells of the card (sysfs: " in checks["card-readings"].finding
    assert "not told" in checks["card-shared"].finding and checks["card-shared"].state == "ok"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (f"{TRYING} kill -SEGV $$", "it was ended by SIGSEGV while it asked rsmi."),
        (f"{TRYING} sleep 60", "it did not end within 1 s while it asked rsmi."),
        ("""echo no JSON at all; echo '[1]'; echo '{"card": 3}'""", "it ended with exit code 0."),
        ("exit 3", "it ended with exit code 3."),
    ],
)
def test_a_child_that_fails_is_a_finding(tmp_path: Path, code: str, how: str) -> None:
    card = look(DEVICE, host(tmp_path), limit=1.0 if "sleep" in code else 30.0, command=shell(code))
    (check,) = (one for one in check_card(DEVICE, card) if one.id == "card-readings")
    assert check.state == "warning" and how in check.finding


@pytest.mark.parametrize(
    "device",
    [
        None,
        {"kind": "cpu"},
        {"kind": "sim", "pci_bus_id": ADDRESS},
        {**DEVICE, "simulated": True},
        {**DEVICE, "pci_bus_id": None},
    ],
)
def test_where_there_is_no_card_nothing_is_started(tmp_path: Path, device: dict[str, Any] | None) -> None:
    assert look(device, host(tmp_path), command=["/no such program"]) is None
    assert list(check_card(device, None)) == []


@pytest.mark.parametrize(
    ("level", "state"), [("auto", "ok"), ("high", "ok"), ("manual", "warning"), ("low", "warning")]
)
def test_performance_level(level: str, state: str) -> None:
    assert ids(list(check_card({**DEVICE, "performance_level": level}, None))) == {"performance-level": state}
    card = {"source": "rsmi", "refused": {}, "reading": {"performance_level": level}}
    assert ids(list(check_card(DEVICE, card)))["performance-level"] == state


def test_the_readings_are_told_with_what_was_tried() -> None:
    reading = {"core_clock_mhz": 1400.0, "temperature_c": 51.5}
    card = {"source": "hy-smi", "refused": {"sysfs": "no such card"}, "reading": reading, "others": None}
    (first, _) = check_card(DEVICE, card)
    assert (
        first.finding == "The card is read through hy-smi (before it, sysfs: no such card): 1400 MHz, 51.5 C."
    )
