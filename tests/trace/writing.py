"""The forms in which the same trace may lie on disk."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def _events_first(document: Document) -> Document:
    return {"traceEvents": document["traceEvents"], **document}


def _events_last(document: Document) -> Document:
    rest = {name: one for name, one in document.items() if name != "traceEvents"}
    return {**rest, "traceEvents": document["traceEvents"]}


def kineto(document: Document) -> str:
    """Line by line as Kineto's writer does it."""
    entries = [
        f'  "{name}": {json.dumps(one)}'
        for name, one in document.items()
        if name not in ("traceEvents", "traceName")
    ]
    events = ",\n".join(_kineto_event(one) for one in document["traceEvents"])
    head = ",\n".join(entries)
    return f'{{\n{head},\n  "traceEvents": [\n{events}\n  ],\n  "traceName": "{document.get("traceName", "")}"\n}}'


def _kineto_event(event: Document) -> str:
    times = {name: event[name] for name in ("ts", "dur") if name in event}
    plain = {name: one for name, one in event.items() if name not in ("ts", "dur", "args")}
    lines = ["    " + json.dumps(plain)[1:-1], "    " + json.dumps(times)[1:-1]]
    if "args" in event:
        lines.append('    "args": {\n      ' + json.dumps(event["args"])[1:-1] + "\n    }")
    return "  {\n" + ",\n".join(lines) + "\n  }"


FORMS: dict[str, Callable[[Document], str]] = {
    "one line": json.dumps,
    "no spaces": lambda document: json.dumps(document, separators=(",", ":")),
    "indented": lambda document: json.dumps(document, indent=2),
    "tabs": lambda document: json.dumps(document, indent="\t"),
    "kineto": kineto,
    "events first": lambda document: json.dumps(_events_first(document)),
    "events last": lambda document: json.dumps(_events_last(document), indent=1),
    "array": lambda document: json.dumps(document["traceEvents"]),
    "CRLF": lambda document: json.dumps(document, indent=1).replace("\n", "\r\n"),
    "BOM": lambda document: "\ufeff" + json.dumps(document),
}


def write(path: Path, text: str, members: int = 0) -> Path:
    """members: of the gzip file; 0 for none. They are cut anywhere, as what is compressed piece by piece is."""
    data = text.encode()
    if members:
        size = len(data) // members + 1
        data = b"".join(gzip.compress(data[at : at + size], 1) for at in range(0, len(data), size))
    path.write_bytes(data)
    return path
