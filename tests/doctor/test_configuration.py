from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.doctor.check import Check
from dcu_asv_ext.doctor.configuration import (
    Config,
    ConfigError,
    check_configuration,
    find_config,
    load_config,
)

GOOD = {
    "repo": ".",
    "branches": ["main"],
    "environment_type": "overlay",
    "plugins": [".dcu_asv_ext.asv_plugin"],
}
RUNNING = f"{sys.version_info[0]}.{sys.version_info[1]}"


def checks(kind: str = "dcu", **changed: Any) -> dict[str, Check]:
    values = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    return {one.id: one for one in check_configuration(Config(Path("asv.conf.json"), values), kind)}


def troubled(kind: str = "dcu", **changed: Any) -> dict[str, str]:
    return {id: one.state for id, one in checks(kind, **changed).items() if one.state != "ok"}


def test_a_good_configuration() -> None:
    assert troubled() == {}
    assert (
        troubled(plugins=[".other", ".dcu_asv_ext.asv_plugin"], pythons=[RUNNING], dcu={"card": "refuse"})
        == {}
    )
    # asv takes "same" for the existing environment only where no type is set.
    assert troubled(pythons=["same"], launch_method="spawn", matrix={"env": {"A": ["1"]}}) == {}


def test_the_plugins_name() -> None:
    found = checks(plugins=["dcu_asv_ext.asv_plugin"])["plugin"]
    assert found.state == "problem" and "without its leading dot" in found.finding
    missing = checks(plugins=[".other"])["plugin"]
    assert missing.state == "problem" and "does not name this extension" in missing.finding
    assert troubled(plugins=None) == {"plugin": "problem"}


def test_the_environment() -> None:
    found = checks(environment_type="existing")["environment-type"]
    assert found.state == "warning" and "asv find" in found.finding and "--set-commit-hash" in found.finding
    assert troubled(environment_type="virtualenv") == {"environment-type": "warning"}
    assert troubled(environment_type=None) == {"environment-type": "problem"}


def test_pythons() -> None:
    assert troubled(environment_type=None, pythons=["same"]) == {
        "environment-type": "warning",
        "pythons": "problem",
    }
    assert troubled(pythons=["2.7"]) == {"pythons": "problem"}
    assert troubled(pythons=["2.7", RUNNING]) == {}


def test_several_branches_with_existing() -> None:
    assert troubled(branches=["main", "next"]) == {}
    found = troubled(branches=["main", "next"], environment_type="existing")
    assert found["branches-existing"] == "problem"
    assert "branches-existing" not in troubled(environment_type="existing")


def test_the_fork_server() -> None:
    assert troubled(launch_method="forkserver") == {"launch-method": "problem"}
    assert troubled("", launch_method="forkserver") == {"launch-method": "problem"}
    assert troubled("cpu", launch_method="forkserver") == {}


@pytest.mark.parametrize(
    "matrix", [{"req": {"numpy": ["1"]}}, {"numpy": []}, {"env": {}, "req": {"numpy": "1"}}, []]
)
def test_the_matrix(matrix: Any) -> None:
    assert troubled(matrix=matrix or ["numpy"]) == {"matrix": "problem"}
    assert "matrix" not in troubled(matrix=matrix, environment_type="virtualenv")


@pytest.mark.parametrize("section", [{"verdct": "asv"}, {"verdict": "mine"}, "asv"])
def test_the_dcu_section(section: Any) -> None:
    assert troubled(dcu=section) == {"dcu-section": "problem"}


def test_what_the_gate_is_to_ask() -> None:
    assert troubled(dcu={"gate": {"performance": {"margin": "2%"}}}) == {}
    assert troubled(dcu={"gate": {"speed": {}}}) == {"gate-section": "problem"}
    assert troubled(dcu={"gate": "strict"}) == {"dcu-section": "problem"}, "told once"


def test_it_is_read_as_asv_reads_it(tmp_path: Path) -> None:
    assert find_config(None, tmp_path) is None
    path = tmp_path / "asv.conf.json"
    path.write_text('{\n // a comment\n "repo": "..", "results_dir": "out", }\n')
    assert find_config(None, tmp_path) == path == find_config(str(path), Path("/"))
    config = load_config(path)
    assert config.place("results_dir", "results") == tmp_path / "out"
    assert config.place("env_dir", "env") == tmp_path / "env"
    (tmp_path / "asv.conf.jsonc").write_text("{}")
    with pytest.raises(ConfigError, match="has both"):
        find_config(None, tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": }'])
def test_a_broken_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "asv.conf.json").write_text(text)
    with pytest.raises(ConfigError, match=r"asv\.conf\.json"):
        load_config(tmp_path / "asv.conf.json")


def test_a_named_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no"):
        find_config(str(tmp_path / "other.json"), tmp_path)
