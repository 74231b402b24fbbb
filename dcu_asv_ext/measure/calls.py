"""Bare callables around the function: what runs between two clock readings is made here, beforehand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from .arguments import CallArguments, signature_of
from .spec import Spec

Call = Callable[[], Any]


def one_call(function: Callable[..., Any], sets: Sequence[CallArguments]) -> Call:
    """A call without arguments; several argument sets are used in turn."""
    if len(sets) == 1:
        args, kwargs = sets[0].args, dict(sets[0].kwargs)
        if kwargs:
            return lambda: function(*args, **kwargs)
        return lambda: function(*args)
    turn = itertools.cycle(sets)

    def next_call() -> Any:
        chosen = next(turn)
        return function(*chosen.args, **chosen.kwargs)

    return next_call


def batched(function: Callable[..., Any], sets: Sequence[CallArguments], batch: int) -> Call:
    """`batch` calls one after another; returns the last result and keeps no other alive."""
    if batch == 1:
        return one_call(function, sets)
    if len(sets) == 1 and not sets[0].kwargs:
        args = sets[0].args
        before_last = range(batch - 1)

        def loop() -> Any:
            for _ in before_last:
                function(*args)
            return function(*args)

        return loop
    call = one_call(function, sets)
    times = range(batch - 1)

    def loop_sets() -> Any:
        for _ in times:
            call()
        return call()

    return loop_sets


def reset_of(spec: Spec, sets: Sequence[CallArguments]) -> Call | None:
    """The benchmark's reset, in step with the argument sets; it gets the function's arguments, or none."""
    if spec.reset is None:
        return None
    signature = signature_of(spec.reset)
    if signature is not None and not signature.parameters:
        return spec.reset
    return one_call(spec.reset, sets)
