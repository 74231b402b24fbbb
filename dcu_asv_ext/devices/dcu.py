"""Is a HIP device a Hygon DCU, and what do torch's version string and the host say about it? No torch here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

#: gcnArchName prefixes that only DCUs have.
DCU_ARCHITECTURES = ("gfx926", "gfx928", "gfx92a", "gfx936", "gfx938", "gfx946")
#: Shared with AMD's MI50 and Radeon VII: decided by the host and the torch version.
AMBIGUOUS_ARCHITECTURES = ("gfx906",)

HYGON_PCI_VENDOR = "0x1d94"
DCU_MODULES = ("hycu", "hydcu")
HYHAL_FOLDERS = ("opt/hyhal", "usr/local/hyhal")

# Hygon CPUs put host bridges, USB and crypto functions on the bus under the same vendor number, so the vendor
# alone would call every AMD card in a Hygon server a DCU. Display 0x03, co-processor 0x0b, accelerator 0x12.
_CARD_CLASSES = ("0x03", "0x0b", "0x12")

_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
# The third part is one digit that no digit follows: "dtk2604.20260325" carries a date, not a patch level.
_DTK = re.compile(r"dtk[-_]?(\d{2})\.?(\d{2})(?:\.?(\d)(?!\d))?", re.IGNORECASE)
_DAS = re.compile(r"\+das", re.IGNORECASE)


@dataclass(frozen=True)
class TorchVersion:
    """A torch version string taken apart.

    release: (major, minor, patch), () where the string has none.
    dtk: "25.04.2", or None where the string names no DTK release.
    vendor: the string carries one of the DCU vendor's marks (`+das`, `dtk`).
    """

    text: str
    release: tuple[int, ...]
    dtk: str | None
    vendor: bool


def parse_torch_version(text: str) -> TorchVersion:
    """Takes any string, also those with several `+`, which are not valid under PEP 440; never raises."""
    found = _RELEASE.match(text.strip())
    release = tuple(int(part or 0) for part in found.groups()) if found else ()
    dtk = dtk_release(text)
    return TorchVersion(text, release, dtk, dtk is not None or bool(_DAS.search(text)))


def dtk_release(text: str) -> str | None:
    """The DTK release named in a version string: "dtk25042" is "25.04.2", "dtk2604" is "26.04"."""
    found = _DTK.search(text)
    return ".".join(part for part in found.groups() if part) if found else None


def _read(path: Path) -> str:
    """A small system file's text, "" where it is not there or not readable."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def is_dcu_address(address: str, root: Path = Path("/")) -> bool | None:
    """Whether the card at this PCI address is Hygon's; None where sysfs does not tell."""
    vendor = _read(root / "sys/bus/pci/devices" / address.lower() / "vendor").lower()
    return vendor == HYGON_PCI_VENDOR if vendor else None


def host_markers(root: Path = Path("/")) -> list[str]:
    """What on this host speaks for a DCU, in words; empty where nothing does."""
    found = [f"kernel module {name}" for name in DCU_MODULES if (root / "sys/module" / name).is_dir()]
    found += [f"/{folder}" for folder in HYHAL_FOLDERS if (root / folder).is_dir()]
    devices = root / "sys/bus/pci/devices"
    try:
        addresses = sorted(devices.iterdir())
    except OSError:
        addresses = []
    for device in addresses:
        hygon = _read(device / "vendor").lower() == HYGON_PCI_VENDOR
        if hygon and _read(device / "class").lower().startswith(_CARD_CLASSES):
            found.append(f"PCI device {device.name} of vendor {HYGON_PCI_VENDOR}")
            break
    return found


def is_dcu(
    torch_version: str,
    architecture: str | None = None,
    address: str | None = None,
    root: Path = Path("/"),
) -> bool:
    """Whether the HIP device that torch drives is a DCU.

    architecture: its gcnArchName (feature suffixes allowed), None where torch was not asked.
    address: its PCI address, where known: it settles what the architecture leaves open.
    """
    if architecture and architecture.startswith(DCU_ARCHITECTURES):
        return True
    if parse_torch_version(torch_version).vendor:
        return True
    if architecture and not architecture.startswith(AMBIGUOUS_ARCHITECTURES):
        return False
    if address is not None:
        settled = is_dcu_address(address, root)
        if settled is not None:
            return settled
    return bool(host_markers(root))
