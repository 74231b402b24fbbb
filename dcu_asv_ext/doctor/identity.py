"""The name under which asv files this machine's results."""

from __future__ import annotations

import json
import re

from .check import Check, Group, Host

GROUP = Group("machine")
_CONTAINER_ID = re.compile(r"[0-9a-f]{12}|[0-9a-f]{64}")
NAME_IT = "asv machine --yes --machine NAME"


def check_machine_name(host: Host, measuring: bool) -> Check:
    """asv takes the entry named as the host, or the only entry there is.

    measuring: there is a suite here, so that a missing entry stops `asv run` and is no mere hint.
    """
    report = GROUP.problem if measuring else GROUP.warning
    entries = machine_entries(host)
    if isinstance(entries, str):
        return GROUP.problem(
            "machine-name",
            f"~/.asv-machine.json cannot be read: {entries}.",
            f"Repair it, or remove it and run {NAME_IT}.",
        )
    changing = bool(_CONTAINER_ID.fullmatch(host.hostname))
    if not entries:
        name = " with a NAME that outlives this container" if changing or host.in_container else ""
        command = NAME_IT if name else "asv machine --yes"
        return report(
            "machine-name",
            "asv does not know this machine: there is no entry in ~/.asv-machine.json.",
            f"Run {command}{name}.",
        )
    if len(entries) > 1 and host.hostname not in entries:
        return GROUP.warning(
            "machine-name",
            f"~/.asv-machine.json has {len(entries)} entries ({', '.join(entries)}), none named {host.hostname!r}, "
            "so asv cannot choose.",
            "Give asv run --machine NAME, or keep only the entry of this machine.",
        )
    if changing and entries == [host.hostname]:
        return GROUP.warning(
            "machine-name",
            f"The machine is named {host.hostname!r} after its container, and the next one starts a new history.",
            f"Remove the entry from ~/.asv-machine.json, and run {NAME_IT} with a NAME of the real machine.",
        )
    if len(entries) > 1 and (changing or host.in_container):
        return GROUP.warning(
            "machine-name",
            f"~/.asv-machine.json has {len(entries)} entries, and the host name {host.hostname!r} that selects one "
            "belongs to a container.",
            "Keep only the entry of this machine, or always give asv run --machine NAME.",
        )
    name = host.hostname if host.hostname in entries else entries[0]
    return GROUP.ok("machine-name", f"Results are filed under the machine {name!r}.")


def machine_entries(host: Host) -> list[str] | str:
    """The names in ~/.asv-machine.json, or why it cannot be read."""
    path = host.home / ".asv-machine.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except OSError as error:
        return str(error)
    try:
        found = json.loads(text)
    except ValueError as error:
        return f"it is no JSON ({error})"
    if not isinstance(found, dict):
        return "it holds no object"
    return [name for name in found if name != "version"]
