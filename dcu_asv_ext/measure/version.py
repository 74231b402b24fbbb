"""A benchmark's version: what, when it changes, makes earlier figures another series.

It hashes the suite's own code and the sampling settings, and nothing of the project under test: a function
imported from the project keeps its history while it is optimised.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..metrics import METRICS, NEEDS_CHECK, NEEDS_REFERENCE, PROTOCOL


def versions(
    module: str,
    metrics: tuple[str, ...],
    code: dict[str, Any],
    judge: dict[str, Any],
    settings: dict[str, Any],
) -> dict[str, str]:
    """Metric -> version (hex text).

    code: role -> callable or None, part of every metric's version.
    judge: role -> callable, number or None, part of the correctness metrics' version alone.
    settings: sampling settings, JSON-like values.
    """
    base = [f"protocol={PROTOCOL}"]
    base += [f"{role}={_of_role(role, thing, module)}" for role, thing in sorted(code.items())]
    base += [f"{name}={value!r}" for name, value in sorted(settings.items())]
    judged = [f"{role}={source_of(thing, module)}" for role, thing in sorted(judge.items())]
    out = {}
    for metric in metrics:
        parts = base + [metric, METRICS[metric].unit]
        if metric in NEEDS_REFERENCE | NEEDS_CHECK:
            parts = parts + judged
        out[metric] = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    return out


def _of_role(role: str, thing: Any, module: str) -> str:
    """The measured function is named by its series; imported, nothing more of it counts, whatever wraps it."""
    if role == "function" and callable(thing):
        owner = getattr(inspect.unwrap(thing), "__module__", None) or type(thing).__module__
        if not isinstance(thing, functools.partial) and owner.split(".")[0] != module.split(".")[0]:
            return "imported"
    return source_of(thing, module)


def source_of(thing: Any, module: str) -> str:
    """What identifies a callable: its own code where it belongs to the suite, else only its package and name, so that
    moving it inside the project changes nothing."""
    if not callable(thing):
        return repr(thing)
    if isinstance(thing, functools.partial):
        fixed = f"{thing.args!r}, {sorted(thing.keywords.items())!r}"
        return f"partial({source_of(thing.func, module)}, {without_addresses(fixed)})"
    function = inspect.unwrap(thing)
    owner = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if owner.split(".")[0] != module.split(".")[0]:
        return f"{owner.split('.')[0]}.{name.rpartition('.')[2]}"
    try:
        return normalised_source(function)
    except (OSError, TypeError, SyntaxError, AttributeError):
        # Made at run time (functools.partial, exec): there is no text to follow.
        return f"{owner}.{name}"


def without_addresses(text: str) -> str:
    """A repr that is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def normalised_source(function: Callable[..., Any]) -> str:
    """Source text without comments, layout, docstrings, annotations, and the decorators that only describe."""
    if getattr(function, "__name__", "") == "<lambda>":
        return "\n".join(ast.unparse(node) for node in _lambdas(function))
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    outermost = tree.body[0]
    if isinstance(outermost, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names = getattr(function, "__globals__", {})
        outermost.decorator_list = [
            node for node in outermost.decorator_list if not _only_describes(node, names)
        ]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def _only_describes(decorator: ast.expr, names: dict[str, Any]) -> bool:
    """Whether it is ours or a mark of asv's. Any other (`torch.no_grad()`) is part of what is measured."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    path = []
    while isinstance(target, ast.Attribute):
        path.append(target.attr)
        target = target.value
    found = names.get(target.id) if isinstance(target, ast.Name) else None
    for name in reversed(path):
        found = getattr(found, name, None)
    return (getattr(found, "__module__", None) or "").split(".")[0] in ("dcu_asv_ext", "asv_runner")


def _lambdas(function: Callable[..., Any]) -> list[ast.Lambda]:
    """The lambda in its module's source; where several cannot be told apart, all of them."""
    code = function.__code__
    lines, _ = inspect.findsource(function)
    found = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    named = [node for node in found if _argument_names(node) == _code_names(function)] or found
    return [node for node in named if _holds(node.body, code)] or named


def _holds(body: ast.expr, code: CodeType) -> bool:
    """Whether all of the code was compiled from this text (which Python tells from 3.11 on)."""
    if not hasattr(code, "co_positions"):
        return True
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, last_line, column, last_column in code.co_positions():
        if None in (line, last_line, column, last_column) or (line, column) == (last_line, last_column):
            continue
        if (line, column) < begin or (last_line, last_column) > end:
            return False
    return True


def _argument_names(node: ast.Lambda) -> list[str]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in every]


def _code_names(function: Callable[..., Any]) -> list[str]:
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
