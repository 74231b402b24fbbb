"""A benchmark measured on the virtual device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcu_asv_ext.measure.request import Options, Request
from dcu_asv_ext.measure.session import Measured, measure
from dcu_asv_ext.measure.spec import Spec

from .fakes import FakeDevice

ALL = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved")


def spec_of(function: Callable[..., Any], **options: Any) -> Spec:
    return Spec(
        family="suite.bench",
        name="bench",
        module="tests.suite",
        function=function,
        **{"metrics": ALL, **options},
    )


def run(spec: Spec, device: FakeDevice, tmp_path: Any, **options: Any) -> Measured:
    request = Request(spec, {}, {}, options=Options(**options), cache_root=tmp_path)
    return measure(request, device)
