"""This repository's own benchmarks on the simulated HIP device: what is found there is true, and nothing else is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dcu_asv_ext.trace import findings
from dcu_asv_ext.trace.detectors import copies, dominance, elementwise, synchronisations
from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = pytest.mark.simulated

SCRIPT = Path(__file__).with_name("simulated_suite.py")
ATTEMPTS = 3
#: Benchmark -> what is found in it, and is so.
EXPECTED = {
    # It compares pageable memory with pinned.
    "copies.copy-1": {copies.PAGEABLE},
    "copies.copy-3": {copies.PAGEABLE},
    # It is there to be compared with chain_fused.
    "elementwise.chain_unfused-0": {elementwise.KIND},
    # Written as the formulas are: velocities and products of the spectral step are chains of one size.
    "spectral.vorticity_step-0": {elementwise.KIND},
    # The simulated device computes `aten::index` on the host, which waits for it; devices that have it do not.
    "weather_attention.earth_block-0": {synchronisations.KIND},
    "weather_attention.earth_block-1": {synchronisations.KIND},
}
#: Module and kind of what the load of the machine decides: the host computes `aten::index`, at length or not.
LOAD = {("weather_attention", dominance.KIND)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@cache
def kinds_found(folder: Path, attempt: int, module: str) -> dict[str, set[str]]:
    place = folder / f"{attempt}-{module}"
    place.mkdir()
    written = last_line(SCRIPT, "cuda", TRACES=str(place), ONLY=module)
    return {
        name: {one.kind for one in findings(path) if (name.split(".")[0], one.kind) not in LOAD}
        for name, path in written.items()
    }


def test_no_false_findings(folder: Path) -> None:
    found = kinds_found(folder, 0, "")
    assert len(found) > 30 and EXPECTED.keys() <= found.keys()
    # A busy machine keeps the host from submitting: what differs is recorded again.
    for attempt in range(1, ATTEMPTS):
        for name in [one for one, kinds in found.items() if kinds != EXPECTED.get(one, set())]:
            found[name] = kinds_found(folder, attempt, name.split(".")[0])[name]
    assert {name: kinds for name, kinds in found.items() if kinds} == EXPECTED
