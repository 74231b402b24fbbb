"""What every test of a measurement needs around it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

METRICS = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved")


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


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., Any]:
    """take(function, **spec options) measures it quickly on the CPU."""
    from dcu_asv_ext.devices import select
    from dcu_asv_ext.measure.request import Options, Request
    from dcu_asv_ext.measure.session import measure
    from dcu_asv_ext.measure.spec import Spec

    def measured(function: Callable[..., Any], quick: bool = True, repeat: Any = 1, **options: Any) -> Any:
        options.setdefault(
            "metrics", (*METRICS, "max_error", "mean_error") if "reference" in options else METRICS
        )
        spec = Spec(family="suite.bench", name="bench", module="suite", function=function, **options)
        request = Request(
            spec, {}, {}, options=Options(repeat=repeat, quick=quick), cache_root=tmp_path / "cache"
        )
        return measure(request, select("cpu"))

    return measured
