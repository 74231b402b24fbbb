"""The card beside a measurement: made-up cards, with a sampler that tells what it is told to, and a real one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices.cards.finding import search_arguments
from dcu_asv_ext.devices.cards.processes import MIB, Company
from dcu_asv_ext.devices.cards.samples import Samples
from dcu_asv_ext.devices.cards.source import Reading
from dcu_asv_ext.measure import card_watch
from dcu_asv_ext.measure.session import Measured

from ..devices.cards import fake_libraries, made_up
from .fakes import MS, FakeDevice
from .virtual_runs import run, spec_of


class CardDevice(FakeDevice):
    """A virtual device with a card of a made-up machine."""

    def __init__(self, root: Path, kind: str = "dcu") -> None:
        super().__init__()
        self.root, self.card_kind = root, kind

    def card_arguments(self) -> tuple[str, ...]:
        return search_arguments(self.card_kind, made_up.ADDRESS, self.root)


class ToldSampler:
    """In the sampler's place. tell: what it hands over."""

    started: list[tuple[str, ...]]
    tell: Callable[[float], Samples]

    def __init__(self, source: tuple[str, ...]) -> None:
        self.started.append(source)
        self.begin = time.perf_counter()

    def stop(self) -> Samples:
        return type(self).tell(self.begin)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> type[ToldSampler]:
    made = type("Told", (ToldSampler,), {"started": [], "tell": lambda begin: Samples(reason="nothing")})
    monkeypatch.setattr(card_watch, "Sampler", made)
    return made


def measured(device: FakeDevice, tmp_path: Path, **options: Any) -> Measured:
    return run(spec_of(lambda: device.kernel(2 * MS)), device, tmp_path / "cache", **options)


def test_the_passes_have_their_spans_in_order(told: type[ToldSampler], tmp_path: Path) -> None:
    record = measured(CardDevice(tmp_path), tmp_path).record
    names = [name for name in record.spans if name in ("cold", "warm_up", "memory", "latency", "device_time")]
    assert names == ["cold", "warm_up", "memory", "latency", "device_time"]
    edges = [edge for span in record.spans.values() for edge in span]
    assert edges == sorted(edges) and edges[0] >= 0
    # Not asked for, so it had nothing to do.
    assert "host_time" not in record.spans and "growth" not in record.spans


def test_a_pass_that_fails_has_its_span_and_its_stage(told: type[ToldSampler], tmp_path: Path) -> None:
    device = CardDevice(tmp_path)
    calls: list[int] = []

    def third() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise ValueError("no more")

    record = run(spec_of(third), device, tmp_path / "cache").record
    assert list(record.spans) == ["cold", "warm_up"] and "the warm-up" in record.status
    assert len(told.started) == 1 and record.sampled == {"missing": "nothing"}


def test_a_card_with_files_is_looked_at_before_and_after(told: type[ToldSampler], tmp_path: Path) -> None:
    folder = made_up.card(tmp_path)
    made_up.two_sockets_two_cards(tmp_path)
    made_up.host_namespace(tmp_path)
    made_up.process(tmp_path, os.getpid(), vram_4242=64 * MIB)
    device = CardDevice(tmp_path)

    def call() -> None:
        device.kernel(2 * MS)
        (folder / "hwmon/hwmon3/temp1_input").write_text("71000\n")

    record = run(spec_of(call), device, tmp_path / "cache").record
    assert record.state["before"]["temperature_c"] == 44.0 and record.state["after"]["temperature_c"] == 71.0
    assert record.state["own_bytes"] == 64 * MIB and record.state["others"] == {"count": 0, "mib": 0}
    assert record.state["contended"] is False and "load_1min" in record.state
    assert told.started == [search_arguments("dcu", made_up.ADDRESS, tmp_path)]
    assert not [note for note in record.notes if "card" in note]


