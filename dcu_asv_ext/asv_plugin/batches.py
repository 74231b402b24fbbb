"""Calls per sample, fixed per benchmark, parameters, device kind and machine.

The first measurement chooses, the evidence keeps it, and this index (one line per choice, the last one holds) saves
reading a machine's whole evidence again. The index can be deleted: it is rebuilt from the evidence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..evidence.store import SUFFIX, append_line, iter_lines, read, replace_text

INDEX = "batch-sizes.dcu"


def key_of(record: dict[str, Any]) -> str:
    device = (record.get("device") or {}).get("kind", "")
    return key(record["benchmark"], record["params"], str(device))


def key(benchmark: str, params: dict[str, str], device_kind: str) -> str:
    return json.dumps([benchmark, params, device_kind], sort_keys=True)


class BatchIndex:
    """The index of one machine's results folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / INDEX
        self._known: dict[str, dict[str, int]] | None = None

    def get(self, benchmark: str, params: dict[str, str], device_kind: str) -> dict[str, int]:
        """pass -> calls per sample, empty where nothing was measured yet."""
        return self._load().get(key(benchmark, params, device_kind), {})

    def learn(self, record: dict[str, Any]) -> None:
        """Keep a measurement's batch sizes, if they are new."""
        batch = record.get("batch") or {}
        if "latency" not in batch or (record.get("switches") or {}).get("quick"):
            return
        known = self._load()
        if known.get(key_of(record)) != batch:
            known[key_of(record)] = batch
            append_line(self.path, json.dumps([key_of(record), batch]) + "\n")

    def _load(self) -> dict[str, dict[str, int]]:
        if self._known is None:
            self._known = {}
            if self.path.exists():
                self._read_index(self._known)
            else:
                self._rebuild(self._known)
        return self._known

    def _read_index(self, known: dict[str, dict[str, int]]) -> None:
        for line in iter_lines(self.path):
            try:
                name, batch = json.loads(line)
                known[name] = {str(one): int(count) for one, count in batch.items()}
            except (ValueError, TypeError, AttributeError):
                # A torn line loses one choice; the evidence still has it.
                continue

    def _rebuild(self, known: dict[str, dict[str, int]]) -> None:
        files = sorted(self.path.parent.glob(f"*{SUFFIX}"), key=lambda one: one.stat().st_mtime)
        for path in files:
            for record in read(path).records:
                if "latency" in (record.get("batch") or {}):
                    known[key_of(record)] = record["batch"]
        if known:
            lines = [json.dumps([name, batch]) + "\n" for name, batch in known.items()]
            replace_text(self.path, "".join(lines))
