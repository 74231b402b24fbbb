"""The child process that looks at a card from outside: `python -m dcu_asv_ext.doctor.card_probe KIND ADDRESS ROOT`.

Loads management libraries and runs management tools, which may crash or hang. Prints one JSON line before each
source that it tries, and one with everything at the end. torch is not needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from ..devices.cards.finding import find_source
from ..devices.cards.processes import company, kfd_processes
from ..devices.cards.samples import told
from ..devices.cards.source import Source


def main(arguments: Sequence[str]) -> int:
    kind, address, root = arguments
    # Whatever a library prints goes to stderr: the lines of the answer stay whole.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    found = find_source(kind, address, Path(root), trying=lambda name: _tell(answers, {"trying": name}))
    card: dict[str, Any] = {"source": None, "refused": found.refused}
    if found.source is not None:
        _tell(answers, {"trying": found.source.name})
        card |= {"source": found.source.name, "reading": told(found.source.read())}
    card["others"] = _others(address, found.source, Path(root))
    _tell(answers, {"card": card})
    return 0


def _others(address: str, source: Source | None, root: Path) -> dict[str, int] | None:
    """count and mib of the processes on the card; None where nothing lists them. This process is none of them."""
    listed = kfd_processes(address, root)
    if listed is None:
        listed = getattr(source, "processes", lambda: None)()
    if listed is None:
        return None
    seen = company(listed, os.getpid(), sees_host=True)
    count = {"count": seen.others or 0}
    return count if seen.other_bytes is None else {**count, "mib": round(seen.other_bytes / 2**20)}


def _tell(answers: IO[str], what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
