"""A session is taken up again only where it was interrupted, asked for in the same way, and readable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.locks import Held
from dcu_asv_ext.asv_plugin.session import Session, begin
from dcu_asv_ext.evidence.store import append_line

from .fakes import FAMILY, record

pytestmark = pytest.mark.usefixtures("own_locks")


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    path = tmp_path / "results" / "12345678-env.evidence.jsonl"
    path.parent.mkdir()
    return path


def start(evidence: Path | None, **attributes: Any) -> Session:
    return begin(evidence, "1234567890ab", "env", "box", attributes)


def killed(session: Session) -> None:
    """What the kernel does for a process that dies."""
    assert session.lock is not None
    session.lock.release()


def keep(session: Session, **changes: Any) -> None:
    assert session.evidence is not None
    append_line(session.evidence, json.dumps(record(session=session.identity, **changes)) + "\n")


def test_what_an_interrupted_session_measured_is_taken_up(evidence: Path) -> None:
    first = start(evidence, rounds=2)
    keep(first, round=1, order=1)
    keep(first, round=2, order=2)
    keep(first, round=1, order=3, param_index=1)
    killed(first)
    second = start(evidence, rounds=2)
    assert second.identity == first.identity
    assert second.started_at == first.started_at
    assert set(second.resumed) == {(FAMILY, 0, 1), (FAMILY, 0, 2), (FAMILY, 1, 1)}
    assert second.next_order() == 4


def test_a_finished_session_is_not(evidence: Path) -> None:
    first = start(evidence)
    keep(first)
    assert first.marker is not None
    assert first.marker.exists()
    first.finish()
    assert not first.marker.exists()
    killed(first)
    second = start(evidence)
    assert second.identity != first.identity
    assert not second.resumed


def test_failed_measurements_are_measured_again(evidence: Path) -> None:
    first = start(evidence)
    for index, status in enumerate(("ok", "skipped by setup", "wrong result: all of it")):
        keep(first, status=status, param_index=index)
    for index, status in enumerate(
        ("crashed: SIGSEGV", "timed out after 5 s", "failed in setup: x", "out of memory")
    ):
        keep(first, status=status, param_index=index + 10)
    killed(first)
    assert {index for _, index, _ in start(evidence).resumed} == {0, 1, 2}


@pytest.mark.parametrize("attributes", [{"rounds": 3}, {"quick": True}, {"rounds": 2, "timeout": 5.0}, {}])
def test_another_way_of_asking_is_another_session(evidence: Path, attributes: dict[str, Any]) -> None:
    first = start(evidence, rounds=2)
    keep(first)
    killed(first)
    second = start(evidence, **attributes)
    assert second.identity != first.identity
    assert not second.resumed


def test_asvs_own_tuple_of_repeats_is_the_same_when_it_comes_back(evidence: Path) -> None:
    first = start(evidence, repeat=(1, 5, 0.1))
    keep(first)
    killed(first)
    assert start(evidence, repeat=(1, 5, 0.1)).resumed


@pytest.mark.parametrize(
    "text", ['{"session": "abc', "[]", '{"session": 1, "started_at": "", "attributes": {}}', "", "\x00\xff"]
)
def test_a_torn_or_foreign_marker_resumes_nothing(evidence: Path, text: str) -> None:
    first = start(evidence)
    keep(first)
    killed(first)
    assert first.marker is not None
    first.marker.write_bytes(text.encode("latin-1"))
    second = start(evidence)
    assert not second.resumed
    assert json.loads(first.marker.read_text())["session"] == second.identity


def test_torn_evidence_is_skipped_and_the_rest_taken_up(evidence: Path) -> None:
    first = start(evidence)
    keep(first)
    with open(evidence, "a") as stream:
        stream.write('{"benchmark": "suite.st')
    killed(first)
    assert set(start(evidence).resumed) == {(FAMILY, 0, 1)}


def test_records_of_other_sessions_are_not_taken_up(evidence: Path) -> None:
    old = start(evidence)
    keep(old, round=2)
    old.finish()
    killed(old)
    first = start(evidence)
    keep(first, round=1)
    killed(first)
    assert set(start(evidence).resumed) == {(FAMILY, 0, 1)}


def test_a_second_run_on_one_result_file_is_refused(evidence: Path) -> None:
    first = start(evidence)
    with pytest.raises(Held, match=r"process \d+"):
        start(evidence)
    killed(first)
    start(evidence)


def test_a_dry_run_leaves_nothing_and_locks_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        session = start(None)
        assert session.marker is None
        session.restart()
        session.finish()
    assert not list(tmp_path.rglob("*.session"))


def test_rounds_are_counted_for_each_metric_and_parameters(evidence: Path) -> None:
    session = start(evidence)
    asked = [session.next_round(FAMILY, index, metric) for metric in ("a", "b") for index in (0, 1, 0)]
    assert asked == [1, 1, 2, 1, 1, 2]


def test_starting_over_is_a_new_session_with_its_own_round_1(evidence: Path) -> None:
    session = start(evidence)
    session.next_round(FAMILY, 0, "latency")
    keep(session)
    before = session.identity
    session.restart()
    assert session.identity != before
    assert session.next_round(FAMILY, 0, "latency") == 1
    killed(session)
    again = start(evidence)
    assert again.identity == session.identity
    assert not again.resumed, "the earlier measurement belongs to the earlier session"
