"""Calls per sample: chosen once, kept, and found again from the evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.batches import INDEX, BatchIndex
from dcu_asv_ext.measure.sampling import choose_batch

from .fakes import FAMILY, record

PARAMS = {"n": "64", "dtype": "'float32'"}
EIGHT = {"cold": 1, "latency": 8}
FOUR = {"cold": 1, "latency": 4}


def chosen(
    index: BatchIndex, kind: str = "cpu", params: dict[str, str] = PARAMS, version: str = "1"
) -> dict[str, int]:
    return index.get(FAMILY, params, kind, version)


def test_another_version_is_another_series_and_chooses_anew(tmp_path: Path) -> None:
    index = BatchIndex(tmp_path)
    index.learn(record(batch=EIGHT))
    assert chosen(index, version="2") == {}


def evidence(folder: Path, *records: dict[str, Any], name: str = "a") -> Path:
    path = folder / f"{name}.evidence.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_the_first_measurement_chooses_and_later_ones_change_nothing(tmp_path: Path) -> None:
    index = BatchIndex(tmp_path)
    assert chosen(index) == {}
    index.learn(record(batch=EIGHT))
    index.learn(record(batch=FOUR))
    assert chosen(index) == EIGHT
    assert chosen(BatchIndex(tmp_path)) == EIGHT, "another run reads the same"


def test_a_choice_is_a_power_of_two() -> None:
    for seconds in (1e-7, 3e-6, 2e-5, 1e-3, 0.2):
        batch = choose_batch(seconds, 1e-6)
        assert batch & (batch - 1) == 0, batch
    assert choose_batch(0.2, 1e-6) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "wrong result: 1 of 4 elements"},
        {"protocol": 99},
        {"batch": {"cold": 1}},
        {"times": {"cold": [0.5], "latency": [0.25]}},
    ],
    ids=["failed", "another protocol", "no latency pass", "one sample of --quick"],
)
def test_measurements_that_choose_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    index = BatchIndex(tmp_path)
    index.learn(record(**changes))
    assert chosen(index) == {}
    assert not (tmp_path / INDEX).exists()
    evidence(tmp_path, record(**changes))
    assert chosen(BatchIndex(tmp_path)) == {}


def test_parameters_and_device_kind_are_part_of_the_key(tmp_path: Path) -> None:
    index = BatchIndex(tmp_path)
    index.learn(record(batch=EIGHT))
    index.learn(record(batch=FOUR, device={"kind": "dcu"}))
    assert chosen(index) == EIGHT
    assert chosen(index, "dcu") == FOUR
    assert chosen(index, "sim") == {}
    assert chosen(index, params={"n": "256", "dtype": "'float32'"}) == {}


def test_a_choice_is_found_by_whatever_the_device_is_called_before_torch_is_loaded(tmp_path: Path) -> None:
    index = BatchIndex(tmp_path)
    index.learn(record(batch=FOUR, device={"kind": "dcu"}))
    assert chosen(index, "cuda") == chosen(index, "hip") == FOUR


def test_a_deleted_index_is_rebuilt_from_the_evidence(tmp_path: Path) -> None:
    early, late = "2026-01-01T10:00:00+00:00", "2026-01-02T10:00:00+00:00"
    first = evidence(
        tmp_path, record(batch=EIGHT, started_at=early), record(batch=FOUR, started_at=late), name="b"
    )
    evidence(tmp_path, record(batch=FOUR, started_at=late), name="a")
    assert chosen(BatchIndex(tmp_path)) == EIGHT
    assert (tmp_path / INDEX).exists()
    first.unlink()
    assert chosen(BatchIndex(tmp_path)) == EIGHT, "now from the index"


def test_a_torn_line_is_read_again_from_the_evidence(tmp_path: Path) -> None:
    evidence(tmp_path, record(batch=EIGHT))
    index = BatchIndex(tmp_path)
    index.learn(record(batch=FOUR, benchmark="suite.other"))
    path = tmp_path / INDEX
    whole = path.read_text().splitlines(keepends=True)
    assert len(whole) == 2
    path.write_text("[[1], {}]\n" + whole[1] + whole[0][:20])
    again = BatchIndex(tmp_path)
    assert chosen(again) == EIGHT
    assert again.get("suite.other", PARAMS, "cpu", "1") == FOUR
    assert [json.loads(line) for line in path.read_text().splitlines()], "and the index is whole again"
