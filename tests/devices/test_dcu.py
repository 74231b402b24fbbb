from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.devices.dcu import dtk_release, host_markers, is_dcu, parse_torch_version

VERSIONS = [
    ("2.5.1+das.opt1.dtk25042", (2, 5, 1), "25.04.2", True),
    ("2.1.0+das1.0+git00661e0.abi0.dtk2404", (2, 1, 0), "24.04", True),
    ("2.1.0+das.opt2.dtk24043", (2, 1, 0), "24.04.3", True),
    ("2.10.0+das", (2, 10, 0), None, True),
    ("2.10.0+das.opt1.dtk2604.20260325.g6b060a", (2, 10, 0), "26.04", True),
    ("2.9.0+das.opt1.dtk2604", (2, 9, 0), "26.04", True),
    ("1.10.0a0+git2040069.dtk-22.10.1", (1, 10, 0), "22.10.1", True),
    ("2.13.0+cpu", (2, 13, 0), None, False),
    ("2.4.0+rocm6.1", (2, 4, 0), None, False),
    ("2.8", (2, 8, 0), None, False),
    ("nightly", (), None, False),
    ("", (), None, False),
    ("+++", (), None, False),
]


@pytest.mark.parametrize(("text", "release", "dtk", "vendor"), VERSIONS)
def test_versions_with_any_number_of_plus_signs(
    text: str, release: tuple[int, ...], dtk: str | None, vendor: bool
) -> None:
    parsed = parse_torch_version(text)
    assert (parsed.release, parsed.dtk, parsed.vendor) == (release, dtk, vendor)


def test_dtk_forms() -> None:
    assert [dtk_release(text) for text in ("dtk25042", "dtk-26.04", "DTK_24.04.3", "dt2604")] == [
        "25.04.2",
        "26.04",
        "24.04.3",
        None,
    ]


def card(root: Path, address: str, vendor: str, kind: str) -> None:
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(vendor + "\n")
    (folder / "class").write_text(kind + "\n")


@pytest.mark.parametrize("folder", ["sys/module/hycu", "sys/module/hydcu", "opt/hyhal", "usr/local/hyhal"])
def test_driver_and_user_space_are_markers(tmp_path: Path, folder: str) -> None:
    assert not host_markers(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    assert host_markers(tmp_path)


def test_a_hygon_card_is_a_marker_and_a_hygon_cpu_is_not(tmp_path: Path) -> None:
    card(tmp_path, "0000:00:00.0", "0x1d94", "0x060000")
    card(tmp_path, "0000:00:01.0", "0x1d94", "0x108000")
    card(tmp_path, "0000:03:00.0", "0x1002", "0x038000")
    assert not host_markers(tmp_path)
    card(tmp_path, "0000:09:00.0", "0x1d94", "0x0b4000")
    assert host_markers(tmp_path) == ["PCI device 0000:09:00.0 of vendor 0x1d94"]


@pytest.mark.parametrize("arch", ["gfx928", "gfx936:sramecc+:xnack-", "gfx938", "gfx926", "gfx92a", "gfx946"])
def test_architectures_that_only_dcus_have(tmp_path: Path, arch: str) -> None:
    assert is_dcu("2.4.0", arch, root=tmp_path)


def test_other_architectures_are_not_dcus_even_beside_one(tmp_path: Path) -> None:
    (tmp_path / "sys/module/hycu").mkdir(parents=True)
    assert not is_dcu("2.4.0+rocm6.1", "gfx90a", root=tmp_path)


def test_the_version_mark_decides_alone(tmp_path: Path) -> None:
    assert is_dcu("2.10.0+das", None, root=tmp_path)
    assert not is_dcu("2.10.0+rocm6.1", None, root=tmp_path)


def test_gfx906_is_settled_by_the_cards_own_address_then_by_the_host(tmp_path: Path) -> None:
    arch = "gfx906:sramecc+:xnack-"
    assert not is_dcu("2.1.0", arch, root=tmp_path)
    (tmp_path / "opt/hyhal").mkdir(parents=True)
    assert is_dcu("2.1.0", arch, root=tmp_path)
    card(tmp_path, "0000:03:00.0", "0x1002", "0x038000")
    assert not is_dcu("2.1.0", arch, "0000:03:00.0", root=tmp_path)
    assert is_dcu("2.1.0", arch, "0000:44:00.0", root=tmp_path)
