"""Copies by direction, line and operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.building import Building

HTOD = "Memcpy HtoD (Host -> Device)"
DTOH = "Memcpy DtoH (Device -> Host)"


def test_a_group_is_one_direction_line_and_operator(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): step", 0, 99)
    made.frame("train.py(9): load", 100, 199)
    for begin in (0, 20, 100):
        made.operator("aten::to", begin, begin + 18)
        made.operator("aten::copy_", begin + 1, begin + 17)
        made.copies(HTOD, (begin + 2, begin + 16), (begin + 5, begin + 15), size=1000)
    made.operator("aten::copy_", 40, 58)
    made.copies(HTOD, (42, 56), (45, 47), size=100_000)
    made.copies(DTOH, (60, 68), (62, 63), size=4)
    told = made.analysis(tmp_path).copies
    assert [
        (one.direction, one.count, one.bytes, one.nanoseconds, one.source, one.operator, one.rows)
        for one in told
    ] == [
        ("HtoD", 2, 2000, 20_000, "train.py:3 step", "aten::to", (0, 1)),
        ("HtoD", 1, 1000, 10_000, "train.py:9 load", "aten::to", (4,)),
        ("HtoD", 1, 100_000, 2_000, "train.py:3 step", "aten::copy_", (2,)),
        ("DtoH", 1, 4, 1_000, "train.py:3 step", "", (3,)),
    ]
    assert [one.bandwidth for one in told] == pytest.approx([1e8, 1e8, 5e10, 4e6])
    assert [one.small for one in told] == [2, 1, 0, 1]
    assert [one.blocking for one in told] == [2, 1, 1, 1]


def test_what_is_small(tmp_path: Path) -> None:
    made = Building()
    made.copies(HTOD, (0, 9), (1, 8), size=65535)
    made.copies(HTOD, (10, 19), (11, 18), size=65536)
    assert [(one.count, one.small) for one in made.analysis(tmp_path).copies] == [(2, 1)]


def test_bytes_that_one_row_does_not_tell(tmp_path: Path) -> None:
    made = Building()
    made.copies(HTOD, (0, 9), (1, 8), size=10)
    made.copies(HTOD, (10, 19), (11, 18))
    (told,) = made.analysis(tmp_path).copies
    assert (told.count, told.bytes, told.bandwidth, told.small) == (2, None, None, 1)


@pytest.mark.parametrize(
    ("name", "pageable"),
    [
        ("Memcpy HtoD (Pageable -> Device)", 1),
        ("Memcpy DtoH (Device -> Pageable)", 1),
        ("Memcpy HtoD (Pinned -> Device)", 0),
        ("Memcpy DtoD (Device -> Device)", 0),
        ("Memcpy HtoD (Host -> Device)", None),
        ("CopyHostToDevice", None),
        ("Memcpy ? (? -> ?)", None),
    ],
)
def test_pageable_memory(tmp_path: Path, name: str, pageable: int | None) -> None:
    made = Building()
    made.copies(name, (0, 9), (1, 8), size=10)
    (told,) = made.analysis(tmp_path).copies
    assert told.pageable == pageable


@pytest.mark.parametrize(
    ("call", "followed", "blocking"),
    [
        ("hipMemcpyWithStream", False, 1),
        ("cudaMemcpy", False, 1),
        ("hipMemcpyAsync", False, 0),
        ("hipMemcpyAsync", True, 1),
    ],
)
def test_copies_that_the_host_waits_for(tmp_path: Path, call: str, followed: bool, blocking: int) -> None:
    made = Building()
    made.operator("aten::copy_", 0, 50)
    made.copies(HTOD, (2, 4), (5, 20), size=10, call=call)
    if followed:
        made.call("hipStreamSynchronize", 5, 21)
    made.operator("aten::mul", 60, 70)
    made.call("hipStreamSynchronize", 61, 62)
    (told,) = made.analysis(tmp_path).copies
    assert told.blocking == blocking


def test_a_synchronisation_before_the_copy_is_not_for_it(tmp_path: Path) -> None:
    made = Building()
    made.operator("aten::copy_", 0, 50)
    made.call("hipStreamSynchronize", 1, 2)
    made.copies(HTOD, (3, 4), (5, 20), size=10, call="hipMemcpyAsync")
    (told,) = made.analysis(tmp_path).copies
    assert told.blocking == 0


def test_a_call_that_says_another_direction(tmp_path: Path) -> None:
    """ROCm writes copies to pinned memory as copies within the device."""
    made = Building()
    made.copies("Memcpy DtoD (Device -> Device)", (0, 9), (1, 8), size=10, asked="2")
    made.copies("Memcpy DtoD (Device -> Device)", (10, 19), (11, 14), size=10, asked="3")
    told = made.analysis(tmp_path).copies
    assert [(one.direction, one.api_direction) for one in told] == [("DtoD", "DtoH"), ("DtoD", "")]


def test_rows_without_calls_have_no_line_and_are_not_known_to_block(tmp_path: Path) -> None:
    made = Building()
    made.copy(HTOD, 5, 10, bytes=10)
    (told,) = made.analysis(tmp_path).copies
    assert (told.count, told.blocking, told.source, told.operator) == (1, 0, "", "")


def test_no_copies(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 20)
    assert made.analysis(tmp_path).copies == []
