"""The answer of the gates as JUnit's XML, as GitLab and Jenkins read it: a test case for each gate and benchmark.

What failed is a failure, what could not be decided or measured an error, and what decides nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..comparing import figures
from . import showing
from .model import FAILED, OUTCOMES, PASSED, TOLD, Answer, Finding, Gate

_NAME = "dcu-asv gate"
#: What is not of one benchmark: the package's size, a demand on all of them.
_WHOLE = "candidate"


def render(answer: Answer) -> str:
    root = ElementTree.Element("testsuites", name=_NAME)
    suites = [_suite(root, gate) for gate in answer.gates]
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(one.get(name, "0")) for one in suites)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}'


def _suite(root: ElementTree.Element, gate: Gate) -> ElementTree.Element:
    cases: dict[str, list[Finding]] = {}
    for one in gate.findings:
        name = f"{one.name} [{one.env}]" if one.env else one.name
        cases.setdefault(name or _WHOLE, []).append(one)
    suite = ElementTree.SubElement(root, "testsuite", name=f"{_NAME}: {gate.name}")
    counted = {"failures": 0, "errors": 0, "skipped": 0}
    for name, found in cases.items():
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"gate.{gate.name}", name=_legal(name), time="0"
        )
        kind = _fill(case, found)
        if kind:
            counted[kind] += 1
    suite.set("tests", str(len(cases)))
    for kind, number in counted.items():
        suite.set(kind, str(number))
    suite.set("time", "0")
    return suite


def _fill(case: ElementTree.Element, found: Sequence[Finding]) -> str:
    """The gravest of the findings decides what the case is; the attribute that counts it, "" for a pass."""
    outcome = next((one for one in OUTCOMES if any(each.outcome == one for each in found)), TOLD)
    telling = [one for one in found if one.outcome not in (PASSED, TOLD)] or found
    if outcome == PASSED:
        ElementTree.SubElement(case, "system-out").text = _text(found)
        return ""
    words = ", ".join(dict.fromkeys(f"{one.word} {one.metric}".strip() for one in telling))
    if outcome == TOLD:
        reasons = "; ".join(dict.fromkeys(one.reason for one in found))
        ElementTree.SubElement(case, "skipped", message=_legal(f"{words}: {reasons}"))
        return "skipped"
    tag, kind = ("failure", "failures") if outcome == FAILED else ("error", "errors")
    made = ElementTree.SubElement(case, tag, message=_legal(words), type=outcome)
    made.text = _text(telling)
    return kind


def _text(found: Sequence[Finding]) -> str:
    return _legal("\n".join(_line(one) for one in found))


def _line(one: Finding) -> str:
    before, after = showing.levels(one.figures)
    span = showing.interval(one.figures)
    parts = [f"{one.word} {one.metric}".strip()]
    if before:
        parts.append(f"{before} -> {after}")
    if ratio := showing.ratio(one.figures):
        parts.append(f"ratio {ratio}" + (f" {span}" if span else ""))
    if number := showing.rounds(one.figures):
        parts.append(f"{number} rounds")
    told = showing.explained(one)
    return ", ".join(parts) + (f": {told}" if told else "")


def _legal(text: str) -> str:
    """Without the letters that XML does not have, not even escaped."""
    return "\n".join(figures.printable(line) for line in text.split("\n"))
