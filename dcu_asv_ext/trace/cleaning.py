"""A trace as it may be kept and passed on: without what it says of the machine that it was made on."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from .profiler_cost import COST, told_cost
from .reading import Event, EventReader

#: Entries of the file beside its events. Others may hold a whole environment, with secrets in it.
_HEADER = frozenset(
    {"schemaVersion", "deviceProperties", "record_shapes", "profile_memory", "with_stack", "with_flops"}
    | {"with_modules", "displayTimeUnit", "baseTimeNanoseconds"}
)
_VERSION = re.compile(r"[\w-]+_version")
_DISTRIBUTED = ("rank", "world_size")
#: A whole path inside a text, on any system; short ones such as "/" are no places.
_PATH = re.compile(r"(?<![\w.~/\\-])(?:~?/|[A-Za-z]:[\\/])(?:[^\s:;,()<>\"'\\/]+[\\/])+[^\s:;,()<>\"'\\/]+")
_LIBRARY = re.compile(r".*/(?:(?:site|dist)-packages|lib(?:64)?/python3\.\d+)/")
#: torch's own threads say what they are for.
_THREAD = re.compile(r"(thread \S+) \((?!pt_autograd).*\)")
_LEVEL = 6
_as_json = json.JSONEncoder(separators=(",", ":")).encode


def clean(
    source: Path,
    target: Path,
    short: Callable[[str], str],
    add: Callable[[Event, dict[str, Any]], None] | None = None,
    cost: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write `source` anew, event by event, compressed where the target's name ends with .gz.

    short: a file's whole path -> how it may be named. add: is given each event as it was, and the header's entries
    before the events, and may add arguments. cost: the header's entry `profiler_cost.COST`.
    Of the header stays what is known to tell only of versions and
    devices; whole paths in names and arguments are made short, names of processes go.
    Returns the faults of the source. Raises TraceError for what is no trace, OSError.
    """
    reader = EventReader(source)
    with _open(target) as file:
        separator = '{"traceEvents":[\n'
        for events in reader:
            for event in events:
                if add is not None:
                    add(event, reader.header)
                file.write(separator + _cleaned(event, short))
                separator = ",\n"
        header = _as_json(allowed({**reader.header, **({COST: cost} if cost else {})}))
        file.write(
            ("" if reader.count else separator) + "\n]" + ("," + header[1:] if header != "{}" else "}")
        )
    return reader.faults


def _open(target: Path) -> IO[str]:
    if target.name.endswith(".gz"):
        return cast(IO[str], gzip.open(target, "wt", compresslevel=_LEVEL, encoding="utf-8"))
    return open(target, "w", encoding="utf-8")


def allowed(header: dict[str, Any]) -> dict[str, Any]:
    """The entries of a header that may be kept."""
    kept = {name: value for name, value in header.items() if name in _HEADER or _VERSION.fullmatch(name)}
    cost = told_cost(header)
    if cost is not None:
        kept[COST] = cost
    about = header.get("distributedInfo")
    if isinstance(about, dict):
        kept["distributedInfo"] = {name: about[name] for name in _DISTRIBUTED if name in about}
    return kept


def _cleaned(event: Event, short: Callable[[str], str]) -> str:
    """As JSON. What has no slash, as most events, names no place."""
    name, args = event.get("name"), event.get("args")
    if event.get("ph") == "M" and isinstance(args, dict):
        _unnamed(name, args)
    text = _as_json(event)
    if "/" not in text and "\\" not in text:
        return text
    if isinstance(name, str):
        event["name"] = shortened(name, short)
    if isinstance(args, dict):
        event["args"] = _all_shortened(args, short)
    return _as_json(event)


def _all_shortened(value: Any, short: Callable[[str], str]) -> Any:
    """Every text in it: an operator's concrete inputs are a list, and a file that it opens is one of them."""
    if isinstance(value, str):
        return shortened(value, short)
    if isinstance(value, list):
        return [_all_shortened(one, short) for one in value]
    if isinstance(value, dict):
        return {name: _all_shortened(one, short) for name, one in value.items()}
    return value


def _unnamed(kind: Any, args: dict[str, Any]) -> None:
    """A row that names a process or a thread; what is a device or a stream keeps its name."""
    if kind == "process_name":
        args["name"] = "process"
    elif kind == "thread_name":
        args["name"] = _THREAD.sub(r"\1", str(args.get("name")))


def shortened(text: str, short: Callable[[str], str]) -> str:
    """The text with its whole paths made short; those of installed packages begin with the package's name."""
    if "/" not in text and "\\" not in text:
        return text
    return _PATH.sub(lambda found: _short(found[0], short), text)


def _short(path: str, short: Callable[[str], str]) -> str:
    plain = path.replace("\\", "/")
    below = _LIBRARY.sub("", plain)
    return below if below != plain else short(path)
