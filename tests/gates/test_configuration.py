"""`"gate"` of asv.conf.json: defaults, what may be in it, which rule applies, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcu_asv_ext.commands import gate as command
from dcu_asv_ext.comparing.model import Key
from dcu_asv_ext.gates import configuration
from dcu_asv_ext.gates.configuration import GateConfigError, policy_of
from dcu_asv_ext.gates.policy import PACKAGE_SIZE, Allowance, Applied, Performance, Policy

PEAK = Key("suite.attention", "peak_allocated", ("8",))
LATENCY = Key("suite.attention", "latency", ("8",))


def test_nothing_said_is_the_defaults() -> None:
    assert policy_of({}) == Policy()


@pytest.mark.parametrize("text", [configuration.__doc__, command._ABOUT], ids=["module", "help"])
def test_the_documented_defaults_are_the_defaults(text: str) -> None:
    begin = text.index("{", text.index('"dcu"'))
    documented, _ = json.JSONDecoder().raw_decode(text[begin:])
    policy_of(documented["gate"])  # the rules are an example, and valid
    assert policy_of({**documented["gate"], "rules": []}) == Policy()


def test_what_is_named_replaces_only_itself() -> None:
    made = policy_of(
        {
            "correctness": {"growth": 2},
            "performance": {"margin": "2 %", "require": "improvement"},
            "resources": {"peak_reserved": "16 MiB", "cold_start": None, "package_size": "1.5%"},
        }
    )
    assert (made.correctness.growth, made.correctness.unchecked) == (2.0, "allow")
    assert made.performance == Performance(margin=0.02, require="improvement")
    assert made.resources["peak_reserved"] == Allowance("16 MiB", amount=16 * 2**20)
    assert made.resources["cold_start"] is None
    assert made.resources["package_size"] == Allowance("1.5%", share=0.015)
    assert made.resources["peak_allocated"] == Allowance("0%")


def test_an_allowance_is_a_share_or_an_amount() -> None:
    assert Allowance("15%", share=0.15).limit(1000) == 1150
    assert Allowance("1 KiB", amount=1024).limit(1000) == 2024


class TestRules:
    def test_the_last_one_that_matches_wins(self) -> None:
        made = policy_of(
            {
                "rules": [
                    {"bench": "attention", "resources": {"peak_allocated": "10%"}},
                    {"metric": "peak_*", "resources": "20%"},
                    {"bench": "gemm", "resources": {"peak_allocated": "30%"}},
                ]
            }
        )
        assert made.allowance_of(PEAK) == Applied(Allowance("20%", share=0.2), "rule 2")

    def test_one_that_says_nothing_of_a_metric_leaves_it(self) -> None:
        made = policy_of({"rules": [{"bench": "attention", "resources": {"peak_reserved": "10%"}}]})
        assert made.allowance_of(PEAK) == Applied(Allowance("0%"), "")

    def test_bench_is_found_as_bench_of_the_command(self) -> None:
        rule = {"bench": r"attention\.peak_allocated\(8\)$", "resources": {"peak_allocated": "10%"}}
        made = policy_of({"rules": [rule]})
        found = made.allowance_of(PEAK)
        assert found is not None and found.origin == "rule 1"
        other = made.allowance_of(Key("suite.attention", "peak_allocated", ("16",)))
        assert other is not None and other.origin == ""

    def test_settings_are_replaced_one_by_one(self) -> None:
        made = policy_of(
            {
                "performance": {"prototype": "allow"},
                "rules": [{"bench": "attention", "performance": {"margin": "10%"}}],
            }
        )
        found = made.performance_of(LATENCY)
        assert found is not None
        assert found.settings == Performance(margin=0.1, prototype="allow")
        assert found.settings.bound == 0.1, "a larger margin takes the bound with it"

    def test_null_leaves_the_gate_out_and_a_later_rule_takes_it_in_again(self) -> None:
        out = {"bench": "attention", "performance": None}
        assert policy_of({"rules": [out]}).performance_of(LATENCY) is None
        again = {"bench": "attention", "performance": {"margin": "3%"}}
        assert policy_of({"rules": [out, again]}).performance_of(LATENCY) is not None

    def test_the_package_is_no_benchmark(self) -> None:
        size = Key("", PACKAGE_SIZE)
        every = policy_of({"rules": [{"bench": ".*", "resources": {"package_size": "90%"}}]})
        found = every.allowance_of(size)
        assert found is not None and found.settings.text == "10%"
        named = policy_of({"rules": [{"metric": "package_size", "resources": "90%"}]}).allowance_of(size)
        assert named is not None and named.settings.text == "90%"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], '"gate" must be an object'),
        ({"correctnes": {}}, 'unknown gate "correctnes" in "gate" (did you mean "correctness"?)'),
        ({"speed": {}}, 'unknown gate "speed" in "gate"; known: correctness, performance, resources, rules'),
        ({"correctness": None}, '"correctness" of "gate" must be an object, not None'),
        (
            {"correctness": {"grow": 2}},
            'unknown key "grow" in "correctness" of "gate" (did you mean "growth"?)',
        ),
        (
            {"correctness": {"growth": 0.5}},
            '"growth" in "correctness" of "gate" must be a factor of at least 1',
        ),
        ({"correctness": {"growth": True}}, "must be a factor of at least 1, not True"),
        ({"correctness": {"growth": "10"}}, "must be a factor of at least 1, not '10'"),
        ({"correctness": {"unchecked": "deny"}}, 'must be "allow" or "forbid", not \'deny\''),
        ({"performance": {"margin": 0.01}}, 'must be a percentage below 100%, such as "2%", not 0.01'),
        ({"performance": {"margin": "100%"}}, "must be a percentage below 100%"),
        ({"performance": {"margin": "-1%"}}, "must be a percentage below 100%"),
        ({"performance": {"require": "a win"}}, 'must be "no regression" or "improvement"'),
        ({"performance": {"margin": "9%", "equivalence": "5%"}}, 'no smaller than "margin" (9%)'),
        ({"performance": {"equivalence": "0%"}}, "has to be above 0%"),
        ({"performance": {"require": ["improvement"]}}, 'must be "no regression" or "improvement"'),
        ({"resources": {"peak_alocated": "1%"}}, '(did you mean "peak_allocated"?)'),
        ({"resources": {"latency": "1%"}}, 'unknown metric "latency" in "resources" of "gate"'),
        (
            {"resources": {"sync_count": "2 KiB"}},
            'must be a percentage such as "5%", a number such as "2" or null, not \'2 KiB\'',
        ),
        ({"resources": {"sync_count": "-1"}}, 'a number such as "2" or null'),
        ({"resources": {"idle_share": "5%"}}, 'unknown metric "idle_share"'),
        ({"resources": {"profiled_device_time": "5%"}}, 'unknown metric "profiled_device_time"'),
        (
            {"resources": {"peak_card": "5"}},
            'must be a percentage such as "5%", an amount such as "16 MiB" or null',
        ),
        ({"resources": {"peak_card": 5}}, "or null, not 5"),
        ({"resources": {"peak_card": "16 MB"}}, "or null, not '16 MB'"),
        (
            {"resources": {"cold_start": "16 MiB"}},
            '"cold_start" in "resources" of "gate" must be a percentage',
        ),
        ({"rules": {}}, '"rules" in "gate" must be a list'),
        ({"rules": ["x"]}, "rule 1 of \"gate\" must be an object, not 'x'"),
        ({"rules": [{"resources": {}}]}, 'rule 1 of "gate" names neither "bench" nor "metric"'),
        ({"rules": [{"bench": "x"}]}, 'rule 1 of "gate" changes nothing'),
        (
            {"rules": [{"bench": "(", "resources": {}}]},
            '"bench" in rule 1 of "gate" is no regular expression',
        ),
        ({"rules": [{"bench": 3, "resources": {}}]}, "must be a regular expression, not 3"),
        ({"rules": [{"metric": 3, "resources": {}}]}, "must be a name or a pattern, not 3"),
        (
            {"rules": [{"bench": "x", "resources": {}}, {"metric": "latencies", "resources": {}}]},
            'rule 2 of "gate": unknown metric "latencies" (did you mean "latency"?)',
        ),
        (
            {"rules": [{"metric": "peak_*", "performance": {"margin": "2%"}}]},
            "performance looks at latency, time, and none of them is 'peak_*'",
        ),
        ({"rules": [{"bench": "x", "bnch": "y", "resources": {}}]}, 'unknown key "bnch" in rule 1 of "gate"'),
        ({"rules": [{"bench": "x", "speed": {}}]}, 'unknown key "speed" in rule 1'),
        ({"rules": [{"bench": "x", "correctness": {"grow": 1}}]}, 'in "correctness" of rule 1 of "gate"'),
        (
            {"rules": [{"metric": "*", "resources": "16 MiB"}]},
            '"cold_start" in "resources" of rule 1 of "gate" must',
        ),
    ],
)
def test_what_cannot_be_taken_is_said_in_one_sentence(given: Any, told: str) -> None:
    with pytest.raises(GateConfigError) as refused:
        policy_of(given)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
