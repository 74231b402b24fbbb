"""`--json` of hy-smi and rocm-smi: {"card0": {label: value}}, also where it is not quite JSON.

Releases leave out commas between fields, print warnings before the object, and print one object per query. So the
text is read token by token: a label is a string before a colon, its value the string or number behind it, and a
pair counts only where something that can follow a value does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .smi_labels import LONGEST_LABEL

_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(
    r"""
    "(?P<string>[^"\\\n]*(?:\\.[^"\\\n]*)*)"
  | (?P<sign>[{}\[\]:,])
  | (?P<word>[^\s{}\[\]:,"]+)
    """,
    re.VERBOSE,
)
_CARD = re.compile(r"(?:card|gpu|dcu|hcu)[ _-]?[0-9]{1,3}", re.IGNORECASE)
_BROKEN, _END = "broken", "end"


class _Token(NamedTuple):
    kind: str
    text: str


_COLON = _Token("sign", ":")


class Pair(NamedTuple):
    """A label and its value, in the object of this name."""

    name: str
    label: str
    value: str


def read_pairs(text: str) -> Iterator[Pair]:
    """Every label with a plain value directly in a named object; a value that may have been cut off is left out.

    No known release puts an object into another card's. Where one begins, or where a card is named in any other way,
    a bracket has been lost, and what follows is given to no card until the next object is named.
    """
    if "{" not in text or '"' not in text:
        return
    name, label, behind_colon = "", "", False
    for token, after in pairwise(_tokens(text)):
        if token == _COLON:
            behind_colon = bool(label)
            continue
        if _CARD.fullmatch(token.text):
            name = ""
        if token.kind == "sign":
            if token.text in "{}":
                name = label if behind_colon and token.text == "{" else ""
        elif behind_colon and name and _can_follow(token, after):
            if len(label) <= LONGEST_LABEL:
                yield Pair(name, label, token.text)
        elif token.kind == "string":
            label, behind_colon = token.text, False
            continue
        label, behind_colon = "", False


def _can_follow(value: _Token, after: _Token) -> bool:
    """A string may stand without a comma before the next label; a bare number at the end may have been cut."""
    if after.kind == "string":
        return value.kind == "string"
    if after.kind == _END:
        return value.kind == "string"
    return after.kind == "sign" and after.text in ",}"


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text)
    while (position := _after_space(text, position)) < end:
        found = _TOKEN.match(text, position)
        if found is None:
            # A quote that is not closed on its line: nothing after it on that line can be told apart.
            line_end = text.find("\n", position + 1)
            position = line_end if line_end >= 0 else end
            yield _Token(_BROKEN, "")
            continue
        position = found.end()
        kind = str(found.lastgroup)
        yield _Token(kind, found.group(kind))
    yield _Token(_END, "")


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
