from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcu_asv_ext.doctor.check import Check
from dcu_asv_ext.doctor.identity import check_machine_name

from .fakes import host

ID = "0123456789ab"


def check(
    root: Path, *entries: str, hostname: str = "lab1", container: bool = False, measuring: bool = True
) -> Check:
    files = {".dockerenv": ""} if container else {}
    if entries:
        files["home/me/.asv-machine.json"] = json.dumps({**{name: {} for name in entries}, "version": 1})
    return check_machine_name(host(root, files, hostname=hostname), measuring)


def test_an_unknown_machine(tmp_path: Path) -> None:
    found = check(tmp_path)
    assert found.state == "problem" and found.remedy == "Run asv machine --yes."
    assert check(tmp_path, measuring=False).state == "warning"
    assert "--machine NAME" in check(tmp_path, hostname=ID).remedy
    assert "--machine NAME" in check(tmp_path, container=True).remedy


@pytest.mark.parametrize("entries", [("lab1",), ("other",), ("lab1", "other")])
def test_a_known_machine(tmp_path: Path, entries: tuple[str, ...]) -> None:
    found = check(tmp_path, *entries)
    assert found.state == "ok" and repr(entries[0]) in found.finding


def test_a_name_that_changes_with_the_container(tmp_path: Path) -> None:
    assert "next one" in check(tmp_path / "a", ID, hostname=ID).finding
    assert check(tmp_path / "b", ID, hostname=ID).state == "warning"
    assert check(tmp_path / "c", "lab1", hostname=ID, container=True).state == "ok"


def test_several_entries(tmp_path: Path) -> None:
    assert check(tmp_path / "a", "one", "two").state == "warning"
    assert check(tmp_path / "b", "lab1", "two", container=True).state == "warning"
    assert check(tmp_path / "c", ID, "two", hostname=ID).state == "warning"


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_file(tmp_path: Path, text: str) -> None:
    where = host(tmp_path, {"home/me/.asv-machine.json": text})
    assert check_machine_name(where, measuring=False).state == "problem"
