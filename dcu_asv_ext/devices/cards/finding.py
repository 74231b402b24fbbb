"""The first source that really answers for a card, from the cheapest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from ..base import NotMeasured
from .source import Source
from .sysfs import SysfsCard, answers

SEARCH = "search"

#: First of a source's arguments -> its module and class, and what it is called while it is tried. The last argument
#: is always the root of the file system.
_SOURCES = {
    "sysfs": ("sysfs", "SysfsCard", "sysfs"),
    "cpufreq": ("sysfs", "CpuClock", "cpufreq"),
    "nvml": ("nvml", "Nvml", "NVML"),
    "rsmi": ("rsmi", "RocmSmi", "the ROCm SMI library"),
    "command": ("command", "SmiCommand", "the management tool"),
}


@dataclass
class Found:
    """source: None where nothing answered. refused: a source that was tried -> why it does not serve."""

    source: Source | None = None
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        return "; ".join(f"{name}: {why}" for name, why in self.refused.items())


def find_source(
    kind: str,
    address: str,
    root: Path = Path("/"),
    trying: Callable[[str], object] = lambda name: None,
) -> Found:
    """Tries every source that a device of this kind may have, and takes the first that tells anything.

    kind: "dcu", "hip" or "cuda". trying: told each source's name before it is tried, since a library may end the
    process. Loads libraries and runs tools: only for a process of its own (see `sampler`).
    """
    found = Found()
    for name in _candidates(kind):
        words = _SOURCES[name][-1]
        trying(words)
        try:
            source = _open(name, address, str(root))
            if not answers(source.read()):
                raise NotMeasured("it answers, and tells nothing")
        except NotMeasured as missing:
            found.refused[words] = missing.reason
            continue
        found.source = source
        break
    return found


def _candidates(kind: str) -> tuple[str, ...]:
    return ("sysfs", "nvml") if kind == "cuda" else ("sysfs", "rsmi", "command")


def search_arguments(kind: str, address: str, root: Path = Path("/")) -> tuple[str, ...]:
    """What makes `open_source` look for the best source itself."""
    return (SEARCH, kind, address, str(root))


def files_of(arguments: Sequence[str]) -> SysfsCard | None:
    """The files that such a search begins with, which any process may read; None where there are none."""
    name, *rest = arguments
    if name != SEARCH:
        return None
    _, address, root = rest
    try:
        return SysfsCard(address, Path(root))
    except NotMeasured:
        return None


def open_source(*arguments: str, trying: Callable[[str], object] = lambda name: None) -> Source:
    """The source whose `arguments` these are, or that a search finds. Raises NotMeasured, saying what was tried."""
    name, *rest = arguments
    if name == SEARCH:
        kind, address, root = rest
        found = find_source(kind, address, Path(root), trying)
        if found.source is None:
            raise NotMeasured(f"no source tells of the card ({found.reason})")
        return found.source
    trying(_SOURCES[name][-1])
    return _open(name, *rest)


def _open(name: str, *arguments: str) -> Source:
    # Imported when wanted: most machines have one of them, and a process that samples must start at once.
    module, kind, _ = _SOURCES[name]
    *rest, root = arguments
    opened: Source = getattr(import_module(f".{module}", __package__), kind)(*rest, Path(root))
    return opened
