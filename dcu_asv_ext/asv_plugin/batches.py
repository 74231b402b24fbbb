"""Calls per sample, fixed per benchmark (and its version), parameters, device kind and machine.

The first measurement chooses, the evidence keeps it, and this index (one line per choice, the first one holds) saves
reading a machine's whole evidence again. The index can be deleted: it is rebuilt from the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..evidence.record import OK
from ..evidence.store import append_line, iter_lines, list_evidence, read, replace_text
from ..metrics import PROTOCOL

INDEX = "batch-sizes.dcu"

#: What torch calls these kinds. Which one a "cuda" device is shows only in the measuring process, and the choice
#: has to be found before it starts.
_DEVICE_TYPES = {"dcu": "cuda", "hip": "cuda"}


def key_of(record: dict[str, Any]) -> str:
    device = (record.get("device") or {}).get("kind", "")
    return key(record["benchmark"], record["params"], str(device), version_of(record["versions"]))


def version_of(versions: Mapping[str, str]) -> str:
    """Another version is another series, and chooses anew."""
    return str(versions.get("latency") or next(iter(versions.values()), ""))


def key(benchmark: str, params: dict[str, str], device_kind: str, version: str) -> str:
    device = _DEVICE_TYPES.get(device_kind, device_kind)
    return json.dumps([benchmark, params, device, version], sort_keys=True)


def chooses(record: dict[str, Any]) -> bool:
    """Whether this measurement's batch sizes are to be kept: not those of --quick's single sample."""
    if record["status"] != OK or record["protocol"] != PROTOCOL:
        return False
    return "latency" in (record.get("batch") or {}) and len(record["times"].get("latency") or ()) > 1


class BatchIndex:
    """The index of one machine's results folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / INDEX
        self._known: dict[str, dict[str, int]] | None = None

    def get(self, benchmark: str, params: dict[str, str], device_kind: str, version: str) -> dict[str, int]:
        """pass -> calls per sample, empty where nothing was measured yet."""
        return self._load().get(key(benchmark, params, device_kind, version), {})

    def learn(self, record: dict[str, Any]) -> None:
        """Keep a measurement's batch sizes, if they are the first ones."""
        if not chooses(record):
            return
        known = self._load()
        if key_of(record) not in known:
            known[key_of(record)] = record["batch"]
            append_line(self.path, json.dumps([key_of(record), record["batch"]]) + "\n")

    def _load(self) -> dict[str, dict[str, int]]:
        if self._known is None:
            self._known = {}
            if not self.path.exists() or not self._read_index(self._known):
                self._rebuild(self._known)
        return self._known

    def _read_index(self, known: dict[str, dict[str, int]]) -> bool:
        """Whether every line could be read; the evidence still has what a torn one said."""
        whole = True
        for line in iter_lines(self.path):
            try:
                name, batch = json.loads(line)
                known.setdefault(name, {str(one): int(count) for one, count in batch.items()})
            except (ValueError, TypeError, AttributeError):
                whole = False
        return whole

    def _rebuild(self, known: dict[str, dict[str, int]]) -> None:
        folder = self.path.parent
        files = list_evidence(folder) if folder.is_dir() else []
        found = [record for path in files for record in read(path).records if chooses(record)]
        # The first choice holds, whatever files were written again since.
        for record in sorted(found, key=lambda one: str(one["started_at"])):
            known.setdefault(key_of(record), record["batch"])
        if known:
            lines = [json.dumps([name, batch]) + "\n" for name, batch in known.items()]
            replace_text(self.path, "".join(lines))
