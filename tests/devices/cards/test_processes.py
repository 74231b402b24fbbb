"""Who is on a card, from made-up driver files and from lists as drivers give them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.devices.cards.processes import (
    Company,
    Process,
    company,
    kfd_card,
    kfd_processes,
    look_around,
    sees_host_processes,
)

from .made_up import ADDRESS, MIB, host_namespace, node, process, two_sockets_two_cards

OWN = 1000


def test_a_card_is_found_by_its_address(tmp_path: Path) -> None:
    two_sockets_two_cards(tmp_path)
    assert kfd_card(ADDRESS, tmp_path) == 4242
    assert kfd_card("0000:04:00.0", tmp_path) == 77
    assert kfd_card("0000:05:00.0", tmp_path) is None
    assert kfd_card("no address", tmp_path) is None


def test_a_cpu_is_no_card(tmp_path: Path) -> None:
    node(tmp_path, 0, 0, location_id=0, domain=0)
    assert kfd_card("0000:00:00.0", tmp_path) is None


def test_cards_of_several_domains_and_functions(tmp_path: Path) -> None:
    node(tmp_path, 1, 10, location_id=0x0900, domain=0)
    node(tmp_path, 2, 11, location_id=0x0900, domain=1)
    node(tmp_path, 3, 12, location_id=0x10000901, domain=1)
    assert [kfd_card(one, tmp_path) for one in (ADDRESS, "0001:09:00.0", "0001:09:00.1")] == [10, 11, 12]


def test_a_driver_that_names_no_domain(tmp_path: Path) -> None:
    node(tmp_path, 1, 10, location_id=0x0900)
    assert kfd_card(ADDRESS, tmp_path) == 10


def test_only_processes_of_this_card_count(tmp_path: Path) -> None:
    two_sockets_two_cards(tmp_path)
    process(tmp_path, 1, vram_4242=64 * MIB, vram_77=0)
    process(tmp_path, 2, vram_4242=0, vram_77=64 * MIB)
    process(tmp_path, 3, queues=(77, 4242))
    process(tmp_path, 4, queues=(77,))
    (tmp_path / "sys/class/kfd/kfd/proc/notes").mkdir()
    assert kfd_processes(ADDRESS, tmp_path) == [Process(1, 64 * MIB), Process(3, None, True)]


def test_no_list_of_processes(tmp_path: Path) -> None:
    assert kfd_processes(ADDRESS, tmp_path) is None
    assert company(None, OWN, True).reason == "the driver lists no processes"
    assert company(None, OWN, True, "it said nothing") == Company(reason="it said nothing")


def test_this_process_and_two_others() -> None:
    listed = [Process(1, 300 * MIB), Process(OWN, 100 * MIB), Process(2, 50 * MIB)]
    assert company(listed, OWN, True) == Company(100 * MIB, 2, 350 * MIB, contended=True)


def test_alone_on_the_card() -> None:
    assert company([Process(OWN, 5)], OWN, True) == Company(5, 0, 0)


def test_helpers_of_the_driver_are_nobody() -> None:
    listed = [Process(OWN, 5), Process(7, MIB), Process(8, 0)]
    assert company(listed, OWN, True).others == 0
    assert company([*listed, Process(9, MIB, computes=True)], OWN, True).others == 1
    assert company([*listed, Process(9, MIB + 1)], OWN, True).others == 1


def test_memory_that_is_told_of_some_only_is_no_sum() -> None:
    found = company([Process(OWN, None), Process(1, 3 * MIB), Process(2, None)], OWN, True)
    assert (found.own_bytes, found.others, found.other_bytes, found.contended) == (None, 2, None, True)


def test_a_single_foreign_process_on_the_host_is_somebody_else() -> None:
    found = company([Process(1, 3 * MIB)], OWN, True)
    assert (found.others, found.contended, found.own_bytes) == (1, True, None)
    assert "not in the driver's list" in found.reason


def test_an_empty_list_says_nothing() -> None:
    for sees_host in (True, False):
        found = company([], OWN, sees_host)
        assert found.others is None and not found.contended and found.reason


def test_a_container_with_one_process_listed_has_most_likely_only_this_one() -> None:
    found = company([Process(777, 64 * MIB)], OWN, False)
    assert found.others is None and found.own_bytes is None and not found.contended
    assert "most likely this one" in found.reason


def test_a_container_with_several_listed_has_company() -> None:
    found = company([Process(777, 64 * MIB), Process(778, 32 * MIB), Process(779, 32 * MIB)], OWN, False)
    assert (found.others, found.at_least, found.other_bytes, found.contended) == (2, True, None, True)
    assert "3 that are listed" in found.reason


def test_a_container_whose_numbers_are_its_own_sees_only_its_own() -> None:
    alone = company([Process(OWN, 64 * MIB)], OWN, False)
    assert (alone.own_bytes, alone.others, alone.contended) == (64 * MIB, None, False) and alone.reason
    two = company([Process(OWN, 64 * MIB), Process(1, 32 * MIB)], OWN, False)
    assert (two.own_bytes, two.others, two.at_least, two.contended) == (64 * MIB, 1, True, True)


@pytest.mark.parametrize(("number", "host"), [(4026531836, True), (4026532999, False), (None, False)])
def test_the_namespace_of_processes(tmp_path: Path, number: int | None, host: bool) -> None:
    if number is not None:
        host_namespace(tmp_path, number)
    assert sees_host_processes(tmp_path) is host


def test_a_look_at_the_drivers_files(tmp_path: Path) -> None:
    two_sockets_two_cards(tmp_path)
    host_namespace(tmp_path)
    process(tmp_path, os.getpid(), vram_4242=64 * MIB)
    process(tmp_path, 1, vram_4242=32 * MIB)
    asked: list[int] = []
    found = look_around(ADDRESS, os.getpid(), tmp_path, lambda: asked.append(1) or [])
    assert found == Company(64 * MIB, 1, 32 * MIB, contended=True) and not asked


def test_a_list_from_elsewhere_where_the_driver_has_no_files(tmp_path: Path) -> None:
    host_namespace(tmp_path)
    found = look_around(ADDRESS, OWN, tmp_path, lambda: [Process(OWN, 5), Process(1, 3 * MIB)])
    assert (found.own_bytes, found.others) == (5, 1)
    assert look_around(ADDRESS, OWN, tmp_path).reason == "the driver lists no processes"
