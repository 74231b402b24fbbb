"""What differs besides the code, what forbids a comparison, and what was declared."""

from __future__ import annotations

import pytest

from dcu_asv_ext.comparing.differences import UNSET, check_vary, differences, sentence, together, undeclared
from dcu_asv_ext.comparing.model import ComparisonError, Difference

BASE = {
    "device.driver": "6.3",
    "software.torch": "2.4.1",
    "software.python": "3.10.12",
    "software.numpy": "1.26",
}


def _changed(**changes):
    return {**BASE, **{name.replace("__", "."): value for name, value in changes.items()}}


def _names(found):
    return [one.name for one in found]


def test_equal_facts_have_no_difference():
    assert differences(BASE, dict(BASE)) == []


@pytest.mark.parametrize(
    "name",
    [
        "machine.cpu", "machine.machine", "device.product", "device.driver", "software.torch", "software.dtk",
        "software.hip", "software.cuda", "software.toolkit.dtk", "environment.MIOPEN_FIND_MODE", "switches.threads",
        "switches.tf32_matmul", "requirement.torch", "input.tensors", "host.cpu", "host.governor",
        "device.performance_level", "device.power_cap_w",
    ],
)  # fmt: skip
def test_what_changes_results_forbids_the_comparison(name):
    assert undeclared(differences({name: "a"}, {name: "b"}))


@pytest.mark.parametrize(
    "name",
    [
        "software.numpy", "software.asv", "host.load_1min", "device.temperature_c", "device.index",
        "device.pci_bus_id", "machine.ram", "machine.os", "environment.HIP_VISIBLE_DEVICES",
        "environment.DCU_ASV_DEVICE", "host.kernel", "host.container", "device.numa_node", "state.contended",
        "state.others.count", "sampled.passes.latency.core_clock_mhz", "device.never_seen_before",
    ],
)  # fmt: skip
def test_what_hardly_does_is_only_shown(name):
    found = differences({name: "1"}, {name: "2"})
    assert _names(found) == [name] and undeclared(found) == []


def test_a_patch_release_of_python_is_only_shown():
    assert undeclared(differences(BASE, _changed(software__python="3.10.14"))) == []
    assert undeclared(differences(BASE, _changed(software__python="3.11.1")))


def test_those_that_matter_come_first():
    found = differences(BASE, _changed(software__numpy="2.0", software__torch="2.5"))
    assert _names(found) == ["software.torch", "software.numpy"]


def test_what_one_side_does_not_tell_is_no_difference():
    assert differences(BASE, {"software.torch": "2.4.1"}) == []


def test_an_environment_variable_that_one_side_has_not_set_is_one():
    found = differences(BASE, _changed(environment__OMP_NUM_THREADS="1"))
    assert found == [Difference("environment.OMP_NUM_THREADS", UNSET, "1", True)]
    assert differences({"machine.cpu": "A"}, {"machine.cpu": "A", "environment.X": "1"}) == []


