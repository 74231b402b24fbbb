"""The process that looks at a card: what it hands over, how it ends, and that nothing it meets breaks the caller."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.devices.cards import sampler as sampling
from dcu_asv_ext.devices.cards.in_process import MemGetInfo
from dcu_asv_ext.devices.cards.sampler import Sampler, ThreadSampler
from dcu_asv_ext.devices.cards.source import Reading

from . import fake_libraries
from .made_up import ADDRESS, MIB, card, host_namespace, process, two_sockets_two_cards
from .test_command import tool

#: For what ends at once unless it is broken.
LONG = 60.0
#: For what is waited for on purpose.
SHORT = 0.1


def sysfs(root: Path) -> tuple[str, str, str]:
    return ("sysfs", ADDRESS, str(root))


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + LONG
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} was not written"
        time.sleep(0.01)


def ended(descriptor: int) -> bool:
    """Waits until the process behind a pidfd has ended."""
    return bool(select.select([descriptor], [], [], LONG)[0])


def test_readings_from_a_process_of_its_own(tmp_path: Path) -> None:
    card(tmp_path)
    two_sockets_two_cards(tmp_path)
    host_namespace(tmp_path)
    process(tmp_path, os.getpid(), vram_4242=64 * MIB)
    process(tmp_path, 1, vram_4242=32 * MIB)
    begin = time.perf_counter()
    samples = Sampler(sysfs(tmp_path), 0.01).stop()
    end = time.perf_counter()
    assert (samples.source, samples.interval, samples.reason) == ("sysfs", 0.01, "")
    # However early it is told to end: one look then, and one last.
    assert samples.taken == len(samples.readings) >= 2
    assert samples.readings[0].used_bytes == 500 * MIB and samples.readings[0].temperature_c == 44.0
    assert begin < samples.times[0] < samples.times[-1] < end
    assert samples.before == samples.after and samples.after is not None
    assert (samples.after.own_bytes, samples.after.others, samples.after.contended) == (64 * MIB, 1, True)


def test_a_peak_between_the_first_and_the_last_look(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    fake_libraries.nvml(
        tmp_path,
        HELPERS="static int looks;",
        USED=f'(looks++ == 3 ? (close(creat("{seen}", 0600)), 900) : 600)',
    )
    sampler = Sampler(("nvml", ADDRESS, str(tmp_path)), 0.01)
    wait_for(seen)
    samples = sampler.stop()
    used = [one.used_bytes for one in samples.readings]
    assert samples.peak_bytes == used[3] == 900 and len(used) >= 5 and used.count(900) == 1


def test_the_process_is_light() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from dcu_asv_ext.devices.cards import watching, sysfs, nvml, rsmi, command; "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(Path(sampling.__file__).parents[3])],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG,
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "ctypes" in loaded and not loaded & {"torch", "numpy", "scipy", "asv", "asv_runner"}
    assert "dcu_asv_ext.devices.facts" not in done.stdout


def test_no_source(tmp_path: Path) -> None:
    samples = Sampler(sysfs(tmp_path)).stop()
    assert not samples.readings and samples.reason == f"no PCI device {ADDRESS} in sysfs"


def test_a_process_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    samples = Sampler(sysfs(tmp_path)).stop()
    assert not samples.readings and "could not be started" in samples.reason
    assert Sampler(sysfs(tmp_path)).pid is None


def test_an_interpreter_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert Sampler(sysfs(tmp_path)).stop().reason.endswith("ended with exit code 0")


def test_a_library_that_crashes(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, START=fake_libraries.CRASH)
    samples = Sampler(("search", "cuda", ADDRESS, str(tmp_path))).stop()
    assert not samples.readings
    assert samples.reason == "the process that looks at the card was ended by SIGSEGV while it asked NVML"


def test_a_library_that_prints(tmp_path: Path) -> None:
    fake_libraries.nvml(tmp_path, USED='(write(1, "NVML says hello", 15), 600)')
    samples = Sampler(("nvml", ADDRESS, str(tmp_path))).stop()
    assert samples.source == "NVML" and samples.readings[0].used_bytes == 600


def test_a_library_that_hangs(tmp_path: Path) -> None:
    fake_libraries.rsmi(tmp_path, START=fake_libraries.HANG)
    samples = Sampler(("search", "dcu", ADDRESS, str(tmp_path)), grace=SHORT).stop()
    assert not samples.readings and samples.reason == "the ROCm SMI library did not end in time"


def test_readings_before_a_hang_are_kept(tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    # Two clocks a look: the second look hangs.
    fake_libraries.nvml(
        tmp_path,
        HELPERS=f'static int calls; static int hang(void) {{ close(creat("{hangs}", 0600)); for (;;) pause(); }}',
        REFUSED="(calls++ < 2 ? 0 : hang())",
    )
    sampler = Sampler(("nvml", ADDRESS, str(tmp_path)), 0.01, grace=SHORT)
    wait_for(hangs)
    samples = sampler.stop()
    assert samples.reason == "NVML did not end in time"
    assert [one.core_clock_mhz for one in samples.readings] == [1980.0]


def test_a_tool_that_hangs_is_ended_with_its_look(tmp_path: Path) -> None:
    folder = tool(tmp_path)
    script = folder / "hy-smi"
    script.write_text(f"#!/bin/sh\necho $$ > {folder}/new && mv {folder}/new {folder}/pid\nexec sleep 1000\n")
    sampler = Sampler(("command", ADDRESS, str(tmp_path)), grace=SHORT)
    wait_for(folder / "pid")
    hanging = os.pidfd_open(int((folder / "pid").read_text()))
    samples = sampler.stop()
    assert not samples.readings and samples.reason == "the management tool did not end in time"
    assert ended(hanging)


def test_a_process_that_answers_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = tmp_path / "python"
    stubborn.write_text('#!/bin/sh\necho \'{"doing": "NVML"}\'\nexec sleep 1000\n')
    stubborn.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stubborn))
    monkeypatch.setattr(sampling, "_HANDING", SHORT)
    sampler = Sampler(sysfs(tmp_path), grace=SHORT)
    assert sampler.pid is not None
    left = os.pidfd_open(sampler.pid)
    reason = sampler.stop().reason
    assert reason.startswith("the process that looks at the card did not answer") and ended(left)


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process that samples and does not end by itself, with a worker that it forked, and its sampler's pidfd."""
    card(tmp_path)
    script = f"""
        import os, signal, sys
        sys.path.insert(0, {str(Path(sampling.__file__).parents[3])!r})
        from dcu_asv_ext.devices.cards.sampler import Sampler
        sampler = Sampler({sysfs(tmp_path)!r}, 0.01)
        if len(sys.argv) > 1 and os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        print(sampler.pid, flush=True)
        signal.pause()
    """
    worker = ["worker"]
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *worker],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as started:
        assert started.stdout is not None and started.stdin is not None
        descriptor = os.pidfd_open(int(started.stdout.readline()))
        yield started, descriptor
        started.kill()
        started.stdin.close()


