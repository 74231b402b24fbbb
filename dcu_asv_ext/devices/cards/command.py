"""Readings by calling hy-smi or rocm-smi: the last resort, since each look starts a program.

Only for a process of its own (see `sampler`): a tool takes from hundredths of a second to more than one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..base import NotMeasured
from .processes import Process
from .source import Reading
from .sysfs import sensible_memory
from .tools import ask_cards, ask_processes, find_tool

#: Every known release has them; an unknown query would cost the answers to all others.
_QUERIES = ("--showmeminfo", "vram", "--showtemp", "--showpower", "--showclocks", "--showuse")


class SmiCommand:
    """The card at a PCI address, found among all by its address. Raises NotMeasured, saying what the tool did."""

    interval = 1.0

    def __init__(self, address: str, root: Path = Path("/")) -> None:
        self.arguments: tuple[str, ...] = ("command", address, str(root))
        tool = find_tool(root)
        if tool is None:
            raise NotMeasured("neither hy-smi nor rocm-smi was found")
        self.name = tool.name
        self._tool = tool
        told = ask_cards(tool, "--showbus")
        if not told.cards:
            raise NotMeasured(f"{tool.name} tells of no cards ({'; '.join(told.notes)})")
        numbers = [card["card"] for card in told.cards if card.get("bus") == address.lower()]
        if len(numbers) != 1:
            raise NotMeasured(f"{tool.name} lists {len(told.cards)} cards, and none at {address}")
        self._card = int(numbers[0])

    def read(self) -> Reading:
        # A release that does not know the card's number prints other cards, or none.
        told = ask_cards(self._tool, *_QUERIES, "-d", str(self._card)).cards
        card: dict[str, Any] = next((one for one in told if one.get("card") == self._card), {})
        used, total = sensible_memory(card.get("used_bytes"), card.get("total_bytes"))
        busy = card.get("utilization")
        return Reading(
            used_bytes=used,
            total_bytes=total,
            core_clock_mhz=card.get("core_clock_mhz"),
            memory_clock_mhz=card.get("memory_clock_mhz"),
            power_w=card.get("power_w"),
            temperature_c=card.get("temperature_c"),
            utilization=None if busy is None else busy / 100,
            performance_level=card.get("performance_level"),
        )

    def processes(self) -> list[Process] | None:
        """Those on this card. A process on several cards has one figure for all, which is none for this one."""
        listed, _ = ask_processes(self._tool)
        if listed is None or any(not one.cards for one in listed):
            return None
        return [
            Process(one.pid, one.vram_bytes if len(one.cards) == 1 else None)
            for one in listed
            if self._card in one.cards
        ]
