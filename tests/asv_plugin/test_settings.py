"""The "dcu" section of asv.conf.json: defaults, and one sentence for whatever cannot be taken."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.settings import Settings, SettingsError, settings_of


def settings(given: Any) -> Settings:
    return settings_of(SimpleNamespace(dcu=given))


def test_without_a_section_the_defaults_hold() -> None:
    assert settings_of(SimpleNamespace()) == Settings()
    assert settings({}) == Settings("dcu", "wait", False, False, True, 30, 16, 20, True, 20, False)


def test_every_key_is_taken() -> None:
    given = {
        "verdict": "asv",
        "card": "refuse",
        "share_card": True,
        "publish_simulated": True,
        "offline": False,
        "keep_environments": 3,
        "trace_limit_mb": 4,
        "keep_traces": 0,
        "pages": False,
        "published_evidence": 0,
        "compare_all": True,
        "gate": {"performance": {"margin": "2%"}},
    }
    assert settings(given) == Settings(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"verdikt": "asv"}, ['"verdikt"', 'did you mean "verdict"?']),
        ({"colour": "red"}, ['"colour"', "known: verdict, card"]),
        ({"verdict": "mine"}, ['"verdict"', "dcu, asv", "'mine'"]),
        ({"card": True}, ['"card"', "wait, refuse", "True"]),
        ({"share_card": "yes"}, ['"share_card"', "true or false", "'yes'"]),
        ({"publish_simulated": 1}, ['"publish_simulated"', "true or false"]),
        ({"keep_environments": 0}, ['"keep_environments"', "at least 1", "0"]),
        ({"keep_environments": True}, ['"keep_environments"', "at least 1"]),
        ({"keep_environments": 2.5}, ['"keep_environments"', "whole number"]),
        ({"pages": "no"}, ['"pages"', "true or false", "'no'"]),
        ({"published_evidence": -1}, ['"published_evidence"', "at least 0", "-1"]),
        ({"compare_all": 1}, ['"compare_all"', "true or false"]),
        ({"gate": "strict"}, ['"gate"', "must be an object", "'strict'"]),
        ({"gate": None}, ['"gate"', "must be an object", "None"]),
        ([], ['"dcu"', "must be an object"]),
        ("asv", ['"dcu"', "must be an object"]),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence(given: Any, words: list[str]) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(given)
    text = str(refused.value)
    assert "\n" not in text
    for word in words:
        assert word in text


def test_a_choice_that_is_no_text_is_refused_and_not_crashed_over() -> None:
    with pytest.raises(SettingsError, match="must be one of"):
        settings({"verdict": ["dcu"]})
