"""Evidence in its packed form: read wherever the plain one is, whole at every moment, the same bytes each time."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dcu_asv_ext.evidence import store
from dcu_asv_ext.evidence.packing import packed_path

from .records import measurement


def line(number: int) -> str:
    return measurement(order=number).to_line()


def orders(path: Path) -> list[int]:
    return [record["order"] for record in store.read(path).records]


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    path = tmp_path / "0123abcd-env.evidence.jsonl"
    for number in range(3):
        store.append_line(path, line(number))
    return path


def test_a_packed_file_is_read_by_its_one_name(evidence: Path) -> None:
    plain = evidence.read_bytes()
    store.pack(evidence)
    assert not evidence.exists() and store.is_there(evidence)
    assert gzip.decompress(packed_path(evidence).read_bytes()) == plain
    assert orders(evidence) == [0, 1, 2]
    assert store.list_evidence(evidence.parent) == [evidence]


def test_packing_the_same_lines_gives_the_same_bytes(evidence: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.evidence.jsonl"
    other.write_bytes(evidence.read_bytes())
    store.pack(evidence)
    store.pack(other)
    assert packed_path(evidence).read_bytes() == packed_path(other).read_bytes()
    before = packed_path(evidence).read_bytes()
    store.pack(evidence)
    assert packed_path(evidence).read_bytes() == before


def test_a_new_measurement_unpacks(evidence: Path) -> None:
    store.pack(evidence)
    store.append_line(evidence, line(3))
    assert orders(evidence) == [0, 1, 2, 3]
    assert not packed_path(evidence).exists()


def test_what_an_interruption_leaves_is_read_once(evidence: Path) -> None:
    """Both forms lie there between writing one and removing the other."""
    plain = evidence.read_bytes()
    store.pack(evidence)
    evidence.write_bytes(plain + line(3).encode())
    assert orders(evidence) == [0, 1, 2, 3]
    store.pack(evidence)
    assert orders(evidence) == [0, 1, 2, 3] and not evidence.exists()


def test_what_was_taken_out_does_not_come_back(evidence: Path) -> None:
    store.pack(evidence)
    store.rewrite(evidence, store.read(evidence).records[:1])
    assert orders(evidence) == [0]
    store.pack(evidence)
    store.rewrite(evidence, [])
    assert not store.is_there(evidence) and store.read(evidence).records == []


def test_a_damaged_file_is_an_error_and_not_half_the_measurements(evidence: Path) -> None:
    store.pack(evidence)
    packed = packed_path(evidence)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(OSError, match=r"is damaged .*; take it from a copy"):
        store.read(evidence)
    packed.write_bytes(b"no gzip at all")
    with pytest.raises(OSError, match="is damaged"):
        store.read(evidence)
    with pytest.raises(OSError, match="is damaged"):
        store.append_line(evidence, line(3))
    assert packed.read_bytes() == b"no gzip at all" and not evidence.exists()


def test_a_file_that_cannot_be_packed_stays(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.packing, "replace_bytes", full)
    with pytest.raises(OSError, match="No space"):
        store.pack(evidence)
    assert orders(evidence) == [0, 1, 2]
