"""Who else is on a card: how many and how much memory, never who.

On DCUs and AMD cards the driver lists the processes in sysfs, under the numbers that the host knows them by.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20

#: What the tools list for helper processes that compute nothing.
_HELPER_BYTES = MIB
_KFD = "sys/class/kfd/kfd"
#: The inode number that Linux gives the first process namespace.
_HOST_NAMESPACE = "pid:[4026531836]"

_UNLISTED = "this process is not in the driver's list, so the list does not show every process"
_CONTAINER = "a container does not see the processes of its host"


@dataclass(frozen=True)
class Process:
    """A process that holds something on a card.

    used_bytes: None where the driver does not tell. computes: it is known to have a queue there.
    """

    pid: int
    used_bytes: int | None = None
    computes: bool = False


@dataclass(frozen=True)
class Company:
    """This process and the others on a card. None goes with a reason.

    own_bytes: this process's share of the card's memory. others: how many other processes (at_least: or more);
    other_bytes: what they hold, where it is told of every one.
    contended: somebody else is known to use the card.
    reason: what could not be told, and why ("" where everything was).
    """

    own_bytes: int | None = None
    others: int | None = None
    other_bytes: int | None = None
    at_least: bool = False
    contended: bool = False
    reason: str = ""


def company(listed: Sequence[Process] | None, own: int, sees_host: bool, why: str = "") -> Company:
    """What a list of the card's processes says.

    listed: None where there is no list; `why` says why not. own: this process's number. sees_host: this process
    knows processes by the numbers that the host knows them by. In a container, where it does not, the list may have
    the host's numbers, so that its own is none of them, or only the container's processes.
    """
    if listed is None:
        return Company(reason=why or "the driver lists no processes")
    mine = [one for one in listed if one.pid == own]
    others = [one for one in listed if one.pid != own and not _is_helper(one)]
    if not mine and not others:
        return Company(reason=_UNLISTED if sees_host else _CONTAINER)
    if mine and not others and not sees_host:
        return Company(_total(mine), reason=_CONTAINER)
    if mine or sees_host:
        reason = _CONTAINER if not sees_host else "" if mine else "this process is not in the driver's list"
        own_bytes = _total(mine) if mine else None
        return Company(own_bytes, len(others), _total(others), not sees_host, bool(others), reason)
    if len(others) == 1:
        return Company(reason=f"{_CONTAINER}; the one that is listed is most likely this one")
    reason = f"{_CONTAINER}: which of the {len(others)} that are listed is this one cannot be told"
    return Company(others=len(others) - 1, at_least=True, contended=True, reason=reason)


def _is_helper(process: Process) -> bool:
    used = process.used_bytes
    return not process.computes and used is not None and used <= _HELPER_BYTES


def _total(processes: Sequence[Process]) -> int | None:
    """Bytes of all, None where one is not told: the sum would be too small."""
    told = [one.used_bytes for one in processes if one.used_bytes is not None]
    return sum(told) if len(told) == len(processes) else None


def look_around(
    address: str,
    own: int,
    root: Path = Path("/"),
    lists: Callable[[], Sequence[Process] | None] | None = None,
) -> Company:
    """Who is on the card at a PCI address, by the driver's files, else by `lists`.

    Without `lists` plain file reads, so any process may ask.
    """
    listed: Sequence[Process] | None = kfd_processes(address, root)
    if listed is None and lists is not None:
        listed = lists()
    return company(listed, own, sees_host_processes(root))


def sees_host_processes(root: Path = Path("/")) -> bool:
    """Whether this process lives in the host's own process namespace; False where that cannot be told."""
    try:
        return os.readlink(root / "proc/self/ns/pid") == _HOST_NAMESPACE
    except OSError:
        return False


def kfd_processes(address: str, root: Path = Path("/")) -> list[Process] | None:
    """The processes with memory or queues on the card at a PCI address; None where the driver lists none.

    A process that sees several cards is listed for all of them: it counts where it has a queue or holds memory.
    """
    card = kfd_card(address, root)
    folder = root / _KFD / "proc"
    if card is None or not folder.is_dir():
        return None
    found = []
    for process in sorted(folder.iterdir()):
        if not process.name.isdigit():
            continue
        used, computes = _integer(process / f"vram_{card}"), card in _queues(process)
        if used or computes:
            found.append(Process(int(process.name), used, computes))
    return found


def kfd_card(address: str, root: Path = Path("/")) -> int | None:
    """The driver's own number of the card at a PCI address.

    Topology nodes include CPUs, as many as the machine has sockets, so a node's place says nothing of its card.
    """
    try:
        domain, bus, rest = address.lower().split(":")
        device, function = rest.split(".")
        wanted = int(bus, 16) << 8 | int(device, 16) << 3 | int(function, 16)
        wanted_domain = int(domain, 16)
    except ValueError:
        return None
    for node in sorted((root / _KFD / "topology/nodes").glob("[0-9]*")):
        card = _integer(node / "gpu_id")
        if not card:
            continue
        told = _properties(node / "properties")
        # Drivers from before several PCI domains name none. The upper bits may hold a partition.
        if (
            told.get("location_id", -1) & 0xFFFF == wanted
            and told.get("domain", wanted_domain) == wanted_domain
        ):
            return card
    return None


def _queues(process: Path) -> set[int | None]:
    return {_integer(one) for one in process.glob("queues/*/gpuid")}


def _properties(path: Path) -> dict[str, int]:
    found = {}
    for line in _text(path).splitlines():
        name, _, value = line.partition(" ")
        if value.strip().isdigit():
            found[name] = int(value)
    return found


def _integer(path: Path) -> int | None:
    try:
        return int(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
