from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.doctor import machine
from dcu_asv_ext.doctor.host import check_cpu_limit, check_governor, check_load, cpu_limit

from .fakes import host

V2 = {"proc/self/cgroup": "0::/pod/box\n", "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n"}


def test_no_limit(tmp_path: Path) -> None:
    assert check_cpu_limit(host(tmp_path / "a")).state == "ok"
    assert check_cpu_limit(host(tmp_path / "b", V2)).state == "ok"
    unlimited = {"proc/self/cgroup": "1:cpu:/\n0::/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}
    assert check_cpu_limit(host(tmp_path / "c", unlimited)).state == "ok"


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({**V2, "sys/fs/cgroup/pod/cpu.max": "200000 100000\n"}, 2.0),
        ({"proc/self/cgroup": "0::/../other\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n",
                "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
            },
            4.0,
        ),
    ],
)
def test_a_quota(tmp_path: Path, files: dict[str, str], limit: float) -> None:
    where = host(tmp_path, files)
    assert cpu_limit(where) == limit
    assert check_cpu_limit(where).state == "warning"


def test_governor(tmp_path: Path) -> None:
    def governed(name: str, *governors: str) -> str:
        files = {
            f"sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor": f"{one}\n"
            for n, one in enumerate(governors)
        }
        return check_governor(host(tmp_path / name, files)).state

    assert governed("none") == governed("fast", "performance", "performance") == "ok"
    assert governed("mixed", "performance", "powersave") == "warning"


def test_other_work_beside_the_measuring(tmp_path: Path) -> None:
    def loaded(text: str) -> str:
        return check_load(host(tmp_path / text[:3], {"proc/loadavg": text})).state

    assert loaded("0.10 0.2 0.3 1/100 5") == loaded("? no load") == "ok"
    assert loaded("900.0 800.0 700.0 900/1000 5") == "warning"


def test_containers(tmp_path: Path) -> None:
    assert not host(tmp_path / "plain", {"proc/1/cgroup": "0::/init.scope\n"}).in_container
    assert host(tmp_path / "docker", {".dockerenv": ""}).in_container
    assert host(tmp_path / "pod", {"proc/1/cgroup": "1:cpu:/kubepods/x\n"}).in_container


def test_tools_are_found_and_not_run(tmp_path: Path) -> None:
    where = host(
        tmp_path,
        {"opt/hyhal/bin/hy-smi": "#!/bin/sh\nexit 1\n", "bin/rocm-smi": ""},
        {"PATH": str(tmp_path / "bin")},
    )
    assert set(machine.find_tools(where).values()) == {None}, "a file that cannot be run is no tool"
    for name in ("opt/hyhal/bin/hy-smi", "bin/rocm-smi"):
        (tmp_path / name).chmod(0o755)
    found = machine.find_tools(where)
    assert found == {
        "hy-smi": str(tmp_path / "opt/hyhal/bin/hy-smi"),
        "rocm-smi": str(tmp_path / "bin/rocm-smi"),
        "amd-smi": None,
        "nvidia-smi": None,
    }


def test_the_description_takes_drivers_and_toolkits_from_the_root(tmp_path: Path) -> None:
    files = {
        "sys/module/hycu/version": "6.3.30",
        "opt/dtk/.info/version": "25.04.2",
        "proc/cpuinfo": "model name : Hygon C86 7285\n",
    }
    environ = {"HIP_VISIBLE_DEVICES": "6", "PASSWORD": "secret"}
    found = machine.describe(host(tmp_path, files, environ))
    assert found["drivers"] == {"hycu": "6.3.30"} and found["toolkits"] == {"dtk": "25.04.2"}
    assert found["cpu"] == "Hygon C86 7285" and found["visible_devices"] == {"HIP_VISIBLE_DEVICES": "6"}
    assert "secret" not in str(found)
