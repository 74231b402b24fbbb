"""The allocator and the whole card move in opposite directions: what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing import markdown, text
from dcu_asv_ext.comparing.as_json import as_json
from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.comparing.model import Report, ResultSet
from tests.comparing.measured import read, record

MIB = 2**20
METRICS = ["latency", "peak_allocated", "peak_reserved", "peak_card"]


def line(
    number: int, allocated: int, card: int, params: dict[str, str] | None = None, **changes: Any
) -> dict[str, Any]:
    memory = {
        "peak_allocated": allocated * MIB,
        "peak_reserved": allocated * MIB,
        "peak_card": card * MIB,
        "card": {"source": "sysfs", "interval": 0.01, "readings": 12, "others": {"count": 0}},
        **changes.pop("memory", {}),
    }
    return record(
        number,
        metrics=METRICS,
        versions=dict.fromkeys(METRICS, "v1"),
        memory=memory,
        params={"n": "256"} if params is None else params,
        **changes,
    )


def sides(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[ResultSet, ResultSet]:
    return read(before), read([{**one, "commit": "b" * 40} for one in after])


def compared(before: tuple[int, int], after: tuple[int, int], **changes: Any) -> Report:
    one, other = sides(
        [line(number, *before) for number in range(1, 6)],
        [line(number, *after, **changes) for number in range(1, 6)],
    )
    return report([one], [other])


def notes(made: Report) -> list[str]:
    return [one for one in made.notes if "four things" in one]


def test_all_four_are_told_with_what_is_known() -> None:
    after = {
        "memory": {
            "card": {
                "source": "hy-smi",
                "interval": 1.0,
                "readings": 2,
                "others": {"count": 2, "mib": 512},
            },
            "outside_allocator": 300 * MIB,
            "first": {"peak_reserved": 200 * MIB},
        },
        "spans": {"memory": [3.0, 3.5]},
        "parts": {"extension_build": 3.25, "setup": 1.0, "process_import": 9.0},
        "switches": {"cache": {"was_empty": True, "wrote": True}},
    }
    (note,) = notes(compared((100, 900), (120, 700), **after))
    assert note.startswith(
        "gemm.matmul(n=256): peak_allocated went up (100 MiB to 120 MiB) and the whole card went down "
        "(900 MiB to 700 MiB); four things to check: "
    )
    told = dict(part.partition(": ")[::2] for part in note.partition("check: ")[2].split("; "))
    assert told == {
        "(1) sampling time": "12 readings every 10.0 ms from sysfs before, "
        "2 readings every 1.00 s in a pass of 500 ms from hy-smi after",
        "(2) extension loading": "caches empty in 5 and written in 0 of 5 rounds before, "
        "caches empty in 5 and written in 5 of 5 rounds, extension build 3.25 s after",
        "(3) first library initialisation": "the evidence tells nothing before, 300 MiB outside the allocator, "
        "the first call reserved 200 MiB, a steady one 120 MiB after",
        "(4) other processes": "none before, 2 others with 512 MiB after",
    }


def test_what_is_the_same_on_both_sides_is_told_once() -> None:
    (note,) = notes(compared((120, 700), (100, 900)))
    assert "(1) sampling time: 12 readings every 10.0 ms from sysfs on both sides; " in note
    assert (
        "(3) first library initialisation: the evidence tells nothing; (4) other processes: none on both"
        in note
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [((100, 900), (120, 950)), ((100, 900), (100, 700)), ((100, 900), (120, 899)), ((120, 700), (120, 700))],
    ids=["both up", "the card alone", "hardly", "nothing"],
)
def test_only_where_they_move_apart(before: tuple[int, int], after: tuple[int, int]) -> None:
    assert notes(compared(before, after)) == []


def test_once_a_benchmark_on_the_largest_move() -> None:
    def both(allocated: int, small: int, large: int) -> list[dict[str, Any]]:
        return [
            line(number, allocated, card, {"n": name})
            for number in range(1, 6)
            for name, card in (("256", small), ("512", large))
        ]

    one, other = sides(both(100, 900, 900), both(120, 800, 500))
    (note,) = notes(report([one], [other]))
    assert note.startswith("gemm.matmul(n=512) (and of 1 more set of parameters): ")


@pytest.mark.parametrize(
    "odd", [[], "text", {"readings": "many", "others": [1]}, {"others": {"count": None}}]
)
def test_evidence_of_another_shape_tells_nothing(odd: Any) -> None:
    (note,) = notes(compared((100, 900), (120, 700), memory={"card": odd}, spans={"memory": ["a", None]}))
    assert "12 readings every 10.0 ms from sysfs before, the evidence tells nothing after" in note


def test_text_markdown_and_json_have_it() -> None:
    made = compared((100, 900), (120, 700))
    assert "four things to check" in " ".join(text.render(made).split())
    assert "four things to check" in markdown.render(made)
    assert any("four things to check" in note for note in as_json(made, 0)["notes"])
