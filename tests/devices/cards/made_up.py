"""Made-up machines: the files that a driver would publish, under a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

ADDRESS = "0000:09:00.0"
MIB = 2**20

FILES = {
    "mem_info_vram_used": f"{500 * MIB}\n",
    "mem_info_vram_total": f"{65520 * MIB}\n",
    "gpu_busy_percent": "37\n",
    "power_dpm_force_performance_level": "auto\n",
    "hwmon/hwmon3/temp1_input": "44000\n",
    "hwmon/hwmon3/power1_average": "135000000\n",
    "hwmon/hwmon3/freq1_input": "1500000000\n",
    "hwmon/hwmon3/freq2_input": "1800000000\n",
}


def card(root: Path, address: str = ADDRESS, **changed: str | None) -> Path:
    """The card's folder. changed: file name ("/" as "__") -> its text, None for no such file."""
    folder = root / "sys/bus/pci/devices" / address
    texts = {**FILES, **{name.replace("__", "/"): text for name, text in changed.items()}}
    folder.mkdir(parents=True)
    for name, text in texts.items():
        if text is not None:
            write(folder / name, text)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def node(root: Path, number: int, gpu_id: int, **properties: int) -> None:
    """A node of the driver's topology."""
    folder = root / "sys/class/kfd/kfd/topology/nodes" / str(number)
    write(folder / "gpu_id", f"{gpu_id}\n")
    write(folder / "properties", "".join(f"{name} {value}\n" for name, value in properties.items()))


def two_sockets_two_cards(root: Path) -> None:
    """The card at ADDRESS is 4242, its neighbour 77; two CPUs come first."""
    node(root, 0, 0, cpu_cores_count=64)
    node(root, 1, 0, cpu_cores_count=64)
    node(root, 2, 77, location_id=0x0400, domain=0)
    node(root, 3, 4242, location_id=0x0900, domain=0)
    (root / "sys/class/kfd/kfd/proc").mkdir(parents=True, exist_ok=True)


def process(root: Path, pid: int, queues: tuple[int, ...] = (), **held: int) -> None:
    """held: "vram_<gpu_id>" -> bytes."""
    folder = root / "sys/class/kfd/kfd/proc" / str(pid)
    folder.mkdir(parents=True)
    for name, value in held.items():
        write(folder / name, f"{value}\n")
    for number, gpu in enumerate(queues):
        write(folder / f"queues/{number}/gpuid", f"{gpu}\n")


def host_namespace(root: Path, number: int = 4026531836) -> None:
    link = root / "proc/self/ns/pid"
    link.parent.mkdir(parents=True)
    link.symlink_to(f"pid:[{number}]")
