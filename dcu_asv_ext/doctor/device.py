"""What the environment says about devices: the choice, the variables that hide them, the card's lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping

from ..asv_plugin.locks import FileLock
from ..devices import DeviceUnavailable
from ..devices.request import VARIABLE, parse_request
from .check import Check, Group

GROUP = Group("device")


def split(text: str, otherwise: str) -> tuple[str, str]:
    """A sentence of the form "what is so; what to do", as finding and remedy."""
    finding, _, remedy = text.partition("; ")
    remedy = remedy or otherwise
    return _sentence(finding), _sentence(remedy[:1].upper() + remedy[1:])


def _sentence(text: str) -> str:
    return text if text.endswith((".", ")", "?")) else text + "."


def check_choice(environ: Mapping[str, str]) -> Check:
    """DCU_ASV_DEVICE means something, or is not set."""
    given = environ.get(VARIABLE)
    if given is None:
        return GROUP.ok("device-choice", f"{VARIABLE} is not set: torch's own accelerator is measured.")
    try:
        parse_request(given)
    except DeviceUnavailable as error:
        text = str(error).replace("the device", VARIABLE, 1)
        return GROUP.problem("device-choice", *split(text, f"Correct {VARIABLE}."))
    return GROUP.ok("device-choice", f"{VARIABLE} is {given!r}.")


def check_visibility(environ: Mapping[str, str], kind: str) -> Check:
    """The variables that hide devices do not contradict each other. kind: as `device_kind()` tells it."""
    hip, rocr = _entries(environ, "HIP_VISIBLE_DEVICES"), _entries(environ, "ROCR_VISIBLE_DEVICES")
    cuda = _entries(environ, "CUDA_VISIBLE_DEVICES")
    names = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES") if kind in ("dcu", "hip") else ()
    for name in (*names, "CUDA_VISIBLE_DEVICES"):
        entries = _entries(environ, name)
        if kind not in ("cpu", "sim", "xpu", "") and entries is not None and (not entries or "-1" in entries):
            return GROUP.problem(
                "visible-devices", f"{name}={environ[name]!r} hides every device.", f"Unset {name}."
            )
    if hip and rocr and any(one.isdigit() and int(one) >= len(rocr) for one in hip):
        return GROUP.problem(
            "visible-devices",
            f"ROCR_VISIBLE_DEVICES={environ['ROCR_VISIBLE_DEVICES']} leaves {len(rocr)} cards, numbered from 0, "
            f"so HIP_VISIBLE_DEVICES={environ['HIP_VISIBLE_DEVICES']} asks for one that is not there.",
            "Set HIP_VISIBLE_DEVICES alone.",
        )
    if hip and rocr:
        return GROUP.warning(
            "visible-devices",
            "HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES are both set, and the first counts within the second.",
            "Set HIP_VISIBLE_DEVICES alone.",
        )
    if hip and cuda and hip != cuda and kind in ("dcu", "hip"):
        return GROUP.warning(
            "visible-devices",
            f"HIP_VISIBLE_DEVICES={environ['HIP_VISIBLE_DEVICES']} and "
            f"CUDA_VISIBLE_DEVICES={environ['CUDA_VISIBLE_DEVICES']} name different cards.",
            "Unset CUDA_VISIBLE_DEVICES, or set both alike.",
        )
    return GROUP.ok("visible-devices", "No visible-devices variables contradict each other.")


def _entries(environ: Mapping[str, str], name: str) -> list[str] | None:
    if name not in environ:
        return None
    return [one.strip() for one in environ[name].split(",") if one.strip()]


def check_lock(lock: FileLock | None) -> Check:
    """Nobody is measuring on the card. Looks without taking the lock from anybody. lock: None for the CPU."""
    if lock is None:
        return GROUP.ok("card-lock", "The CPU needs no lock.")
    if not is_held(lock):
        return GROUP.ok("card-lock", "No other run holds the card.")
    return GROUP.warning(
        "card-lock",
        f"The card is being measured by {lock.holder()}, so it is not disturbed now.",
        "Wait for that run to end and call doctor again, or choose another card with HIP_VISIBLE_DEVICES.",
    )


def is_held(lock: FileLock) -> bool:
    try:
        descriptor = os.open(lock.path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
