"""The append-only store: torn and foreign lines, full disks, atomic replacement, size and speed."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.evidence import store
from dcu_asv_ext.evidence.store import append_line, evidence_path, parse_line, read, replace_text, rewrite

from .records import measurement


def line(number: int = 0) -> str:
    return measurement(order=number).to_line()


def orders(path: Path) -> list[int]:
    return [record["order"] for record in read(path).records]


def test_the_evidence_lies_beside_asv_s_result_file() -> None:
    found = evidence_path("/results/box/0123abcd-virtualenv-py3.11.json")
    assert found == Path("/results/box/0123abcd-virtualenv-py3.11.evidence.jsonl")
    assert evidence_path("x/0123abcd-env").name == "0123abcd-env.evidence.jsonl"


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "x.evidence.jsonl"
    assert read(path).records == []
    for number in range(3):
        append_line(path, line(number))
    found = read(path)
    assert orders(path) == [0, 1, 2] and found.skipped == 0
    assert found.records[0] == json.loads(line(0))


def test_a_line_after_a_torn_one_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "x"
    append_line(path, line(0))
    with open(path, "a") as stream:
        stream.write(line(1)[:100])
    append_line(path, line(2))
    append_line(path, line(3))
    assert orders(path) == [0, 2, 3]
    assert read(path).skipped == 1


FOREIGN = [
    "{",
    "not json",
    "[1, 2]",
    '"text"',
    "null",
    "3",
    '{"benchmark": "a.b"}',
    "\x00\x00\x00",
    "[" * 100_000,
    line(5)[:-20],
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda text: text[:12])
def test_a_foreign_line_is_skipped_and_counted(tmp_path: Path, foreign: str) -> None:
    path = tmp_path / "x"
    path.write_text(line(0) + foreign + "\n" + line(1) + "\n\n")
    assert orders(path) == [0, 1]
    assert read(path).skipped == 1
    assert parse_line(foreign) is None


def test_a_line_that_lacks_a_required_field_is_foreign() -> None:
    record = json.loads(line())
    for name in store.REQUIRED:
        assert parse_line(json.dumps({key: value for key, value in record.items() if key != name})) is None
    assert parse_line(json.dumps(record | {"later": 1})) == record | {"later": 1}


def test_bytes_that_are_no_text_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe\x80 torn\n" + line(0).encode())
    assert orders(path) == [0] and read(path).skipped == 1


def failing_write(written: int) -> Any:
    """An os.write that puts only some bytes on the disk, as a full one does."""
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if written == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data[:written])

    return write


@pytest.mark.parametrize("written", [0, 1, 100])
@pytest.mark.parametrize("torn", [False, True])
def test_a_full_disk_raises_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, torn: bool
) -> None:
    path = tmp_path / "x"
    append_line(path, line(0))
    if torn:
        path.write_text(path.read_text() + "{torn")
    before = path.read_bytes()
    monkeypatch.setattr(store.os, "write", failing_write(written))
    with pytest.raises(OSError):
        append_line(path, line(1))
    monkeypatch.undo()
    assert path.read_bytes() == before
    append_line(path, line(2))
    assert orders(path) == [0, 2]


def test_a_failing_fsync_raises_and_takes_the_line_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    append_line(path, line(0))

    def fails(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(store.os, "fsync", fails)
    with pytest.raises(OSError, match="Input/output"):
        append_line(path, line(1))
    assert orders(path) == [0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_really_full_device() -> None:
    with pytest.raises(OSError) as caught:
        append_line("/dev/full", line())
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        if os.access(folder, os.W_OK):  # root may write everywhere
            real = os.open

            def refuse(path: Any, *rest: Any) -> int:
                if str(path).startswith(str(folder)):
                    raise PermissionError(errno.EACCES, "Permission denied", str(path))
                return real(path, *rest)

            monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(OSError):
            append_line(folder / "x", line())
        with pytest.raises(OSError):
            replace_text(folder / "x", "text")
        assert list(folder.iterdir()) == []
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        append_line(tmp_path / "no" / "x", line())


def test_replace_text_writes_whole_and_makes_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x"
    replace_text(path, "first")
    replace_text(path, "second")
    assert path.read_text() == "second"
    assert [one.name for one in path.parent.iterdir()] == ["x"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("where", ["write", "fsync", "replace", "chmod", "interrupt"])
def test_replace_text_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fails(*_: Any) -> None:
        if where == "interrupt":
            raise KeyboardInterrupt
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        text = "new \ud800"  # cannot be encoded: fails in the middle of the write
    else:
        text = "new"
        monkeypatch.setattr(store.os, "fsync" if where == "interrupt" else where, fails)
    with pytest.raises((OSError, KeyboardInterrupt, UnicodeError)):
        replace_text(path, text)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_rewrite_keeps_records_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for number in range(4):
        append_line(path, line(number))
    kept = [record for record in read(path).records if record["order"] % 2]
    rewrite(path, kept)
    assert read(path).records == kept
    assert path.read_text() == line(1) + line(3)
    rewrite(path, [])
    assert not path.exists()
    rewrite(path, [])


def test_a_thousand_measurements_of_two_hundred_samples_are_small_and_quick_to_read(tmp_path: Path) -> None:
    import random

    generator = random.Random(1)

    def samples(middle: float) -> list[float | None]:
        return [middle * generator.uniform(0.9, 1.3) for _ in range(200)]

    # As a real measurement: 200 samples in both default timed passes together, and the facts around them.
    facts = {
        "device": {
            "kind": "dcu",
            "name": "cuda:0",
            "product": "a card",
            "driver": "6.2.41",
            "total_memory": 1 << 36,
        },
        "software": {"packages": {f"package{number}": "1.2.3" for number in range(8)}, "environment": {}},
        "switches": {f"switch{number}": False for number in range(14)},
        "boundary": {
            "outside": ["setup"],
            "inside": "everything",
            "inputs_on": ["cuda:0"],
            "outputs_on": ["cuda:0"],
        },
    }
    path = tmp_path / "x"
    with open(path, "w") as stream:
        for number in range(1000):
            times = {"cold": [0.5], "warm_up": samples(1e-3)[:30], "latency": samples(1e-3)}
            stream.write(measurement(order=number, times=times, **facts).to_line())
    assert path.stat().st_size <= 10e6
    elapsed = []
    for _ in range(3):
        begin = time.perf_counter()
        found = read(path)
        elapsed.append(time.perf_counter() - begin)
        assert len(found.records) == 1000 and found.skipped == 0
    assert min(elapsed) <= 1.0