class TestVary:
    @pytest.mark.parametrize("name", ["device.driver", "driver", "Driver", "DEVICE.DRIVER"])
    def test_a_fact_is_named_in_full_or_by_its_last_part(self, name):
        found = differences(BASE, _changed(device__driver="6.4"), [name])
        assert found[0].declared and undeclared(found) == []

    def test_another_fact_is_not_declared_by_it(self):
        found = differences(BASE, _changed(device__driver="6.4", software__torch="2.5"), ["driver"])
        assert _names(undeclared(found)) == ["software.torch"]

    def test_torch_takes_its_toolkit_with_it(self):
        before = {
            "software.torch": "2.1.0",
            "software.dtk": "2404",
            "software.hip": "5.7",
            "software.torch_git": "a",
        }
        after = {
            "software.torch": "2.4.1",
            "software.dtk": "2504",
            "software.hip": "6.3",
            "software.torch_git": "b",
        }
        assert undeclared(differences(before, after, ["torch"])) == []

    def test_a_toolkit_takes_a_rebuilt_torch_with_it_but_no_other_torch(self):
        before = {
            "software.torch": "2.4.1+das.dtk2404",
            "software.dtk": "2404",
            "software.toolkit.dtk": "24.04",
        }
        rebuilt = {
            "software.torch": "2.4.1+das.dtk2504",
            "software.dtk": "2504",
            "software.toolkit.dtk": "25.04",
        }
        assert undeclared(differences(before, rebuilt, ["dtk"])) == []
        other = {**rebuilt, "software.torch": "2.5.0+das.dtk2504"}
        assert _names(undeclared(differences(before, other, ["dtk"]))) == ["software.torch"]

    def test_the_number_of_threads_follows_its_variable(self):
        before = {**BASE, "environment.OMP_NUM_THREADS": "8", "switches.threads": "8"}
        after = {**BASE, "environment.OMP_NUM_THREADS": "1", "switches.threads": "1"}
        assert undeclared(differences(before, after, ["OMP_NUM_THREADS"])) == []

    def test_a_driver_does_not_come_with_torch(self):
        after = _changed(software__torch="2.5", device__driver="6.4")
        assert _names(undeclared(differences(BASE, after, ["torch"]))) == ["device.driver"]

    def test_a_name_that_differs_is_right(self):
        check_vary(["torch"], differences(BASE, _changed(software__torch="2.5"), ["torch"]), BASE)

    def test_a_name_that_is_the_same_on_both_sides_is_refused(self):
        found = differences(BASE, _changed(software__torch="2.5"))
        with pytest.raises(
            ComparisonError, match=r"--vary driver: it is the same .*what differs: software\.torch$"
        ):
            check_vary(["driver"], found, BASE)

    def test_a_name_that_no_fact_has_is_refused(self):
        with pytest.raises(ComparisonError, match=r"--vary colour: no fact .*what differs: nothing$"):
            check_vary(["colour"], [], BASE)


def test_differences_of_many_pairs_are_told_once_with_all_values():
    one = [Difference("switches.threads", "8", "4", True, True)]
    other = [Difference("switches.threads", "8", "2", True), Difference("host.load_1min", "1", "2", False)]
    assert together([one, other]) == [
        Difference("switches.threads", "8", "mixed: 2; 4", True, declared=False),
        Difference("host.load_1min", "1", "2", False),
    ]


def test_the_sentence_names_the_fact_and_says_whether_it_is_the_machine_s():
    driver = Difference("device.driver", "6.3", "6.4", True)
    torch = Difference("software.torch", "2.4", "2.5", True)
    assert sentence([driver]) == "the machine changed: device.driver was 6.3, is 6.4"
    assert (
        sentence([torch, driver]) == "more than the code changed: software.torch was 2.4, is 2.5 (and 1 more)"
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [("0.5 to 3", "1 to 2", False), ("0.5 to 3", "4", True), ("1400", "1410", False), ("1400", "1200", True)],
)
def test_a_reading_is_told_where_the_sides_lie_apart(before, after, told):
    name = "sampled.passes.latency.core_clock_mhz"
    assert _names(differences({name: before}, {name: after})) == ([name] if told else [])
    assert not differences({name: before}, {name: after}) or not undeclared(
        differences({name: before}, {name: after})
    )


def test_another_machine_comes_with_its_governor():
    before = {"machine.machine": "a", "host.governor": "performance", "host.cpu": "X", "host.numa_nodes": "1"}
    after = {"machine.machine": "b", "host.governor": "powersave", "host.cpu": "Y", "host.numa_nodes": "8"}
    assert undeclared(differences(before, after, ["machine"])) == []
    assert _names(undeclared(differences(before, {**before, "host.governor": "powersave"}, []))) == [
        "host.governor"
    ]


def test_the_governor_is_the_machine_s():
    assert sentence([Difference("host.governor", "performance", "powersave", True)]) == (
        "the machine changed: host.governor was performance, is powersave"
    )
