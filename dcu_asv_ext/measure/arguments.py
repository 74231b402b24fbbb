"""From parameters to argument sets: how setup, function and teardown are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .spec import BenchmarkError, Samples, Spec


@dataclass(frozen=True)
class CallArguments:
    """One argument set of the measured function."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def call(self, function: Callable[..., Any]) -> Any:
        return function(*self.args, **self.kwargs)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """None for a builtin (such as `torch.matmul`) that tells no signature."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def by_name(function: Callable[..., Any], available: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the available values that the function names as parameters."""
    signature = signature_of(function)
    if signature is None:
        return {}
    parameters = signature.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(available)
    return {p.name: available[p.name] for p in parameters if p.name in available}


def as_arguments(value: Any) -> CallArguments:
    """tuple: positional arguments; dict: keyword arguments; anything else: the one argument."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return CallArguments(args=value)
    if isinstance(value, dict):
        return CallArguments(kwargs=value)
    return CallArguments(args=(value,))


def make_arguments(spec: Spec, params: Mapping[str, Any], device: Any) -> list[CallArguments]:
    """Run setup (or pass the parameters themselves) and return the argument sets, at least one.

    Raises whatever setup raises, and BenchmarkError for an empty `dcu.samples([])`.
    """
    if spec.setup is None:
        return [CallArguments(kwargs=by_name(spec.function, {"device": device, **params}))]
    made = spec.setup(**by_name(spec.setup, {"device": device, **params}))
    if isinstance(made, Samples):
        if not made:
            raise BenchmarkError(f"{spec.family}: setup returned dcu.samples([]); give at least one set")
        return [as_arguments(one) for one in made]
    return [as_arguments(made)]


def parameter_problem(role: str, function: Callable[..., Any], names: Mapping[str, Any]) -> str | None:
    """Why `function` cannot be called with parameters of these names (plus `device`), or None."""
    signature = signature_of(function)
    if signature is None:
        return None
    parameters = list(signature.parameters.values())
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        return f"{role} takes positional-only arguments, but parameters are passed by name"
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    accepted = {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    required = {p.name for p in parameters if p.default is p.empty and p.name in accepted}
    unknown = sorted(required - set(names) - {"device"})
    if unknown:
        declared = ", ".join(names) or "none"
        return f"{role} asks for {', '.join(unknown)}, which is no parameter (params: {declared}; and device)"
    unused = [name for name in names if name not in accepted]
    if unused and not open_ended:
        return f"{role} does not take {', '.join(unused)}, which params declares"
    return None
