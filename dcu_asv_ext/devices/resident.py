"""What this process holds of the host's memory: its resident set, as Linux tells it."""

from __future__ import annotations

import re
from pathlib import Path

_LINE = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)
#: Written into /proc/self/clear_refs it sets VmHWM, the peak, to what is resident now (man 5 proc), and nothing else.
_RESET_PEAK = "5"

NOT_TOLD = "this system does not tell the resident set of a process (/proc/self/status)"
NOT_RESET = "the peak of the resident set cannot be reset here, and this process was larger before"


class ResidentPeak:
    """The resident set over a stretch of work: looked at when made, and by `read` afterwards."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._status = root / "proc/self/status"
        self._reset = _write(root / "proc/self/clear_refs", _RESET_PEAK)
        self.before, self._peak_before = self._look()

    def read(self) -> tuple[dict[str, int], dict[str, str]]:
        """Bytes by name (rss_before, rss_peak, rss_after), and the reasons for those that are missing."""
        after, peak = self._look()
        found = {"rss_before": self.before, "rss_peak": peak, "rss_after": after}
        missing = dict.fromkeys((name for name, value in found.items() if value is None), NOT_TOLD)
        # A peak that rose while it was watched is this stretch's, whether it could be reset or not.
        if not self._reset and peak is not None and peak == self._peak_before:
            found["rss_peak"], missing["rss_peak"] = None, NOT_RESET
        elif peak is not None:
            # The kernel counts a thread's last pages late, so that the present can be ahead of the peak.
            found["rss_peak"] = max(peak, self.before or 0, after or 0)
        return {name: value for name, value in found.items() if value is not None}, missing

    def _look(self) -> tuple[int | None, int | None]:
        """(VmRSS, VmHWM) in bytes."""
        try:
            text = self._status.read_text(encoding="ascii", errors="replace")
        except OSError:
            return None, None
        told = {name: 1024 * int(value) for name, value in _LINE.findall(text)}
        return told.get("VmRSS"), told.get("VmHWM")


def _write(path: Path, text: str) -> bool:
    """Whether it was written; containers may forbid it."""
    try:
        with path.open("r+") as file:
            file.write(text)
    except OSError:
        return False
    return True
