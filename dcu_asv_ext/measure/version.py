"""A benchmark's version: what, when it changes, makes earlier figures another series.

It hashes the suite's own code and the sampling settings, and nothing of the project under test: a function
imported from the project keeps its history while it is optimised.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
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
    base += [f"{role}={source_of(thing, module)}" for role, thing in sorted(code.items())]
    base += [f"{name}={value!r}" for name, value in sorted(settings.items())]
    judged = [f"{role}={source_of(thing, module)}" for role, thing in sorted(judge.items())]
    out = {}
    for metric in metrics:
        parts = base + [metric, METRICS[metric].unit]
        if metric in NEEDS_REFERENCE | NEEDS_CHECK:
            parts = parts + judged
        out[metric] = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    return out


def source_of(thing: Any, module: str) -> str:
    """What identifies a callable: its own code where it belongs to the suite, else only its name."""
    if not callable(thing):
        return repr(thing)
    function = inspect.unwrap(thing)
    owner = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if owner.split(".")[0] != module.split(".")[0]:
        return f"{owner}.{name}"
    try:
        return normalised_source(function)
    except (OSError, TypeError, SyntaxError):
        # Made at run time (functools.partial, exec): there is no text to follow.
        return f"{owner}.{name}"


def normalised_source(function: Callable[..., Any]) -> str:
    """Source text without comments, layout, docstrings, decorators and annotations."""
    tree = ast.parse(textwrap.dedent(_statement(function)))
    if getattr(function, "__name__", "") == "<lambda>":
        lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        same = [node for node in lambdas if _argument_names(node) == _code_names(function)]
        chosen = same or lambdas
        return " ".join(ast.unparse(node) for node in chosen)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node.decorator_list = []
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def _statement(function: Callable[..., Any]) -> str:
    """The function's source; for a lambda inside a call, the lines around it that parse."""
    lines, start = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines))
    try:
        ast.parse(text)
        return text
    except SyntaxError:
        if getattr(function, "__name__", "") != "<lambda>":
            raise
    module_lines = inspect.getsource(inspect.getmodule(function) or function).splitlines(keepends=True)
    tree = ast.parse("".join(module_lines))
    enclosing = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno <= start + len(lines) - 1
        and start <= (node.end_lineno or 0)
    ]
    return "\n".join(ast.unparse(node) for node in enclosing)


def _argument_names(node: ast.Lambda) -> list[str]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in every]


def _code_names(function: Callable[..., Any]) -> list[str]:
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
