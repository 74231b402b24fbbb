"""`"gate"` in the `"dcu"` section of asv.conf.json, as a policy.

    "dcu": {"gate": {
        "correctness": {"growth": 10, "unchecked": "allow"},
        "performance": {"margin": "1%", "equivalence": "5%", "require": "no regression",
                        "prototype": "stop", "micro": "tell"},
        "resources": {"peak_allocated": "0%", "peak_reserved": "5%", "peak_card": "5%", "memory_growth": "0 B",
                      "cold_start": "25%", "compile_time": "25%", "package_size": "10%"},
        "rules": [{"bench": "attention", "resources": {"peak_reserved": "16 MiB"}},
                  {"metric": "peak_*", "resources": "10%"},
                  {"bench": "experimental", "performance": null}]}}

These are the defaults, but for "rules", of which there are none. What a profile counts (kernel_count, sync_count,
copy_count_htod, copy_bytes_htod, ...) is gated where "resources" names it: {"sync_count": "0", "kernel_count": "5%"}.
"""

from __future__ import annotations

import difflib
import fnmatch
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from ..metrics import METRICS
from .policy import (
    ALLOW,
    AN_IMPROVEMENT,
    CORRECTNESS,
    COUNTED,
    DEFAULT_ALLOWANCES,
    FORBID,
    GATE,
    GATES,
    LOOKS_AT,
    NO_REGRESSION,
    PERFORMANCE,
    RESOURCES,
    STOP,
    TELL,
    Allowance,
    Correctness,
    Performance,
    Policy,
    Rule,
)

_WORDS = {
    "unchecked": (ALLOW, FORBID),
    "require": (NO_REGRESSION, AN_IMPROVEMENT),
    "prototype": (STOP, ALLOW),
    "micro": (TELL, GATE),
}
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")
_COUNT = re.compile(r"\d+(?:\.\d+)?")
_BYTES = re.compile(r"(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB|TiB)")
_SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class GateConfigError(Exception):
    """An entry of "gate" that cannot be taken; the text says which, in one sentence."""


def policy_of(given: Any) -> Policy:
    """From the loaded object; the defaults for what it does not name. Raises GateConfigError."""
    found = _object(given, '"gate"')
    _known(found, (*GATES, "rules"), '"gate"', "gate")
    rules = found.get("rules", [])
    if not isinstance(rules, list):
        raise GateConfigError(f'"rules" in "gate" must be a list, not {rules!r}')
    return Policy(
        Correctness(**_settings(CORRECTNESS, found.get(CORRECTNESS, {}), "")),
        Performance(**_settings(PERFORMANCE, found.get(PERFORMANCE, {}), "")),
        {**DEFAULT_ALLOWANCES, **_settings(RESOURCES, found.get(RESOURCES, {}), "")},
        tuple(_rule(number, one) for number, one in enumerate(rules, 1)),
    )


def _rule(number: int, given: Any) -> Rule:
    where = f"rule {number}"
    found = _object(given, where)
    _known(found, ("bench", "metric", *GATES), where)
    if not {"bench", "metric"} & set(found):
        raise GateConfigError(
            f'{where} of "gate" names neither "bench" nor "metric", and would match everything'
        )
    changed = [gate for gate in GATES if gate in found]
    if not changed:
        raise GateConfigError(f'{where} of "gate" changes nothing; give it one of {", ".join(GATES)}')
    bench, metric = _bench(found.get("bench"), where), _metric(found.get("metric"), where)
    changes: dict[str, Mapping[str, Any] | None] = {}
    for gate in changed:
        meant = [name for name in LOOKS_AT[gate] if metric is None or fnmatch.fnmatchcase(name, metric)]
        if not meant:
            raise GateConfigError(
                f'{where} of "gate": {gate} looks at {", ".join(LOOKS_AT[gate])}, and none of them is {metric!r}'
            )
        value = found[gate]
        if gate == RESOURCES and isinstance(value, str):
            # With a pattern one allowance is meant for all that it matches, without one for all that are gated.
            value = dict.fromkeys([one for one in meant if metric or one not in COUNTED], value)
        changes[gate] = None if value is None else _settings(gate, value, f" of {where}")
    return Rule(number, bench, metric, changes)


