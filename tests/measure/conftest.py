"""What every test of a measurement needs around it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def environment_restored() -> Iterator[None]:
    """Measurements point cache variables at folders of their own; tests must not inherit them from each other."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True, scope="package")
def imported_objects_out_of_the_collector() -> Iterator[None]:
    """Each measurement collects garbage several times; torch's and pytest's own objects need not be walked."""
    import torch  # noqa: F401

    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
