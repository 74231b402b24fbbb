"""What a pure function gave for its arguments, from one time to the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """earlier: of a time before; what is not asked for again is forgotten. found: what was asked for."""

    def __init__(self, earlier: Mapping[K, V] | None = None) -> None:
        self.found: dict[K, V] = {}
        self._earlier = earlier or {}

    def of(self, key: K, make: Callable[[], V]) -> V:
        if key not in self.found:
            self.found[key] = self._earlier[key] if key in self._earlier else make()
        return self.found[key]
