"""Which measurements hung on the same set-up."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.identity import (
    Identities,
    Identity,
    SetUps,
    agree,
    changed,
    identity_of,
    of_facts,
    together,
    told,
)
from tests.comparing.measured import record

DEVICE = {"kind": "dcu", "product": "K100_AI", "driver": "hycu 6.3.8"}
HOST = {"cpu": "Hygon C86 7285", "governor": "performance", "kernel": "5.10", "container": False}


def made(**changes: Any) -> Identity:
    return identity_of(record(**{"device": DEVICE, "host": HOST, **changes}))


def software(**changes: Any) -> dict[str, Any]:
    return {"packages": {"python": "3.10.12"}, "environment": {}, "load_1min": 0.5, **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"device": {**DEVICE, "driver": "hycu 6.3.30"}},
        {"device": {**DEVICE, "performance_level": "manual"}},
        {"device": {**DEVICE, "power_cap_w": 300.0}},
        {"host": {**HOST, "governor": "powersave"}},
        {"host": {**HOST, "cpu": "Hygon C86 7390"}},
        {"switches": {"threads": 4}},
        {"software": software(environment={"MIOPEN_FIND_MODE": "2"})},
        {"input": {"tensors": ["float32[2]"], "sets": 1}},
    ],
)
def test_what_changes_results_is_another_set_up(changes: dict[str, Any]) -> None:
    full = {**DEVICE, "performance_level": "auto", "power_cap_w": 400.0}
    before = made(device=full, switches={"threads": 8}, input={"tensors": ["float32[1]"], "sets": 1})
    base: dict[str, Any] = {
        "device": full,
        "switches": {"threads": 8},
        "input": {"tensors": ["float32[1]"], "sets": 1},
    }
    after = made(**{**base, **changes})
    assert before.digest != after.digest and not agree(before, after)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": {"contended": True, "others": {"count": 2, "mib": 900}, "before": {"power_w": 90.0}}},
        {"sampled": {"passes": {"latency": {"core_clock_mhz": 900.0}}, "throttle": ["power"]}},
        {"software": software(load_1min=7.5)},
        {"software": software(packages={"python": "3.10.14", "numpy": "2.0"})},
        {"software": software(environment={"HIP_VISIBLE_DEVICES": "3"})},
        {"device": {**DEVICE, "index": 3, "pci_bus_id": "0000:0a:00.0", "numa_node": 1}},
        {"device": {**DEVICE, "visible_addresses": ["0000:0a:00.0"], "something_new": 5}},
        {"host": {**HOST, "kernel": "6.1", "container": "docker"}},
        {"switches": {"threads": 8, "quick": True, "cache": {"mode": "session", "was_empty": False}}},
    ],
)
def test_what_does_not_is_the_same(changes: dict[str, Any]) -> None:
    before = made(software=software())
    after = made(**{"software": software(), **changes})
    assert before.digest == after.digest and agree(before, after)


def test_what_only_one_tells_is_no_difference() -> None:
    old = identity_of(record(device={"kind": "dcu", "driver": "hycu 6.3.8"}))
    assert old.digest != made().digest
    assert agree(old, made()) and agree(None, made()) and agree(None, None)


def test_records_that_tell_the_same_share_one_object() -> None:
    several = Identities()
    first, second = (several.of(record(number, device=DEVICE)) for number in (1, 2))
    assert first is second is identity_of(record(3, [7.0], device=DEVICE))
    assert several.of(record(device={**DEVICE, "driver": "x"})) is not first
    assert several.of(record(device=DEVICE)) is first


def test_rounds_of_two_set_ups_are_of_neither() -> None:
    one, other = made(switches={"threads": 8}), made(switches={"threads": 4})
    assert together([one, one]) is one and together([]) is None
    both = together([one, other])
    assert both is not None and both.facts["switches.threads"] == "mixed: 4; 8"
    assert not agree(both, one) and not agree(both, other)


def test_the_change_is_told_in_words() -> None:
    before, after = {"device.driver": "a", "host.governor": "x"}, {"device.driver": "b", "host.governor": "x"}
    assert told(changed(before, after)) == "device.driver was a, is b"
    many = {f"switches.s{number}": "1" for number in range(5)}
    assert told(changed(many, dict.fromkeys(many, "2"))).endswith("switches.s2 was 1, is 2 (and 2 more)")


class TestSetUps:
    A, B = of_facts({"device.driver": "a"}), of_facts({"device.driver": "b"})

    def numbers(self, *found: Identity | None) -> list[int]:
        set_ups = SetUps()
        return [set_ups.number(one) for one in found]

    def test_of_two_that_take_turns(self) -> None:
        assert self.numbers(self.A, self.B, self.A, self.B) == [0, 1, 0, 1]

    def test_what_tells_nothing_stays_with_the_one_before(self) -> None:
        assert self.numbers(None, self.A, None, self.B, None, self.A) == [0, 0, 0, 1, 1, 0]

    def test_old_evidence_joins_the_one_before_that_it_does_not_contradict(self) -> None:
        full = of_facts({"device.driver": "b", "host.governor": "performance"})
        other = of_facts({"device.driver": "b", "host.governor": "powersave"})
        assert self.numbers(self.A, self.B, full, other, self.B, full) == [0, 1, 1, 2, 2, 1]
