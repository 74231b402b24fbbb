"""Which functions of the suite are measured, from the names that a user types."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

from ..asv_plugin.interleaving import Function, Selection


class ChoiceError(Exception):
    """A name that selects nothing, or not what it has to; the text is one sentence."""


def choose(functions: Sequence[Function], names: Sequence[str]) -> Selection:
    """function -> indices of its combinations; everything where no name is given.

    A name is `module.function`, `function`, one of them with `(parameters)` as asv prints them, asv's own name of one
    series (its whole function is measured), or else a regular expression searched for in
    `module.function(parameters)`. Raises ChoiceError for a name that selects nothing.
    """
    if not names:
        return {one.name: range(len(one.combinations)) for one in functions}
    found: dict[str, set[int]] = {}
    for name in names:
        hits = _matching(functions, _named(name)) or _matching(functions, _searched(name))
        if not hits:
            raise ChoiceError(f"no benchmark is called {name!r}, nor matches it{hint(functions, name)}")
        for function, index in hits:
            found.setdefault(function, set()).add(index)
    return {name: sorted(indices) for name, indices in found.items()}


def one_function(functions: Sequence[Function], name: str) -> Function | None:
    """The function of exactly this name (`module.function`, or `function` where only one module has it)."""
    whole = [one for one in functions if one.name == name]
    bare = [one for one in functions if one.name.rpartition(".")[2] == name]
    found = whole or bare
    return found[0] if len(found) == 1 else None


def hint(functions: Sequence[Function], name: str) -> str:
    known = [one.name for one in functions]
    short = {one.rpartition(".")[2]: one for one in known}
    wanted = name.partition("(")[0]
    close = difflib.get_close_matches(wanted, known, 1) or [
        short[one] for one in difflib.get_close_matches(wanted, short, 1)
    ]
    if close:
        return f" (did you mean {close[0]}?)"
    return f"; the suite has {', '.join(known[:8])}" + (" and others" if len(known) > 8 else "")


def count(selection: Selection) -> int:
    """Measurements of one round on one side."""
    return sum(len(indices) for indices in selection.values())


#: (function, "(parameters)" or "") -> whether it is meant.
_Test = Callable[[Function, str], bool]


def _matching(functions: Sequence[Function], meant: _Test) -> list[tuple[str, int]]:
    return [
        (one.name, index)
        for one in functions
        for index, values in enumerate(one.combinations)
        if meant(one, f"({', '.join(values)})" if values else "")
    ]


def _named(name: str) -> _Test:
    head, bracket, rest = name.partition("(")
    wanted = _plain(bracket + rest)

    def meant(function: Function, parameters: str) -> bool:
        called = head in (function.name, function.name.rpartition(".")[2], *function.benchmarks)
        return called and (not wanted or _plain(parameters) == wanted)

    return meant


def _plain(parameters: str) -> str:
    """Without the spaces and quotes that a shell makes hard to type."""
    return re.sub(r"[\s'\"]", "", parameters)


def _searched(name: str) -> _Test:
    try:
        pattern = re.compile(name)
    except re.error as fault:
        raise ChoiceError(f"{name!r} is no benchmark's name and no regular expression ({fault})") from None
    return lambda function, parameters: pattern.search(function.name + parameters) is not None
