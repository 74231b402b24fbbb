"""The tensors that are alive in this process, found by the garbage collector.

Not found: tensors that C++ alone holds, as those that a graph saved for its backward pass.
"""

from __future__ import annotations

import gc
import heapq
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any

from .holders import Block, Holder, grouped
from .operators import storage_of, tensor_text

#: Largest tensors from before a call that are named.
_NAMED = 5
_EARLIER = "alive before the call"


def live_storages(torch: Any, device_type: str) -> Iterator[tuple[Any, Any]]:
    """(storage, a tensor that uses it) of each storage on devices of this type, once each."""
    addresses: set[int] = set()
    with torch._C.DisableTorchFunctionSubclass():
        for tensor in _live_tensors(torch):
            storage = storage_of(tensor, device_type)
            if storage is not None and storage.data_ptr() not in addresses:
                addresses.add(storage.data_ptr())
                yield storage, tensor


def largest_alive(torch: Any, device_type: str) -> list[Holder]:
    """The few largest now."""
    found = [
        (int(storage.nbytes()), number, tensor_text(tensor))
        for number, (storage, tensor) in enumerate(live_storages(torch, device_type))
    ]
    largest = heapq.nlargest(_NAMED, found)
    return grouped(Block(size, _EARLIER, result=text) for size, _, text in largest)


def _live_tensors(torch: Any) -> Iterable[Any]:
    # A process has hundreds of thousands of objects, so the search stays inside C functions. And it looks at
    # types: isinstance() would ask proxies for __class__, and run their code.
    kinds = _with_subclasses(torch.Tensor)
    objects = gc.get_objects()
    for tensor in list(compress(objects, map(kinds.__contains__, map(type, objects)))):
        yield tensor
        if tensor.is_leaf and tensor.grad is not None:
            yield tensor.grad


def _with_subclasses(kind: type) -> set[type]:
    found = {kind}
    below: type
    for below in type.__subclasses__(kind):
        found |= _with_subclasses(below)
    return found
