"""The gates asked of measurements, without files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dcu_asv_ext.comparing.model import Key, ResultSet
from dcu_asv_ext.comparing.reading import Entries, read_results
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.gates.configuration import policy_of
from dcu_asv_ext.gates.deciding import decide
from dcu_asv_ext.gates.model import Answer, Finding
from tests.gates.candidates import measured


def side(commit: str, records: Sequence[Measurement], env: str = "env") -> ResultSet:
    """commit: one letter, repeated."""
    lines = []
    for one in records:
        one.session = one.session or commit
        lines.append(one.to_dict())
    return read_results("box", commit * 40, env, entries=Entries(), records=lines)


def ask(
    base: Sequence[Measurement],
    candidate: Sequence[Measurement],
    gate: Any = None,
    match: Callable[[Key], bool] | None = None,
) -> Answer:
    return decide([side("a", base)], [side("b", candidate)], policy_of(gate or {}), match=match)


def again(name: str = "suite.step", **changes: Any) -> list[Measurement]:
    """The candidate's measurements: an hour later, other noise."""
    return measured(name, **{"hours": 1.0, "seed": 50, **changes})


def of(answer: Answer, gate: str) -> list[Finding]:
    """A gate's findings, gravest first."""
    return [one for each in answer.gates if each.name == gate for one in each.findings]


def outcomes(answer: Answer) -> dict[str, str]:
    return {one.name: one.outcome for one in answer.gates}


def words(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(one.outcome, one.word) for one in found]
