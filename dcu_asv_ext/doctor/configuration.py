"""asv.conf.json, read as asv reads it, and the traps in it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..asv_plugin.settings import SettingsError, settings_of
from ..gates.configuration import GateConfigError, policy_of
from .check import Check, Group

GROUP = Group("configuration")
PLUGIN = ".dcu_asv_ext.asv_plugin"
NAMES = ("asv.conf.json", "asv.conf.jsonc")


class ConfigError(Exception):
    """The configuration cannot be found or read; the text says why and what to do."""


@dataclass(frozen=True)
class Config:
    """A loaded configuration. Its paths are relative to the folder it lies in, as asv takes them."""

    path: Path
    values: dict[str, Any]

    @property
    def folder(self) -> Path:
        return self.path.parent

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)

    def place(self, name: str, default: str) -> Path:
        return self.folder / str(self.values.get(name) or default)

    @property
    def environment_type(self) -> str | None:
        """As asv decides it: without a type, Python "same" means the existing environment."""
        found = self.get("environment_type")
        if not found and self.get("pythons") == ["same"]:
            return "existing"
        return str(found) if found else None

    @property
    def branches(self) -> list[str]:
        return [str(one) for one in self.get("branches") or [] if one]


def find_config(given: str | None, folder: Path) -> Path | None:
    """The file that asv would take; None where there is none. Raises ConfigError."""
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise ConfigError(f"there is no {given}; name an asv.conf.json with --config")
        return path.resolve()
    found = [folder / name for name in NAMES if (folder / name).is_file()]
    if len(found) > 1:
        raise ConfigError(f"{folder} has both {' and '.join(NAMES)}, and asv refuses that; remove one")
    return found[0].resolve() if found else None


def load_config(path: Path) -> Config:
    """Comments and trailing commas are allowed, as by asv. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); make it readable, in UTF-8") from error
    try:
        values = _parser()(text)
    except ValueError as error:
        raise ConfigError(f"{path} is no valid JSON ({error}); correct it") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no object; it must start with {{")
    return Config(path, values)


def _parser() -> Any:
    try:
        return importlib.import_module("json5").loads  # asv's own, and installed with it
    except ModuleNotFoundError:
        return json.loads


def check_configuration(config: Config, kind: str) -> Iterator[Check]:
    """kind: the device, as `device_kind()` tells it ("" where that is not known)."""
    yield _plugin(config)
    yield _environment(config)
    yield _pythons(config)
    yield _branches(config)
    yield _launch_method(config, kind)
    yield _matrix(config)
    yield _settings(config)
    yield _gate(config)


def _plugin(config: Config) -> Check:
    plugins = config.get("plugins") or []
    names = [str(one) for one in plugins] if isinstance(plugins, list) else [str(plugins)]
    if PLUGIN in names:
        return GROUP.ok("plugin", f'"plugins" has "{PLUGIN}".')
    bare = PLUGIN[1:]
    if bare in names:
        return GROUP.problem(
            "plugin",
            f'"plugins" has "{bare}" without its leading dot, and asv ignores such a name without a word.',
            f'Write "plugins": ["{PLUGIN}"].',
        )
    return GROUP.problem(
        "plugin",
        '"plugins" does not name this extension, so asv measures without overlay, evidence and verdicts.',
        f'Add "{PLUGIN}" to "plugins" in {config.path.name}.',
    )


def _environment(config: Config) -> Check:
    kind = config.environment_type
    if kind == "overlay":
        return GROUP.ok("environment-type", "Each commit is installed into an overlay environment.")
    remedy = f'Set "environment_type": "overlay" in {config.path.name}.'
    if kind == "existing":
        return GROUP.warning(
            "environment-type",
            "The environment is existing: it holds one install, so commit ranges, asv find and asv continuous are "
            "refused, and nothing is saved without --set-commit-hash.",
            remedy,
        )
    if kind is None:
        return GROUP.problem(
            "environment-type", "No environment_type is set, and asv then guesses one.", remedy
        )
    return GROUP.warning(
        "environment-type",
        f"The environment is {kind}, which does not inherit the installed torch and would have to install its own.",
        remedy,
    )


def _pythons(config: Config) -> Check:
    pythons = [str(one) for one in config.get("pythons") or []]
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not config.get("environment_type") and "same" in pythons:
        return GROUP.problem(
            "pythons",
            '"pythons": ["same"] without an environment_type makes asv pick the existing environment.',
            'Set "environment_type": "overlay".',
        )
    if config.environment_type == "overlay" and pythons and not {"same", running} & set(pythons):
        return GROUP.problem(
            "pythons",
            f'"pythons" asks for {", ".join(pythons)}, but an overlay builds on the interpreter that runs asv, '
            f"Python {running}.",
            f'Remove "pythons", or set it to ["{running}"], or run asv by another interpreter.',
        )
    return GROUP.ok("pythons", f"An environment can be made for Python {running}.")


def _branches(config: Config) -> Check:
    branches = config.branches
    if config.environment_type == "existing" and len(branches) > 1:
        return GROUP.problem(
            "branches-existing",
            f"{len(branches)} branches are configured, but an existing environment holds one install of one of them.",
            'Set "environment_type": "overlay", or keep one branch.',
        )
    return GROUP.ok("branches-existing", "The branches do not contradict the environment.")


def _launch_method(config: Config, kind: str) -> Check:
    if config.get("launch_method") != "forkserver":
        return GROUP.ok("launch-method", "Each measurement gets a process of its own (spawn).")
    if kind == "cpu":
        return GROUP.ok("launch-method", "The fork server is safe on the CPU.")
    return GROUP.problem(
        "launch-method",
        "launch_method is forkserver: a device that anything touched before the fork is broken in every child.",
        'Set "launch_method": "spawn".',
    )


def _matrix(config: Config) -> Check:
    matrix = config.get("matrix") or {}
    if not isinstance(matrix, dict):
        return GROUP.problem(
            "matrix", f'"matrix" is no object but {matrix!r}.', 'Make "matrix" an object, or remove it.'
        )
    # In the old form, without these keys, every entry is a requirement.
    new = set(matrix) & {"env", "env_nobuild", "req"}
    wanted = sorted(matrix.get("req") or {}) if new else sorted(matrix)
    if not wanted or config.environment_type != "overlay":
        return GROUP.ok("matrix", "The matrix asks for nothing that the environment cannot give.")
    return GROUP.problem(
        "matrix",
        f'"matrix" asks for {", ".join(wanted)}, but an overlay installs nothing besides the project.',
        'Install it beside asv, and keep only "env" and "env_nobuild" in "matrix".',
    )


def _settings(config: Config) -> Check:
    try:
        settings_of(SimpleNamespace(dcu=config.get("dcu")))
    except SettingsError as error:
        return GROUP.problem("dcu-section", f"{error}.", f'Correct "dcu" in {config.path.name}.')
    return GROUP.ok("dcu-section", 'The "dcu" section is valid, or absent.')


def _gate(config: Config) -> Check:
    """What "gate" must be at all, the section's own check tells."""
    section = config.get("dcu")
    given = section.get("gate") if isinstance(section, dict) else None
    if isinstance(given, dict):
        try:
            policy_of(given)
        except GateConfigError as error:
            return GROUP.problem(
                "gate-section", f"{error}.", f'Correct "gate" in "dcu" of {config.path.name}.'
            )
    return GROUP.ok("gate-section", 'What "dcu-asv gate" is to ask is valid, or left to its defaults.')