def test_it_ends_with_its_parent_even_where_a_worker_holds_the_pipe(
    parent: tuple[subprocess.Popen[bytes], int],
) -> None:
    started, descriptor = parent
    assert not select.select([descriptor], [], [], 0)[0]
    started.kill()
    assert ended(descriptor)


def test_it_ends_when_the_pipe_closes(tmp_path: Path) -> None:
    card(tmp_path)
    sampler = Sampler(sysfs(tmp_path), 1000.0)
    running = sampler._process
    assert running is not None and running.stdin is not None and running.stdout is not None
    running.stdin.close()
    out = running.stdout.read()
    assert running.wait(LONG) == 0
    running.stdout.close()
    assert json.loads(out.splitlines()[-1])["samples"]["source"] == "sysfs"


class Scripted:
    """Gives its values in order, and the last one ever after."""

    name = "scripted"
    interval = 0.0
    arguments: tuple[str, ...] = ()

    def __init__(self, *values: int) -> None:
        self.values = list(values)
        self.seen = sampling.threading.Event()

    def read(self) -> Reading:
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if len(self.values) == 1:
            self.seen.set()
        if value < 0:
            raise RuntimeError("no card")
        return Reading(used_bytes=value)


def test_a_thread_where_only_this_process_can_look() -> None:
    source = Scripted(1, 9, 3)
    sampler = ThreadSampler(source, 0.0)
    assert source.seen.wait(LONG)
    samples = sampler.stop()
    assert (samples.source, samples.peak_bytes, samples.reason) == ("scripted", 9, "")
    assert samples.taken >= 2 and samples.times == sorted(samples.times)


def test_a_thread_whose_source_fails_keeps_what_it_has() -> None:
    source = Scripted(4, -1)
    sampler = ThreadSampler(source, 0.0)
    sampler._thread.join(LONG)
    samples = sampler.stop()
    assert samples.peak_bytes == 4 and samples.reason == "scripted failed: RuntimeError: no card"


def test_what_torch_tells_of_the_card() -> None:
    told = [(10, 64)]
    source = MemGetInfo(lambda: told[-1])
    assert source.read() == Reading(used_bytes=54, total_bytes=64) and source.arguments == ()
    told.append((65, 64))
    assert source.read() == Reading()

    def gone() -> tuple[int, int]:
        raise NotMeasured("the device is lost")

    source._ask = gone
    assert source.read() == Reading()
    with pytest.raises(NotMeasured, match="lost"):
        MemGetInfo(gone)
    with pytest.raises(NotMeasured, match="0 of 0 bytes are free"):
        MemGetInfo(lambda: (0, 0))
