"""What DCU_ASV_DEVICE may say."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .base import DeviceUnavailable

VARIABLE = "DCU_ASV_DEVICE"

#: Names under which torch drives HIP and CUDA devices alike.
CUDA_SYNONYMS = ("cuda", "hip", "dcu", "hcu")
#: Other device types of torch; "sim" is the test instrument.
OTHER_TYPES = ("xpu", "mps", "mtia", "hpu", "npu", "mlu", "musa", "privateuseone", "sim")

_FORM = re.compile(r"([a-z][a-z0-9_]*)(?::(\d{1,4}))?")

ALLOWED = (
    'allowed are "cpu", "cuda" (also for HIP and DCU, where "hip" and "dcu" mean the same), '
    '"cuda:1" and so on, and torch\'s other device types: '
    + ", ".join(f'"{name}"' for name in OTHER_TYPES)
    + "; leave it unset for the accelerator that torch was built for"
)


@dataclass(frozen=True)
class Request:
    """type: "cpu", "cuda", another torch device type, or None for the default; index: None for the default."""

    type: str | None = None
    index: int | None = None


def parse_request(spec: str | None = None) -> Request:
    """`spec`, or DCU_ASV_DEVICE where it is None. Raises DeviceUnavailable for a value that means nothing."""
    source = "the device"
    if spec is None:
        spec = os.environ.get(VARIABLE)
        source = VARIABLE
    if spec is None:
        return Request()
    found = _FORM.fullmatch(spec.strip().lower())
    if found is None:
        what = "is empty" if not spec.strip() else f"is {spec!r}, which names no device"
        raise DeviceUnavailable(f"{source} {what}; {ALLOWED}")
    name, number = found.group(1), found.group(2)
    if name in CUDA_SYNONYMS:
        name = "cuda"
    elif name not in ("cpu", *OTHER_TYPES):
        raise DeviceUnavailable(f"{source} is {spec!r}, which names no device; {ALLOWED}")
    if name == "cpu" and number not in (None, "0"):
        raise DeviceUnavailable(f'{source} is {spec!r}, but the CPU is one device: write "cpu"')
    return Request(name, None if number is None else int(number))
