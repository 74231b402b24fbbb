"""A clock for existing asv suites: `from dcu_asv_ext import synchronized_timer as timer`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter


def synchronized_timer() -> float:
    """Host seconds, read once all work submitted to the accelerator is done.

    asv reads its `timer` before and after the timed calls, so both readings wait for the device. A process
    that has not imported torch has nothing to wait for. Raises what the device raises at a synchronise.
    """
    wait = _waiter()
    if wait is not None:
        wait()
    return perf_counter()


_found: list[Callable[[], None]] = []


def _waiter() -> Callable[[], None] | None:
    if _found:
        return _found[0]
    torch = sys.modules.get("torch")
    # A half-imported torch (the timer is read while a suite is being imported) has no work under way.
    if torch is None or not hasattr(torch, "version"):
        return None
    _found.append(_choose(torch))
    return _found[0]


def _choose(torch: object) -> Callable[[], None]:
    from ..devices import select

    device = select()
    cuda = getattr(torch, "cuda", None)
    if device.name.startswith("cuda") and cuda is not None:

        def every_used_device() -> None:
            # Synchronising a device without a context would create one there.
            for index in range(cuda.device_count()):
                if index == device.index or cuda.memory_reserved(index) > 0:
                    cuda.synchronize(index)

        return every_used_device if cuda.device_count() > 1 else device.synchronize
    return device.synchronize
