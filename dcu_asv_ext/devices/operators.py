"""Every operator that a call runs: which Python line ran it, and which memory its results are in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from .base import NotMeasured
from .dispatch import leaves, operator_mode
from .holders import Block
from .places import Places

#: Operators that are looked at, each for some 0.1 ms.
MOST_OPERATORS = 100_000
#: The result of memory that an operator used without returning it.
SCRATCH = "scratch"


@dataclass
class Operator:
    """One operator that was run.

    where: the Python line. name: "aten::mm", with the node of a backward pass that ran it.
    results: address -> dtype and shape of a tensor that it returned.
    """

    where: str
    name: str
    results: dict[int, str] = field(default_factory=dict)

    def block(self, size: int, address: int) -> Block:
        """An allocation that it made."""
        return Block(size, self.where, self.name, self.results.get(address, SCRATCH))


class Operators:
    """Watches the operators of one call, in order, while `watching()` is entered. Results that lie on other devices
    than `device_type` are passed over.

    around(number): entered around the operator. after(operator, storages): told once it has run, with the memory of
    its results.
    """

    def __init__(
        self,
        torch: Any,
        device_type: str,
        around: Callable[[int], AbstractContextManager[Any]] | None = None,
        after: Callable[[Operator, list[Any]], None] | None = None,
    ) -> None:
        self.seen: list[Operator] = []
        self._torch = torch
        self._device_type = device_type
        self._around = around or (lambda number: nullcontext())
        self._after = after
        self._places = Places(torch)
        self._thread = threading.get_ident()
        self._passed_over = False
        self._node = getattr(torch._C, "_current_autograd_node", None)

    def watching(self) -> AbstractContextManager[Any]:
        return operator_mode(self._torch, self._run)

    def check(self) -> None:
        """Raises NotMeasured where there were more operators than were looked at."""
        if self._passed_over:
            raise NotMeasured(f"more than {MOST_OPERATORS} operators would have to be watched")

    def _run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(self.seen) >= MOST_OPERATORS:
            self._passed_over = True
            return function(*args, **kwargs)
        operator = Operator(self._places.here(self._thread), self._name(function))
        self.seen.append(operator)
        with self._around(len(self.seen) - 1):
            out = function(*args, **kwargs)
        storages = []
        for value in leaves(out):
            storage = self._storage(value)
            if storage is not None:
                operator.results[storage.data_ptr()] = tensor_text(value)
                storages.append(storage)
        if self._after is not None:
            self._after(operator, storages)
        return out

    def _name(self, function: Any) -> str:
        name = str(function.name()).split(".")[0]
        node = None if self._node is None else self._node()
        return name if node is None else f"{node.name()}: {name}"

    def _storage(self, value: Any) -> Any:
        if not isinstance(value, self._torch.Tensor):
            return None
        return storage_of(value, self._device_type)


def storage_of(tensor: Any, device_type: str) -> Any:
    """The tensor's memory on a device of this type, None where it has none there."""
    try:
        storage = tensor.untyped_storage()
        # A tensor without memory of its own (fake, meta, wrapper) has no address.
        return storage if storage.device.type == device_type and storage.data_ptr() else None
    except (RuntimeError, NotImplementedError):
        # Sparse and opaque tensors have no storage; a sparse one's indices and values are tensors of their own.
        return None


def tensor_text(tensor: Any) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
