from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.devices.host import container, describe_host, governors


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


CPUS = "sys/devices/system/cpu"


def server(root: Path) -> Path:
    """Two sockets of two cores with two threads each."""
    files = {
        f"{CPUS}/cpu{number}/{name}": text
        for number in range(8)
        for name, text in {
            "topology/physical_package_id": f"{number // 4}\n",
            "topology/thread_siblings_list": f"{number % 4},{number % 4 + 4}\n",
            "cpufreq/scaling_governor": "powersave\n" if number == 7 else "performance\n",
        }.items()
    }
    more = {
        f"{CPUS}/online": "0-7\n",
        "sys/devices/system/node/node0/cpulist": "0-3\n",
        "sys/devices/system/node/node1/cpulist": "4-7\n",
        "sys/devices/system/node/online": "0-1\n",
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: Hygon C86 7285\n",
        "proc/meminfo": "MemTotal:       65536 kB\nMemFree:  1 kB\n",
        "proc/sys/kernel/osrelease": "5.10.0-136.el8\n",
        "proc/1/cgroup": "0::/init.scope\n",
        "proc/self/cgroup": "0::/user.slice/session-3.scope\n",
    }
    return put(root, {**files, **more})


def test_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    assert describe_host(server(tmp_path), {}) == {
        "cpu": "Hygon C86 7285",
        "cores": 3,
        "cores_total": 8,
        "sockets": 2,
        "threads_per_core": 2,
        "numa_nodes": 2,
        "governor": "performance, powersave",
        "kernel": "5.10.0-136.el8",
        "container": False,
        "memory_total": 64 << 20,
    }


def test_a_machine_that_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: None)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)
    assert describe_host(tmp_path, {}) == {"cores": 1, "container": False}


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        (f"{CPUS}/online", "all\n", "cores_total"),
        (f"{CPUS}/cpu0/topology/thread_siblings_list", "\n", "threads_per_core"),
        (f"{CPUS}/cpu0/topology/physical_package_id", "-1\n", "sockets"),
        ("proc/meminfo", "MemTotal: many\n", "memory_total"),
        (f"{CPUS}/cpu0/cpufreq/scaling_governor", "\n", "governor"),
    ],
)
def test_what_makes_no_sense_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, name: str
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert name not in describe_host(put(tmp_path, {file: text}), {})


def test_governors_are_told_once(tmp_path: Path) -> None:
    assert governors(server(tmp_path)) == ["performance", "powersave"]
    assert governors(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({"proc/1/cgroup": "0::/kubepods.slice/docker-1f.scope"}, {}, "kubernetes"),
        ({"proc/self/cgroup": "12:cpu:/docker/1f"}, {}, "docker"),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({}, {"container": "lxc"}, "lxc"),
        ({}, {"container": "somebody's own"}, True),
        ({"proc/1/cgroup": "0::/init.scope"}, {}, False),
    ],
)
def test_containers(tmp_path: Path, files: dict[str, str], environ: dict[str, str], kind: str | bool) -> None:
    assert container(put(tmp_path, files), environ) == kind
