"""Two results of a place as the pages tell them: what `dcu-asv compare` and `dcu-asv gate` say of them, as JSON with
short numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..comparing import as_json
from ..comparing.deciding import report
from ..comparing.lending import Past
from ..comparing.model import Report, ResultSet
from ..comparing.outcome import DEFAULT_FAIL_ON, exit_code
from ..gates import as_json as gates_as_json
from ..gates.deciding import decide
from ..gates.model import exit_code as gates_exit_code
from ..gates.policy import Policy

#: Significant digits of a number that is not whole: more than any page shows, and half the size of all of them.
DIGITS = 7


def compared(
    before: ResultSet,
    after: ResultSet,
    history: Sequence[Past],
    *,
    notes: Sequence[str] = (),
    policy: Policy | None,
    policy_fault: str = "",
) -> dict[str, Any]:
    """What `dcu-asv compare --json` prints; under "gates" what `dcu-asv gate --json` does, or {"error": sentence}.

    history: the results up to `before` in commit order. notes: on results that were passed over.
    """
    found = report([before], [after], history=history)
    gates = _gates(found, history, notes, policy, policy_fault)
    sides = {before.commit, after.commit}
    found.notes += notes
    found.settings = {
        **found.settings,
        "bench": [],
        "metric": [],
        "fail_on": list(DEFAULT_FAIL_ON),
        "history": len({one.commit for one in history} - sides),
        "against": before.commit[:8],
    }
    told: dict[str, Any] = short({**as_json.as_json(found, exit_code(found)), "gates": gates})
    return told


def _gates(
    found: Report,
    history: Sequence[Past],
    notes: Sequence[str],
    policy: Policy | None,
    policy_fault: str,
) -> dict[str, Any]:
    if policy is None:
        return {"error": policy_fault}
    answer = decide(found.before, found.after, policy, history=history, made=found)
    answer.notes += notes
    answer.can_rerun = True
    return gates_as_json.as_json(answer, gates_exit_code(answer))


def short(value: Any) -> Any:
    """JSON with `DIGITS` of its numbers; whole numbers (bytes, counts) stay whole."""
    kind = type(value)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.{DIGITS}g}")
    if kind is dict:
        return {name: short(one) for name, one in value.items()}
    return [short(one) for one in value] if kind is list else value
