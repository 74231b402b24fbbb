from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.devices import TorchBuild
from dcu_asv_ext.doctor import software
from dcu_asv_ext.doctor.check import Check

from .fakes import host

GOOD = {"asv": "0.6.6", "asv_runner": "0.3.2", "torch": "2.13.0+cpu"}


def states(versions: dict[str, str]) -> dict[str, str]:
    return {one.id: one.state for one in software.check_versions(versions)}


def test_supported_versions() -> None:
    assert set(states(GOOD).values()) == {"ok"}
    vendor = {"asv": "0.6.5", "asv_runner": "0.3", "torch": "2.1.0+das1.0+git00661e0.abi0.dtk2404"}
    assert set(states(vendor).values()) == {"ok"}


@pytest.mark.parametrize(
    ("name", "version"),
    [("asv", "0.6.4"), ("asv", "0.7.0.dev1"), ("asv", "1.0"), ("asv_runner", "0.2.1"), ("asv_runner", "0.4"),
     ("torch", "2.0.1+das1.0+dtk2404"), ("torch", "1.13.1"), ("torch", ""), ("asv", "unknown")],
)  # fmt: skip
def test_unsupported_versions(name: str, version: str) -> None:
    found = states({**GOOD, name: version})
    assert [id for id, state in found.items() if state == "problem"] == [f"version-{name}"]


def test_a_missing_package_is_a_problem() -> None:
    assert states({"torch": "2.4.0"}) == {
        "version-asv": "problem",
        "version-asv_runner": "problem",
        "version-torch": "ok",
    }


def installed(folder: Path, version: str) -> str:
    metadata = folder / f"torch-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    return str(folder)


def test_torch_twice(tmp_path: Path) -> None:
    user, site = installed(tmp_path / "user", "2.13.0"), installed(tmp_path / "site", "2.4.1+das")
    assert software.check_single_torch([site, site, str(tmp_path / "absent")]).state == "ok"
    twice = software.check_single_torch([user, site])
    assert twice.state == "warning" and "2.13.0 in" in twice.finding and "2.4.1+das in" in twice.finding
    (tmp_path / "source/torch").mkdir(parents=True)
    (tmp_path / "source/torch/version.py").write_text("")
    assert software.check_single_torch([site, str(tmp_path / "source")]).state == "warning"


CPU = TorchBuild("2.13.0+cpu", "cpu")


def build_check(
    root: Path, files: dict[str, str], build: TorchBuild = CPU, environ: dict[str, str] | None = None
) -> Check:
    return software.check_build_fits_driver(build, host(root, files, environ))


def test_a_cpu_build_beside_a_driver(tmp_path: Path) -> None:
    driver = {"sys/module/hycu/version": "6.3"}
    assert build_check(tmp_path / "a", {}).state == "ok"
    assert build_check(tmp_path / "b", driver).state == "warning"
    found = build_check(tmp_path / "c", {**driver, "dev/kfd": ""})
    assert found.state == "problem" and "hycu" in found.finding
    meant = {"DCU_ASV_DEVICE": "cpu"}
    assert build_check(tmp_path / "d", {**driver, "dev/kfd": ""}, environ=meant).state == "ok"
    assert build_check(tmp_path / "e", driver, TorchBuild("2.4.1+das", "dcu")).state == "ok"
