"""The sub-command: gathers the facts, runs every check, prints, and tells the exit code."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..asv_plugin.locks import FileLock, Held, card_lock
from ..devices import DeviceUnavailable, device_kind
from ..devices.facts import torch_build
from ..devices.request import VARIABLE
from . import card, configuration, device, host, identity, machine, places, probing, report, software, suite
from .check import STATES, Check, Host

FINE, BROKEN = 0, 3
NOT_PROBED = "--no-probe was given"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="the asv.conf.json to check (default: the one in this folder)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    parser.add_argument("--no-probe", action="store_true", help="do not touch the device")


def run(options: argparse.Namespace) -> int:
    found = examine(Host(), Path.cwd(), options.config, probe=not options.no_probe)
    print(json.dumps(found, indent=1) if options.json else report.render(found))
    return BROKEN if found["counts"]["problem"] else FINE


def examine(
    where: Host,
    folder: Path,
    config_file: str | None = None,
    probe: bool = True,
    command: Sequence[str] = probing.PROBE,
    limit: float = probing.LIMIT,
) -> dict[str, Any]:
    """Everything the doctor finds, JSON-able: scope, config, machine, device, card, metrics, timing, checks,
    counts."""
    facts = machine.describe(where)
    checks: list[Check] = []
    config = None
    try:
        path = configuration.find_config(config_file, folder)
        config = None if path is None else configuration.load_config(path)
        scope = _scope(config, folder)
    except configuration.ConfigError as error:
        scope = "The configuration could not be read, so only the machine was checked."
        checks.append(configuration.GROUP.problem("config", *device.split(str(error), "Correct it.")))
    checks += _software(facts, where)
    probed, more = _device(where, probe, command, limit)
    seen = card.look(probed.stages.get("device"), where)
    checks += [*more, *card.check_card(probed.stages.get("device"), seen), *_machine(where, config)]
    if config is not None:
        checks += _suite(where, config)
    states = Counter(one.state for one in checks)
    return {
        "scope": scope,
        "config": None if config is None else str(config.path),
        "machine": facts,
        "device": probed.stages.get("device"),
        "card": seen,
        "metrics": probing.metric_rows(probed, None if probe else NOT_PROBED),
        "timing": probed.stages.get("timing"),
        "probe_failure": probed.failure
        and {"during": probed.during, "why": probed.failure, "stderr": probed.words},
        "checks": [dataclasses.asdict(one) for one in checks],
        "counts": {state: states[state] for state in STATES},
    }


def _scope(config: configuration.Config | None, folder: Path) -> str:
    if config is None:
        return f"There is no asv.conf.json in {folder}, so only the machine was checked."
    return f"Checked the machine and {config.path}."


def _software(facts: dict[str, Any], where: Host) -> Iterator[Check]:
    build = torch_build()
    yield from software.check_versions({**facts["packages"], "torch": build.version})
    yield software.check_single_torch(sys.path)
    yield software.check_build_fits_driver(build, where)


def _kind(where: Host) -> str:
    try:
        return device_kind(where.environ.get(VARIABLE), root=where.root)
    except DeviceUnavailable:
        return ""  # said by check_choice, check_versions or the probe


def _device(
    where: Host, probe: bool, command: Sequence[str], limit: float
) -> tuple[probing.Probe, list[Check]]:
    """What the probe told, and the checks on the device."""
    kind = _kind(where)
    checks = [device.check_choice(where.environ), device.check_visibility(where.environ, kind)]
    lock = card_lock(kind, where.environ) if kind else None
    with ExitStack() as stack:
        checks.append(device.check_lock(lock))
        if not probe:
            return probing.Probe(), checks
        free = _take(lock, stack)
        probed = probing.run_probe(where.environ, free, limit, command)
    checks.append(probing.check_device(probed))
    if "metrics" in probed.stages:
        skipped = None if free else "another run is measuring on the card"
        checks.append(probing.check_timing(probed, where.environ, skipped))
    return probed, checks


def _take(lock: FileLock | None, stack: ExitStack) -> bool:
    """Hold the card while it is timed, so that a run that starts meanwhile waits; False where it is taken."""
    if lock is None:
        return True
    try:
        lock.acquire()
    except Held:
        return False
    stack.callback(lock.release)
    return True


def _machine(where: Host, config: configuration.Config | None) -> Iterator[Check]:
    yield identity.check_machine_name(where, measuring=config is not None)
    yield host.check_cpu_limit(where)
    yield host.check_governor(where)
    yield host.check_load(where)
    yield from places.check_folders(config, where.environ)


def _suite(where: Host, config: configuration.Config) -> Iterator[Check]:
    yield from configuration.check_configuration(config, _kind(where))
    yield from places.check_repository(config, where.environ)
    yield from suite.check_suite(config)
