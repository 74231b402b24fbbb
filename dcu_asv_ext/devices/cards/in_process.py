"""Readings that only the measuring process can take: what its torch tells of the card's memory."""

from __future__ import annotations

from collections.abc import Callable

from ..base import NotMeasured
from .source import Reading
from .sysfs import sensible_memory


class MemGetInfo:
    """free_and_total: bytes, by torch; raises NotMeasured. Asking makes the device's context where there is none yet.

    Raises NotMeasured where torch does not tell.
    """

    name = "mem_get_info"
    interval = 0.005
    arguments: tuple[str, ...] = ()

    def __init__(self, free_and_total: Callable[[], tuple[int, int]]) -> None:
        self._ask = free_and_total
        free, total = free_and_total()
        if sensible_memory(total - free, total) == (None, None):
            raise NotMeasured(f"torch tells that {free} of {total} bytes are free")

    def read(self) -> Reading:
        try:
            free, total = self._ask()
        except NotMeasured:
            return Reading()
        return Reading(*sensible_memory(total - free, total))
