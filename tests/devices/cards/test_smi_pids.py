from __future__ import annotations

import random

import pytest

from dcu_asv_ext.devices.cards.smi_pids import CardProcess, parse_processes

MIB = 2**20

BUSY = """\
PIDs for KFD processes:

PID: 12345
	PASID: 1
	HCU Index: ['2']
	GPUID: ['42']
	PCI BUS: ['0000:09:00.0']
	VRAM USED(MiB): 512
	VRAM USED(%): inf
	SDMA USED: 0
"""

SEVERAL = """\
================================= System Management Interface =====
PIDs for KFD processes:

PID: 3865170
	PASID: 32770
	HCU Node(Include CPU sort): ['9']
	HCU Index: ['0'] ['1'] ['2'] ['3']
	GPUID: ['34430'] ['1'] ['2'] ['3']
	PCI BUS: ['0000:09:00.0']
	VRAM USED(MiB): 9330
	VRAM USED(%): 15
	SDMA USED: 0

PID: 777
	DCU Index:
	VRAM USED(MiB): 1
PID: 778
	HCU Index: ['5']
	VRAM USED(MiB): inf
====================================================================
======================== End of SMI Log ============================
"""

ROCM = """\
============================ ROCm System Management Interface ============================
===================================== KFD Processes ======================================
KFD process information:
PID    \tPROCESS NAME   \tGPU(s)\tVRAM USED  \tSDMA USED\tCU OCCUPANCY\t
9399   \tVLLM::EngineCor\t1     \t329576448  \t0        \tUNKNOWN     \t
1058463\t<daemon> of two\t0     \t0          \t0        \t0           \t
6534   \tdflash         \tUNKNOWN\tUNKNOWN    \t0        \tUNKNOWN     \t
==========================================================================================
================================== End of ROCm SMI Log ===================================
"""


def test_one_process() -> None:
    assert parse_processes(BUSY) == [CardProcess(12345, (2,), 512 * MIB)]


def test_several_cards_have_one_total_and_an_index_may_be_empty() -> None:
    assert parse_processes(SEVERAL) == [
        CardProcess(3865170, (0, 1, 2, 3), 9330 * MIB),
        CardProcess(777, (), MIB),
        CardProcess(778, (5,), None),
    ]


def test_the_table_of_rocm_smi_tells_how_many_cards_and_not_which() -> None:
    assert parse_processes(ROCM) == [
        CardProcess(9399, (), 329576448),
        CardProcess(1058463, (), 0),
        CardProcess(6534, (), None),
    ]
    assert parse_processes(ROCM.replace("\t", "    ")) == parse_processes(ROCM)


def test_json_of_rocm_smi() -> None:
    text = '{"system": {"PID9399": "a, b, 1, 329576448, 0, UNKNOWN", "Driver version": "6.1"}}'
    assert parse_processes(text) == [CardProcess(9399, (), 329576448)]


@pytest.mark.parametrize(
    "text",
    [
        "No KFD PIDs currently running!",
        "===\nNo KFD PIDs currently running\n===",
        "\n=====\nPIDs for KFD processes:\n\n=====\n==== End of SMI Log ====\n",
    ],
)
def test_none_running_is_an_empty_list(text: str) -> None:
    assert parse_processes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "could not open process directory",
        "PIDs for KFD processes:\n",
        "PIDs for KFD processes:\n\n进程: 12345\n\t设备: ['2']\n=====\n",
        "没有进程",
        "PID: abc\n",
        "PID: 123456789012345\n",
        "PID PROCESS NAME GPU(s) VRAM USED SDMA USED CU OCCUPANCY\n",
        '{"card0": {"PID": "1"}}',
        "x" * 2**21,
    ],
)
def test_what_is_not_known_is_none(text: str) -> None:
    assert parse_processes(text) is None


@pytest.mark.parametrize(
    ("line", "vram"),
    [
        ("VRAM USED(B): 4096", 4096),
        ("vram used (KiB): 4", 4096),
        ("VRAM USED(MB): 4", None),
        ("VRAM USED(%): 4", None),
        ("VRAM USED: 4", None),
        ("VRAM USED(MiB): -4", None),
        ("VRAM USED(MiB): 4,5", None),
        ("VRAM 已用(MiB): 4", None),
    ],
)
def test_the_unit_is_the_label_s(line: str, vram: int | None) -> None:
    assert parse_processes(f"PID: 7\n\t{line}\n") == [CardProcess(7, (), vram)]


@pytest.mark.parametrize(
    ("index", "cards"),
    [
        ("['0'] ['1']", (0, 1)),
        ("['0', '1']", (0, 1)),
        ("['33'] ['2']", (2, 33)),
        ("[]", ()),
        ("0 1", (0, 1)),
        ("['all']", ()),
        ("['0'] and 1 more", ()),
    ],
)
def test_indices(index: str, cards: tuple[int, ...]) -> None:
    assert parse_processes(f"PID: 7\n\tHCU Index: {index}\n") == [CardProcess(7, cards, None)]


def test_a_process_told_twice() -> None:
    assert parse_processes(BUSY + BUSY) == [CardProcess(12345, (2,), 512 * MIB)]
    other = BUSY.replace("512", "513").replace("['2']", "['3']")
    assert parse_processes(BUSY + other) == [CardProcess(12345, (), None)]


def test_a_field_behind_the_closing_rule_belongs_to_nobody() -> None:
    assert parse_processes("PID: 7\n====\n\tVRAM USED(MiB): 4\n") == [CardProcess(7, (), None)]


def test_spoilt_lists_give_no_number_that_is_not_in_them() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        text = draw.choice((BUSY, SEVERAL, ROCM))
        for _ in range(draw.randint(1, 5)):
            at = draw.randrange(len(text))
            drawn = draw.choice("0123456789:[]'\t\n xM中")
            text = draw.choice((text[:at] + text[at + 1 :], text[:at] + drawn + text[at:], text[: at + 9]))
        for process in parse_processes(text) or []:
            assert str(process.pid) in text.replace("\n0", "\n"), text
            assert all(str(card) in text for card in process.cards), text
            if process.vram_bytes is not None:
                as_told = {process.vram_bytes} if "VRAM USED(" not in text else {process.vram_bytes // MIB}
                assert any(str(number) in text for number in as_told | {process.vram_bytes}), text
