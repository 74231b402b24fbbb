"""`--showpids` of hy-smi and rocm-smi: which processes hold memory on which cards.

The numbers are the host's: inside a container they need not be those of `os.getpid()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .smi_json import read_pairs
from .smi_labels import UNITS
from .smi_lines import lines_of

_LONGEST_TEXT = 2**20
_NONE_RUNNING = "no kfd pids currently running"
_BLOCKS = "pids for kfd processes"

_PID = re.compile(r"PID\s*:\s*([0-9]{1,10})\s*", re.IGNORECASE)
_INDEX = re.compile(r"\s*(?:GPU|DCU|HCU)\s+Index\s*:([\[\]'\",\s0-9]*)", re.IGNORECASE)
_VRAM = re.compile(r"\s*VRAM\s+USED\s*\(([A-Za-z]{1,5})\)\s*:\s*([0-9]{1,15})\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,4}")
_TABLE = re.compile(
    r"PID\s+PROCESS NAME\s+GPU(?:\(s\))?\s+VRAM USED\s+SDMA USED\s+CU OCCUPANCY\s*", re.IGNORECASE
)
_JSON_PID = re.compile(r"PID\s?([0-9]{1,10})", re.IGNORECASE)


@dataclass(frozen=True)
class CardProcess:
    """One process on the cards.

    cards: their numbers as the tool counts; () where it does not tell them (rocm-smi only tells how many).
    vram_bytes: one total over all its cards; None where not told.
    """

    pid: int
    cards: tuple[int, ...]
    vram_bytes: int | None


def parse_processes(text: str) -> list[CardProcess] | None:
    """The processes that the text tells of, [] where it says that there are none, None for a text not known.

    A process told twice and differently keeps only what both say. Takes any text and never raises.
    """
    if len(text) > _LONGEST_TEXT:
        return None
    lines = lines_of(text)
    found = [*_blocks(lines), *_rows(lines), *_json_rows(text)]
    lowered = text.lower()
    if found or _NONE_RUNNING in lowered or _ends_without_processes(lines):
        return _united(found)
    return None


def _ends_without_processes(lines: list[str]) -> bool:
    """A heading and nothing but blank lines up to the closing rule: idle, as newer releases print it."""
    start = next((i for i, line in enumerate(lines) if line.strip().lower().startswith(_BLOCKS)), None)
    rest = [line for line in lines[start + 1 :] if line.strip()] if start is not None else []
    return bool(rest) and rest[0].startswith("====")


def _blocks(lines: list[str]) -> Iterator[CardProcess]:
    """`PID: 12345` and its indented fields below."""
    pid: int | None = None
    cards: tuple[int, ...] = ()
    vram: int | None = None
    for line in [*lines, "===="]:
        start = _PID.fullmatch(line.strip())
        if start or line.startswith("===="):
            if pid is not None:
                yield CardProcess(pid, cards, vram)
            pid, cards, vram = int(start.group(1)) if start else None, (), None
        elif index := _INDEX.fullmatch(line):
            cards = tuple(sorted({int(number) for number in _NUMBER.findall(index.group(1))}))
        elif used := _VRAM.fullmatch(line):
            scale = UNITS["bytes"].get(used.group(1).lower())
            vram = int(used.group(2)) * scale if scale else None


def _rows(lines: list[str]) -> Iterator[CardProcess]:
    """rocm-smi's table. The name, which may have spaces, is not read; the cells behind it are single words."""
    inside = False
    for line in lines:
        if _TABLE.fullmatch(line.strip()):
            inside = True
        elif line.startswith("====") or not line.strip():
            inside = False
        elif inside:
            pid, *rest = line.split()
            if pid.isascii() and pid.isdecimal() and len(pid) <= 10 and len(rest) >= 5:
                yield CardProcess(int(pid), (), _bytes(rest[-3]))


def _json_rows(text: str) -> Iterator[CardProcess]:
    """rocm-smi's `"PID12345": "name, cards, bytes of VRAM, bytes by SDMA, occupancy"`."""
    for _, label, value in read_pairs(text):
        named = _JSON_PID.fullmatch(label)
        cells = value.rsplit(",", 4)
        if named and len(cells) == 5:
            yield CardProcess(int(named.group(1)), (), _bytes(cells[2].strip()))


def _bytes(cell: str) -> int | None:
    return int(cell) if cell.isascii() and cell.isdecimal() and len(cell) <= 15 else None


def _united(found: Iterable[CardProcess]) -> list[CardProcess]:
    united: dict[int, CardProcess] = {}
    for process in found:
        known = united.setdefault(process.pid, process)
        if known != process:
            cards = known.cards if known.cards == process.cards else ()
            vram = known.vram_bytes if known.vram_bytes == process.vram_bytes else None
            united[process.pid] = CardProcess(process.pid, cards, vram)
    return list(united.values())