def test_somebody_who_comes_during_the_measurement_is_noted(told: type[ToldSampler], tmp_path: Path) -> None:
    made_up.card(tmp_path)
    made_up.two_sockets_two_cards(tmp_path)
    made_up.host_namespace(tmp_path)
    made_up.process(tmp_path, os.getpid(), vram_4242=64 * MIB)
    device = CardDevice(tmp_path)
    come: list[int] = []

    def call() -> None:
        device.kernel(2 * MS)
        if not come:
            come.append(1)
            made_up.process(tmp_path, 1, vram_4242=96 * MIB)

    record = run(spec_of(call), device, tmp_path / "cache").record
    assert record.status == "ok" and record.state["contended"] is True
    assert record.state["others"] == {"count": 1, "mib": 96}
    assert [
        note for note in record.notes if note.startswith("1 other process uses this card, holding 96 MiB")
    ]


def test_marks_are_notes_too(
    told: type[ToldSampler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def summarise(samples: Samples, spans: dict[str, list[float]], began: float) -> dict[str, Any]:
        given.extend((samples.reason, dict(spans), began))
        return {"marks": ["latency: it was throttled"]}

    monkeypatch.setattr(card_watch, "summarise", summarise)
    begin = time.perf_counter()
    record = measured(CardDevice(tmp_path), tmp_path).record
    assert given[:2] == ["nothing", record.spans] and begin <= given[2] <= time.perf_counter()
    assert "latency: it was throttled" in record.notes


def test_a_card_without_files_is_told_of_by_the_sampler(told: type[ToldSampler], tmp_path: Path) -> None:
    first, last = Reading(used_bytes=1, total_bytes=9), Reading(used_bytes=3, total_bytes=9)
    alone, two = Company(7, 0, 0), Company(7, 1, 5 * MIB, contended=True)
    told.tell = staticmethod(  # type: ignore[assignment]
        lambda begin: Samples("NVML", 0.05, [begin] * 2, [first, last], 2, alone, two)
    )
    record = measured(CardDevice(tmp_path, "cuda"), tmp_path).record
    assert record.state["before"] == {"used_bytes": 1, "total_bytes": 9}
    assert record.state["after"]["used_bytes"] == 3 and record.state["contended"] is True
    assert record.sampled["source"] == "NVML" and record.sampled["peak_used_bytes"] == 3


def test_a_quick_measurement_samples_nothing(told: type[ToldSampler], tmp_path: Path) -> None:
    made_up.card(tmp_path)
    record = measured(CardDevice(tmp_path), tmp_path, quick=True).record
    assert told.started == [] and record.sampled == {}
    assert record.state["before"]["used_bytes"] == 500 * MIB


def test_a_device_without_a_card_says_so(told: type[ToldSampler], tmp_path: Path) -> None:
    record = measured(FakeDevice(), tmp_path).record
    assert told.started == [] and "no source of card readings" in record.sampled["missing"]
    assert list(record.state) == ["load_1min"]


def test_a_library_that_crashes_does_not_end_the_measurement(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, START=fake_libraries.CRASH)
    record = measured(CardDevice(tmp_path, "cuda"), tmp_path).record
    assert record.status == "ok" and record.times["latency"]
    assert "SIGSEGV while it asked NVML" in record.sampled["missing"]


def test_no_management_tool_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    record = measured(CardDevice(tmp_path), tmp_path).record
    assert record.status == "ok"
    assert "neither hy-smi nor rocm-smi was found" in record.sampled["missing"]


def test_readings_of_a_real_sampler_are_in_the_record(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    looks = f'(looks++ == 1 ? (close(creat("{seen}", 0600)), 700) : 600)'
    fake_libraries.nvml(tmp_path, HELPERS="static int looks;", USED=looks)
    device = CardDevice(tmp_path, "cuda")

    def call() -> None:
        device.kernel(2 * MS)
        deadline = time.monotonic() + 60.0
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.01)

    record = run(spec_of(call), device, tmp_path / "cache").record
    assert record.sampled["source"] == "NVML" and record.sampled["interval"] == 0.05
    assert record.sampled["peak_used_bytes"] == 700 and record.sampled["count"] >= 2
    assert record.sampled["throttle"] == ["hardware thermal slowdown", "software power cap"]
