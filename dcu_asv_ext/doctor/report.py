"""The doctor's findings as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from ..metrics import GROUPS, PROFILE
from .check import OK

_WIDTH = 100
_COLUMN = 22
#: Checks that are told in full where they are fine.
_SHOWN = ("device", "synchronise", "card-readings", "card-shared", "performance-level")


def render(report: Mapping[str, Any]) -> str:
    lines: list[str] = []
    for title, body in (
        ("This machine", _machine(report["machine"])),
        ("Metrics", _metrics(report["metrics"])),
        ("Checks", _checks(report["checks"])),
    ):
        lines += [title, *body, ""]
    lines += [*_wrapped(report["scope"], ""), counts(report["counts"])]
    return "\n".join(lines)


def counts(found: Mapping[str, int]) -> str:
    return f"{found['ok']} ok, {_many(found['warning'], 'warning')}, {_many(found['problem'], 'problem')}"


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _row(name: str, text: str) -> list[str]:
    return _wrapped(text, f"  {name:<{_COLUMN}}")


def _wrapped(text: str, head: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _machine(found: Mapping[str, Any]) -> Iterator[str]:
    build, packages = found["torch"], found["packages"]
    container = ", in a container" if found["container"] else ""
    yield from _row(
        "host", f"{found['hostname']}{container}, {found['cpu'] or 'CPU not named'}, {found['cores']} cores"
    )
    yield from _row("processor", ", ".join(_processor(found["host"])) or "not told")
    yield from _row("python", f"{found['python']['version']} ({found['python']['executable']})")
    torch = f"{build['version']}, a {build['kind']} build" if build["version"] else "not installed"
    extra = [f"{name} {build[name]}" for name in ("hip", "cuda", "dtk") if build[name]]
    yield from _row("torch", ", ".join([torch, *extra]))
    yield from _row(
        "asv",
        f"{packages.get('asv', 'not installed')}, asv_runner {packages.get('asv_runner', 'not installed')}",
    )
    yield from _row("driver", _named(found["drivers"]) or "no card driver is loaded")
    yield from _row("toolkit", _named(found["toolkits"]) or "neither DTK nor ROCm is installed")
    tools = [f"{name} ({path})" for name, path in found["tools"].items() if path]
    yield from _row("tools", ", ".join(tools) or f"none of {', '.join(found['tools'])} is found")
    if found["visible_devices"]:
        yield from _row(
            "visible", ", ".join(f"{name}={value}" for name, value in found["visible_devices"].items())
        )


def _processor(host: Mapping[str, Any]) -> Iterator[str]:
    for name, word in (("sockets", "socket"), ("numa_nodes", "NUMA node")):
        if name in host:
            yield _many(host[name], word)
    if "threads_per_core" in host:
        yield f"{_many(host['threads_per_core'], 'thread')} a core"
    if "governor" in host:
        yield f"governor {host['governor']}"
    if "kernel" in host:
        yield f"kernel {host['kernel']}"


def _named(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}".strip() for name, version in versions.items())


def _metrics(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in _together(rows):
        if row["measured"]:
            text = "measured" + (f" {row['condition']}" if row["condition"] else "")
        elif row["measured"] is None:
            text = f"not known, because {row['reason']}"
        else:
            text = f"not measured, because {row['reason']}"
        yield from _row(row["name"], f"{text} ({row['label']})" if row["measured"] else text)


def _together(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows, those of a profile as one where none is measured, all for one reason."""
    profile = [row for row in rows if row["name"] in GROUPS[PROFILE]]
    told = {(row["measured"], row["reason"]) for row in profile}
    if len(told) != 1 or next(iter(told))[0]:
        yield from rows
        return
    yield from (row for row in rows if row not in profile)
    names = ", ".join(row["name"] for row in profile)
    yield {**profile[0], "name": PROFILE, "reason": f"{profile[0]['reason']} ({names})"}


def _checks(checks: list[dict[str, str]]) -> Iterator[str]:
    """By group; what is fine takes no more than a line, but for those that show figures."""
    for group in dict.fromkeys(one["group"] for one in checks):
        mine = [one for one in checks if one["group"] == group]
        yield f"  {group}"
        fine = [one for one in mine if one["state"] == OK]
        for one in fine:
            if one["id"] in _SHOWN:
                yield from _wrapped(one["finding"], f"    ok       {one['id']}: ")
        quiet = [one["id"] for one in fine if one["id"] not in _SHOWN]
        if quiet:
            yield from _wrapped(", ".join(quiet), "    ok       ")
        for one in mine:
            if one["state"] != OK:
                yield from _wrapped(f"{one['id']}: {one['finding']}", f"    {one['state']:<8} ")
                yield from _wrapped(one["remedy"], "             -> ")
