"""Running code of ours around every operator of torch, as a dispatch mode."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

#: handler(operator, args, kwargs) runs the operator and returns its result.
Handler = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

COMPILED = "torch.compile is at work in this process, and under a dispatch mode it would stop compiling"


def operator_mode(torch: Any, handler: Handler) -> AbstractContextManager[Any]:
    """While entered, torch calls the handler in place of each operator, those of a backward pass too.

    Not to be used where `compiles()`.
    """
    mode: Any = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Around(mode):  # type: ignore[misc]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            # Otherwise the first operator imports all of torch.compile, which takes seconds, to switch it off here.
            return False

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return handler(func, args, kwargs or {})

    around: AbstractContextManager[Any] = Around()
    return around


def leaves(value: Any) -> list[Any]:
    """What lists, tuples and the values of mappings hold, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def compiles() -> bool:
    """Whether this process has compiled anything with torch.compile.

    Dynamo leaves a frame that it meets under a dispatch mode alone from then on: watched that way, compiled code
    would be measured as eager code ever after.
    """
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return bool(counters and sum(counters.get("frames", {}).values()))
