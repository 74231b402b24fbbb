"""Rows with equal keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .model import Ints


def grouped(*keys: Ints) -> Iterator[Ints]:
    """For each distinct combination of equally long keys the numbers of its rows, in their order."""
    if not len(keys[0]):
        return
    order = np.lexsort(keys)
    changed = np.zeros(len(order) - 1, np.bool_)
    for key in keys:
        changed |= np.diff(key[order]) != 0
    yield from np.split(order, np.flatnonzero(changed) + 1)
