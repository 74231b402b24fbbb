"""What is looked at before a site is published."""

from __future__ import annotations

from pathlib import Path

from ..evidence.store import iter_lines, list_evidence, parse_line


def simulated_files(results: Path) -> list[str]:
    """Evidence files (relative names) with a measurement of a simulated device.

    One file is one environment, so the first line whose device was described speaks for it; the line of a process
    that crashed describes none.
    """
    found = []
    folders = sorted(one for one in results.iterdir() if one.is_dir()) if results.is_dir() else []
    for path in (path for folder in folders for path in list_evidence(folder)):
        for line in iter_lines(path):
            record = parse_line(line)
            device = record["device"] if record is not None else None
            if isinstance(device, dict) and "simulated" in device:
                if device["simulated"]:
                    found.append(str(path.relative_to(results)))
                break
    return found