def _bench(given: Any, where: str) -> re.Pattern[str] | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise GateConfigError(f'"bench" in {where} of "gate" must be a regular expression, not {given!r}')
    try:
        return re.compile(given)
    except re.error as fault:
        raise GateConfigError(
            f'"bench" in {where} of "gate" is no regular expression ({fault}): {given!r}'
        ) from None


def _metric(given: Any, where: str) -> str | None:
    if given is None:
        return None
    known = list(dict.fromkeys([*METRICS, *(name for names in LOOKS_AT.values() for name in names)]))
    if not isinstance(given, str):
        raise GateConfigError(f'"metric" in {where} of "gate" must be a name or a pattern, not {given!r}')
    if not fnmatch.filter(known, given):
        raise GateConfigError(f'{where} of "gate": unknown metric "{given}"{_hint(given, known)}')
    return given


def _settings(gate: str, given: Any, where: str) -> dict[str, Any]:
    """Those that are named. Raises GateConfigError."""
    place = f'"{gate}"{where}'
    found = _object(given, place)
    if gate == RESOURCES:
        _known(found, DEFAULT_ALLOWANCES, place, "metric")
        return {name: _allowance(name, value, place) for name, value in found.items()}
    kind = Correctness if gate == CORRECTNESS else Performance
    _known(found, [one.name for one in fields(kind)], place)
    made = {name: _setting(name, value, place) for name, value in found.items()}
    margin, bound = made.get("margin", 0.0), made.get("equivalence", 1.0)
    if bound == 0 or bound < margin:
        raise GateConfigError(
            f'"equivalence" in {place} of "gate" ({100 * bound:g}%) has to be above 0%, and no smaller than "margin" '
            f"({100 * margin:g}%)"
        )
    return made


def _setting(name: str, value: Any, place: str) -> Any:
    if name in _WORDS:
        if value not in _WORDS[name]:
            known = " or ".join(f'"{word}"' for word in _WORDS[name])
            raise GateConfigError(f'"{name}" in {place} of "gate" must be {known}, not {value!r}')
        return value
    if name == "growth":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < 1:
            raise GateConfigError(
                f'"growth" in {place} of "gate" must be a factor of at least 1, not {value!r}'
            )
        return float(value)
    share = _share(value)
    if share is None or share >= 1:
        raise GateConfigError(
            f'"{name}" in {place} of "gate" must be a percentage below 100%, such as "2%", not {value!r}'
        )
    return share


def _allowance(name: str, value: Any, place: str) -> Allowance | None:
    if value is None:
        return None
    share = _share(value)
    if share is not None:
        return Allowance(str(value), share=share)
    unit = METRICS[name].unit if name in METRICS else "bytes"
    amount = _amount(value, unit)
    if amount is None:
        more = {"bytes": ', an amount such as "16 MiB"', "count": ', a number such as "2"'}.get(unit, "")
        forms = f'a percentage such as "{5 if more else 25}%"{more}'
        raise GateConfigError(f'"{name}" in {place} of "gate" must be {forms} or null, not {value!r}')
    return Allowance(str(value), amount=amount)


def _amount(value: Any, unit: str) -> float | None:
    """In the metric's unit; None for what is no amount of it."""
    if not isinstance(value, str):
        return None
    if unit == "count":
        return float(value) if _COUNT.fullmatch(value.strip()) else None
    found = _BYTES.fullmatch(value.strip()) if unit == "bytes" else None
    return None if found is None else float(found[1]) * _SIZES[found[2]]


def _share(value: Any) -> float | None:
    found = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    return None if found is None else float(found[1]) / 100


def _object(given: Any, place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        outer = "" if place == '"gate"' else ' of "gate"'
        raise GateConfigError(f"{place}{outer} must be an object, not {given!r}")
    return given


def _known(found: Mapping[str, Any], known: Collection[str], place: str, what: str = "key") -> None:
    outer = ' in "gate"' if place == '"gate"' else f' in {place} of "gate"'
    for name in found:
        if name not in known:
            raise GateConfigError(f'unknown {what} "{name}"{outer}{_hint(str(name), known)}')


def _hint(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f' (did you mean "{close[0]}"?)' if close else f"; known: {', '.join(known)}"
