"""What measurements hung on, as text."""

from __future__ import annotations

import pytest

from dcu_asv_ext.comparing.facts import (
    MATTERS,
    SHOWN,
    VOLATILE,
    all_facts,
    asv_facts,
    is_figure,
    merged,
    record_facts,
    role,
    span,
)
from tests.comparing.measured import record


def test_facts_of_a_record_have_flat_names():
    device = {
        "kind": "dcu", "product": "K100_AI", "driver": "hycu 6.3.8", "runtime": "6.3.42134",
        "torch": "2.4.1+das.dtk2504",
        "torch_git": "abc", "dtk": "2504", "toolkits": {"dtk": "25.04"}, "visible": {"HIP_VISIBLE_DEVICES": "3"},
        "devices_in_use": [0, 1], "threads": 8, "pci_bus_id": None,
    }  # fmt: skip
    software = {
        "packages": {"python": "3.10.12", "torch": "2.4.1"},
        "environment": {"OMP_NUM_THREADS": "8"},
        "load_1min": 0.25,
    }
    switches = {
        "threads": 8,
        "tf32_matmul": False,
        "quick": True,
        "cache": {"mode": "session", "wrote": True},
    }
    found = record_facts(
        record(device=device, software=software, switches=switches, input={"tensors": ["f[2]"]})
    )
    assert found == {
        "device.kind": "dcu",
        "device.product": "K100_AI",
        "device.driver": "hycu 6.3.8",
        "device.devices_in_use": "0, 1",
        "software.python": "3.10.12",
        "software.torch": "2.4.1+das.dtk2504",
        "software.torch_git": "abc",
        "software.dtk": "2504",
        "software.hip": "6.3.42134",
        "software.toolkit.dtk": "25.04",
        "environment.HIP_VISIBLE_DEVICES": "3",
        "environment.OMP_NUM_THREADS": "8",
        "switches.threads": "8",
        "switches.tf32_matmul": "off",
        "switches.cache.mode": "session",
        "input.tensors": "f[2]",
        "host.load_1min": "0.25",
    }


def test_the_runtime_is_named_after_the_kind_of_device():
    def runtime(kind):
        found = record_facts(record(device={"kind": kind, "runtime": "1"}))
        return [name for name, value in found.items() if value == "1"]

    assert runtime("cuda") == ["software.cuda"]
    assert runtime("hip") == ["software.hip"]
    assert runtime("xpu") == ["software.runtime"]


def test_asv_s_file_tells_of_machine_requirements_and_environment():
    params = {"machine": "host", "cpu": "EPYC", "python": "3.10", "torch": "2.4.1", "version": 1}
    assert asv_facts(params, {"torch": "2.4.1"}, {"OMP_NUM_THREADS": "8"}, "3.10") == {
        "machine.machine": "host",
        "machine.cpu": "EPYC",
        "requirement.python": "3.10",
        "requirement.torch": "2.4.1",
        "environment.OMP_NUM_THREADS": "8",
    }


def test_what_the_evidence_tells_better_is_told_once():
    of_file = {
        "requirement.torch": "2.4.1",
        "requirement.device": "dcu",
        "requirement.numba": "1",
        "machine.cpu": "A",
    }
    of_rounds = {"software.torch": "2.4.1+das", "device.kind": "dcu"}
    assert all_facts(of_file, of_rounds) == {"requirement.numba": "1", "machine.cpu": "A", **of_rounds}
    assert all_facts(of_file, {}) == of_file


def test_many_become_one_text():
    a = {"device.product": "K100", "switches.threads": "8", "host.load_1min": "0.5"}
    b = {"device.product": "K100", "switches.threads": "4", "host.load_1min": "1.25 to 3"}
    assert merged([a, b, a]) == {
        "device.product": "K100",
        "switches.threads": "mixed: 4; 8",
        "host.load_1min": "0.5 to 3",
    }
    assert merged([{"device.power": "300 W"}, {"device.power": "9 W"}]) == {
        "device.power": "mixed: 300 W; 9 W"
    }
    assert merged([merged([a, b]), {"switches.threads": "2"}])["switches.threads"] == "mixed: 2; 4; 8"


def test_readings_are_told_from_properties():
    assert is_figure("device.clock_mhz") and is_figure("device.temperature_c") and is_figure("host.load_1min")
    assert not is_figure("device.product") and not is_figure("environment.POWER")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("host.governor", MATTERS),
        ("device.performance_level", MATTERS),
        ("device.power_cap_w", MATTERS),
        ("environment.OMP_NUM_THREADS", MATTERS),
        ("host.kernel", SHOWN),
        ("host.container", SHOWN),
        ("host.cores", SHOWN),
        ("host.memory_total", SHOWN),
        ("device.numa_node", SHOWN),
        ("environment.HIP_VISIBLE_DEVICES", SHOWN),
        ("device.heard_of_for_the_first_time", SHOWN),
        ("of_no_group", SHOWN),
        ("host.load_1min", VOLATILE),
        ("state.contended", VOLATILE),
        ("state.before.power_w", VOLATILE),
        ("sampled.anything", VOLATILE),
        ("device.clock_mhz", VOLATILE),
    ],
)
def test_what_a_fact_is_to_a_comparison(name, expected):
    assert role(name) == expected


def test_the_machine_and_what_it_was_like_are_facts_too():
    given = record(
        device={"kind": "hip", "visible_addresses": ["0000:09:00.0"], "performance_level": "high"},
        host={"cpu": "EPYC", "governor": "performance", "container": "docker"},
        state={
            "contended": True,
            "others": {"count": 2, "mib": 512},
            "before": {"used_bytes": 5},
            "load_1min": 3,
        },
        sampled={
            "passes": {"latency": {"core_clock_mhz": 1400.0, "readings": 9}, "memory": {"power_w": 9.0}},
            "times": [0.0],
        },
    )
    found = record_facts(given)
    told = {name: value for name, value in found.items() if name.startswith(("host.", "state.", "sampled."))}
    assert told == {
        "host.cpu": "EPYC",
        "host.governor": "performance",
        "host.container": "docker",
        "host.load_1min": "0.5",
        "state.contended": "on",
        "state.others.count": "2",
        "state.others.mib": "512",
        "sampled.passes.latency.core_clock_mhz": "1400",
    }
    assert found["device.performance_level"] == "high"
    assert not any("address" in name for name in found)


@pytest.mark.parametrize("bad", [[], "text", {"passes": []}, {"passes": {"latency": [1]}}])
def test_what_was_sampled_in_another_shape_is_no_fact(bad):
    assert not any(name.startswith("sampled") for name in record_facts({**record(), "sampled": bad}))


def test_ends_of_a_figure():
    assert span("3") == (3.0, 3.0) and span("5 to 3") == (3.0, 5.0) and span("-1e3") == (-1000.0, -1000.0)
    assert span("300 W") is None and span("e") is None and span("mixed: 1; 2") is None
