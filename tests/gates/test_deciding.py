"""The comparison that the gates decide on."""

from __future__ import annotations

import pytest

from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.gates.configuration import policy_of
from dcu_asv_ext.gates.deciding import decide
from tests.gates.asking import again, side
from tests.gates.candidates import measured


def test_a_comparison_that_was_made_serves_where_its_margins_are_those_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides = [side("a", measured("suite.step"))], [side("b", again("suite.step"))]
    made = report(*sides)
    expected = decide(*sides, policy_of({}))
    own = decide(*sides, policy_of({"performance": {"margin": "3%"}}))
    monkeypatch.setattr("dcu_asv_ext.gates.deciding.report", lambda *_, **__: pytest.fail("compared again"))
    found = decide(*sides, policy_of({}), made=made)
    assert (found.gates, found.settings, found.notes) == (expected.gates, expected.settings, expected.notes)
    monkeypatch.undo()
    assert decide(*sides, policy_of({"performance": {"margin": "3%"}}), made=made).gates == own.gates
