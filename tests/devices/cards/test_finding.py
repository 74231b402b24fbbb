from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.devices.cards.finding import files_of, find_source, open_source, search_arguments

from . import fake_libraries
from .made_up import ADDRESS, card
from .test_command import tool


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.delenv("ROCM_PATH", raising=False)
    monkeypatch.delenv("HYHAL_PATH", raising=False)


def test_the_cheapest_that_answers(tmp_path: Path) -> None:
    tool(tmp_path)
    tried: list[str] = []
    found = find_source("dcu", ADDRESS, tmp_path, tried.append)
    assert found.source is not None and found.source.name == "hy-smi"
    assert (
        tried
        == [*found.refused, "the management tool"]
        == ["sysfs", "the ROCm SMI library", "the management tool"]
    )
    fake_libraries.rsmi(tmp_path)
    found = find_source("dcu", ADDRESS, tmp_path)
    assert found.source is not None and found.source.name == "ROCm SMI library"
    card(tmp_path)
    found = find_source("hip", ADDRESS, tmp_path)
    assert found.source is not None and found.source.name == "sysfs" and not found.refused


def test_one_that_answers_and_tells_nothing_is_passed_over(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path, BARE="1")
    tool(tmp_path)
    found = find_source("dcu", ADDRESS, tmp_path)
    assert found.source is not None and found.source.name == "hy-smi"
    assert found.refused["the ROCm SMI library"] == "it answers, and tells nothing"


def test_an_nvidia_card(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path)
    tool(tmp_path)
    found = find_source("cuda", ADDRESS, tmp_path)
    assert found.source is not None and found.source.name == "NVML"
    assert list(found.refused) == ["sysfs"]


def test_no_source_at_all_says_why_of_each(tmp_path: Path) -> None:
    found = find_source("dcu", ADDRESS, tmp_path)
    assert found.source is None and len(found.refused) == 3
    with pytest.raises(NotMeasured) as missing:
        open_source(*search_arguments("dcu", ADDRESS, tmp_path))
    assert missing.value.reason == (
        f"no source tells of the card (sysfs: no PCI device {ADDRESS} in sysfs; "
        "the ROCm SMI library: librocm_smi64.so is not installed; "
        "the management tool: neither hy-smi nor rocm-smi was found)"
    )


def test_every_source_opens_by_its_own_arguments(tmp_path: Path) -> None:
    card(tmp_path)
    fake_libraries.rsmi(tmp_path)
    fake_libraries.nvml(tmp_path)
    tool(tmp_path)
    for name in ("sysfs", "rsmi", "nvml", "command"):
        source = open_source(name, ADDRESS, str(tmp_path))
        again = open_source(*source.arguments)
        assert source.arguments[0] == name and type(again) is type(source) and again.read() == source.read()


def test_files_that_any_process_may_read(tmp_path: Path) -> None:
    search = search_arguments("dcu", ADDRESS, tmp_path)
    assert files_of(search) is None
    card(tmp_path)
    files = files_of(search)
    assert files is not None and files.read().temperature_c == 44.0
    assert files_of(("cpufreq", str(tmp_path))) is None
