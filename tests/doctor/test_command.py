from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.asv_plugin import locks
from dcu_asv_ext.doctor.check import Check, Host
from dcu_asv_ext.doctor.command import examine
from dcu_asv_ext.doctor.report import render
from dcu_asv_ext.metrics import GROUPS, PROFILE

CONFIG = {
    "repo": ".",
    "branches": ["main"],
    "environment_type": "overlay",
    "plugins": [".dcu_asv_ext.asv_plugin"],
}
SUITE = "import dcu_asv_ext as dcu\n@dcu.benchmark\ndef f(): return 1\n"


@pytest.fixture()
def project(tmp_path: Path) -> Path:
    """A folder where all is well."""
    folder = tmp_path / "project"
    (folder / "benchmarks").mkdir(parents=True)
    (folder / "benchmarks/one.py").write_text(SUITE)
    (folder / "asv.conf.json").write_text(json.dumps(CONFIG))
    for arguments in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True)
    (tmp_path / ".asv-machine.json").write_text(json.dumps({"lab1": {}, "version": 1}))
    return folder


def host(project: Path, **environ: str) -> Host:
    root = project.parent / "root"
    root.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return Host(root, {**kept, "HOME": str(project.parent), "DCU_ASV_DEVICE": "cpu", **environ}, "lab1")


def troubles(found: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["state"] for one in found["checks"] if one["state"] != "ok"}


def test_all_is_well(project: Path) -> None:
    found = examine(host(project), project, probe=False)
    assert set(troubles(found)) <= {"disk-space"}
    assert found["counts"]["ok"] + found["counts"]["warning"] == len(found["checks"]) > 20
    assert found["config"] == str(project / "asv.conf.json") and json.loads(json.dumps(found)) == found
    text = render(found)
    assert text.splitlines()[-1].endswith("0 problems") and "not known, because --no-probe was given" in text
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 100


def test_the_processor_is_told(project: Path) -> None:
    where = host(project)
    folder = where.root / "sys/devices/system"
    for name, told in {
        "cpu/cpu0/cpufreq/scaling_governor": "powersave",
        "cpu/cpu0/topology/physical_package_id": "0",
        "cpu/cpu0/topology/thread_siblings_list": "0,1",
        "node/node0/cpulist": "0-1",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(told + "\n")
    found = examine(where, project, probe=False)
    assert found["machine"]["host"]["governor"] == "powersave" and found["card"] is None
    assert "processor             1 socket, 1 NUMA node, 2 threads a core, governor powersave" in render(
        found
    )


def test_every_id_is_said_once(project: Path) -> None:
    ids = [one["id"] for one in examine(host(project), project, probe=False)["checks"]]
    assert len(ids) == len(set(ids))


def test_troubles_are_told_with_their_remedies(project: Path) -> None:
    (project / "asv.conf.json").write_text(json.dumps({**CONFIG, "plugins": ["dcu_asv_ext.asv_plugin"]}))
    found = examine(host(project), project, probe=False)
    assert troubles(found).get("plugin") == "problem" and found["counts"]["problem"] == 1
    text = render(found)
    assert "    problem  plugin: " in text and '-> Write "plugins": [".dcu_asv_ext.asv_plugin"].' in text


def test_without_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = examine(host(tmp_path / "empty"), tmp_path / "empty", probe=False)
    assert found["config"] is None and "only the machine was checked" in " ".join(render(found).split())
    assert {one["group"] for one in found["checks"]} == {"software", "device", "machine", "folders"}


def test_a_configuration_that_cannot_be_read(project: Path) -> None:
    (project / "asv.conf.json").write_text("{")
    assert troubles(examine(host(project), project, probe=False))["config"] == "problem"
    missing = examine(host(project), project, "other.json", probe=False)
    assert troubles(missing)["config"] == "problem"


def test_the_probe_is_asked(project: Path) -> None:
    content = {"kind": "cpu", "name": "cpu", "asynchronous": False}
    stages = {"torch": {}, "device": content, "metrics": {"device_time": "no events"},
              "timing": {"unsynchronised": [0.02], "synchronised": [0.02]}}  # fmt: skip
    lines = "\n".join(json.dumps({"stage": stage, "content": told}) for stage, told in stages.items())
    found = examine(host(project), project, command=[sys.executable, "-c", f"print({lines!r})"])
    assert found["device"] == content and found["probe_failure"] is None
    assert "device_time           not measured, because no events" in render(found)
    broken = examine(host(project), project, command=[sys.executable, "-c", "raise SystemExit(9)"])
    assert troubles(broken)["device"] == "problem" and "exit code 9" in broken["probe_failure"]["why"]
    assert "synchronise" not in {one["id"] for one in broken["checks"]}, "one fault is told once"


@pytest.fixture()
def folder_of_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(locks, "lock_folder", lambda: tmp_path)
    yield tmp_path


def test_a_card_that_is_being_measured_is_not_disturbed(project: Path, folder_of_locks: Path) -> None:
    where = host(project, DCU_ASV_DEVICE="sim")
    lock = locks.card_lock("sim", where.environ)
    assert lock is not None
    tell = "import json, sys; print(json.dumps({'stage': 'metrics', 'content': {'arguments': sys.argv[1:]}}))"
    lock.acquire()
    held = examine(where, project, command=[sys.executable, "-c", tell])
    lock.release()
    free = examine(where, project, command=[sys.executable, "-c", tell])
    states = [{one["id"]: one["state"] for one in found["checks"]} for found in (held, free)]
    assert (states[0]["card-lock"], states[0]["synchronise"]) == ("warning", "warning")
    assert (states[1]["card-lock"], states[1]["synchronise"]) == ("ok", "problem"), "nothing was timed"


def test_exit_codes(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.setenv("DCU_ASV_DEVICE", "cpu")
    assert cli.main(["doctor", "--no-probe", "--json"]) == 0, capsys.readouterr().out
    assert json.loads(capsys.readouterr().out)["counts"]["problem"] == 0
    monkeypatch.setenv("DCU_ASV_DEVICE", "toaster")
    assert cli.main(["doctor", "--no-probe"]) == 3
    assert "DCU_ASV_DEVICE is 'toaster'" in capsys.readouterr().out


def test_a_check_without_a_remedy_is_refused() -> None:
    with pytest.raises(ValueError):
        Check("a", "b", "problem", "It is so.")
    with pytest.raises(ValueError):
        Check("a", "b", "fine", "It is so.")


def test_what_a_profile_cannot_tell_for_one_reason_is_told_once(project: Path) -> None:
    found = examine(host(project), project, probe=False)
    for row in found["metrics"]:
        if row["name"] in GROUPS[PROFILE]:
            row |= {"measured": False, "reason": "nothing runs"}
    lines = [line for line in render(found).splitlines() if "nothing runs" in line]
    assert len(lines) == 1 and lines[0].startswith("  profile               not measured, because")
    next(row for row in found["metrics"] if row["name"] == "idle_share")["reason"] = "another"
    assert sum("nothing runs" in line for line in render(found).splitlines()) == len(GROUPS[PROFILE]) - 1
