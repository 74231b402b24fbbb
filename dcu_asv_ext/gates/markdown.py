"""The answer of the gates for a merge request: GitHub's and GitLab's Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..comparing.markdown import code, plain
from ..comparing.showing import side_name
from . import showing
from .model import PASSED, Answer, Finding, Gate
from .showing import Group


def render(answer: Answer) -> str:
    before, after = map(code, showing.title(answer))
    lines = [
        f"### Gates: {before} → {after}",
        "",
        f"**{plain(showing.headline(answer))}**",
        "",
        "| gate | outcome |",
        "|---|---|",
        *(f"| {gate.name} | {_strong(gate)} |" for gate in answer.gates),
        "",
        f"base: {plain(side_name(answer.before))}<br>",
        f"candidate: {plain(side_name(answer.after))}",
        "",
        *_notes(answer),
    ]
    for gate in answer.gates:
        lines += _gate(gate)
    return "\n".join(lines).rstrip()


def _strong(gate: Gate) -> str:
    return gate.outcome if gate.outcome == PASSED else f"**{gate.outcome}**"


def _notes(answer: Answer) -> Iterator[str]:
    grave = [one for one in answer.differences if one.matters or one.declared]
    told = [
        f"besides the code, {one.name} differs: {one.before} → {one.after} "
        f"({'declared: the experiment' if one.declared else 'not declared'})"
        for one in grave
    ]
    for note in dict.fromkeys([*told, *answer.notes]):
        yield f"> {plain(note)}"
        yield ""


def _gate(gate: Gate) -> Iterator[str]:
    groups = showing.groups(gate)
    lines = [*_table([group for group in groups if group.shown]), *_counted(groups)]
    if not lines:
        return
    if gate.outcome == PASSED:
        yield f"<details><summary>{gate.name}: {gate.outcome}</summary>"
        yield ""
        yield from lines
        yield "</details>"
        yield ""
    else:
        yield f"#### {gate.name}: {gate.outcome}"
        yield ""
        yield from lines


def _table(groups: Sequence[Group]) -> Iterator[str]:
    if not groups:
        return
    yield "| finding | benchmark | metric | base | candidate | ratio (95 % interval) | rounds | why |"
    yield "|---|---|---|--:|--:|--:|--:|---|"
    for group in groups:
        for one in group.shown:
            yield "| " + " | ".join(_cells(one)) + " |"
    yield ""


def _cells(one: Finding) -> Iterator[str]:
    yield one.word if one.outcome == PASSED else f"**{one.word}**"
    yield code(f"{one.name} [{one.env}]" if one.env else one.name)
    yield plain(one.metric)
    yield from (plain(text) for text in showing.levels(one.figures))
    span = showing.interval(one.figures).strip("[]").replace(", ", " to ")
    yield showing.ratio(one.figures) + (f" ({span})" if span else "")
    yield showing.rounds(one.figures)
    yield plain(showing.explained(one))


def _counted(groups: Sequence[Group]) -> list[str]:
    lines = [f"- {plain(f'{group.word}: {text}')}" for group in groups for text in group.folded]
    return [*lines, ""] if lines else []
