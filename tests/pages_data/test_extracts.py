"""An extract holds the figures that a history is made of, and comes back from the cache as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.comparing.history import value_of
from dcu_asv_ext.comparing.model import FAILED, MISSING, OK, Key, ResultSet, Round, Series, Side
from dcu_asv_ext.comparing.reading import Entries, Recorded, read_results
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.extracts import Extracts
from dcu_asv_ext.pages.model import Extract
from tests.comparing.measured import record

LATENCY, PEAK = Key("suite.matmul", "latency", ("256",)), Key("suite.matmul", "peak_allocated", ("256",))
OTHER = Key("plain.time_it", "time")


def rounds(*samples: Sequence[float]) -> tuple[Round, ...]:
    return tuple(Round(tuple(one), number) for number, one in enumerate(samples, 1))


def results(**changes: Any) -> ResultSet:
    sides = {
        LATENCY: Side(rounds([3.0, 1.0, 2.0], [4.0], [2.5, 3.5]), value=2.75, version="1", protocol=6),
        PEAK: Side(rounds([512.0], [512.0]), value=512.0, version="1", protocol=6),
        OTHER: Side(state=FAILED, reason="it raised <ValueError>", version="abc"),
    }
    series = {key: Series(f"{key.benchmark}.{key.metric}", ("n",) * len(key.params)) for key in sides}
    given = {"sides": sides, "series": series, "facts": {"machine.cpu": "EPYC"}, "date": 5, "notes": ["odd"]}
    return ResultSet("box", "c" * 40, "py", **{**given, **changes})


def same(one: Extract, other: Extract) -> bool:
    """NaN is like NaN."""
    told = [(repr(list(each.values)), each.counts, each.medians, each.ends) for each in (one, other)]
    rest = [(each.reasons, each.facts, each.date, each.dirty, each.notes) for each in (one, other)]
    return told[0] == told[1] and rest[0] == rest[1]


def test_the_figures_are_those_of_a_history() -> None:
    given = results()
    made = Extracts(Cache(None)).make(b"1", given)
    assert made.shape.keys == (LATENCY, PEAK, OTHER) == tuple(given.sides)
    assert [made.values[at] for at in (0, 1)] == [value_of(given.sides[key]) for key in (LATENCY, PEAK)]
    assert list(made.rounds(0)) == [2.0, 4.0, 3.0] and made.rounds(1) == 2 and made.rounds(2) == 0
    assert math.isnan(made.values[2]) and made.state(0) == OK and made.state(2) == FAILED
    assert list(made.failed()) == [(OTHER, "it raised <ValueError>")] and not list(made.missing())
    assert made.shape.versions == ("1", "1", "abc") and made.shape.protocols == (6, 6, None)
    assert (made.date, made.dirty, made.notes, made.facts) == (5, False, ("odd",), {"machine.cpu": "EPYC"})


def test_it_comes_back_from_the_cache(tmp_path: Path) -> None:
    first = Extracts(kept := Cache(tmp_path))
    made = first.make(b"1", results())
    kept.close()
    second = Extracts(Cache(tmp_path))
    found = second.find(b"1")
    assert found is not None and same(found, made)
    assert found.shape.keys == made.shape.keys and found.shape.series == made.shape.series
    assert found.shape.index[PEAK] == 1
    assert second.find(b"2") is None


def test_results_of_one_shape_share_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    extracts = Extracts(cache)
    made = extracts.make(b"1", results())
    other = extracts.make(b"2", results(facts={"machine.cpu": "EPYC"}, date=9))
    assert other.shape is made.shape and other.facts is made.facts
    fewer = {key: side for key, side in results().sides.items() if key != OTHER}
    assert extracts.make(b"3", results(sides=fewer)).shape is not made.shape
    cache.flush()
    found = Extracts(cache)
    one, two = found.find(b"1"), found.find(b"2")
    assert one is not None and two is not None and one.shape is two.shape and one.facts is two.facts


def test_what_is_no_finite_number_is_missing() -> None:
    sides = {
        LATENCY: Side(rounds([math.inf]), value=math.inf),
        PEAK: Side(rounds([math.nan], [1e39]), value=1.0, source="samples"),
    }
    made = Extracts(Cache(None)).make(b"1", results(sides=sides))
    assert list(made.missing()) == [(LATENCY, "its value is no finite number")]
    assert made.values[1] == 1.0 and made.rounds(1) == 0


def evidence(**changes: Any) -> ResultSet:
    device = {"kind": "dcu", "product": "K100", "driver": "6.3.8", "simulated": False}
    lines = [{**record(number, device=device, **changes), "params": {"n": "256"}} for number in (1, 2, 3)]
    crashed = {**record(4, device={"kind": "dcu"}, metrics=[], **changes), "params": {"n": "256"}}
    return read_results("box", "c" * 40, "py", entries=Entries(), records=[*lines, crashed], steady=False)


def test_the_set_up_is_kept_once_and_the_facts_are_those_of_the_place(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made = Extracts(cache).make(b"1", evidence())
    cache.flush()
    found = Extracts(cache).find(b"1")
    assert found is not None
    told = {id(one) for one in found.shape.set_ups if one is not None}
    assert len(told) == 1
    for one, other in zip(found.shape.set_ups, made.shape.set_ups, strict=True):
        assert (one and (one.facts, one.digest)) == (other and (other.facts, other.digest))
    assert made.facts["device.product"] == "K100" == found.facts["device.product"]
    assert not {name.partition(".")[0] for name in made.facts} & {"input", "switches", "state", "sampled"}


@pytest.mark.parametrize(("value", "state"), [(None, FAILED), (math.nan, MISSING)])
def test_asv_s_own_word_on_what_has_no_number(value: float | None, state: str) -> None:
    entries = Entries({OTHER: Recorded(value, (), "v")}, {OTHER: Series("plain.time_it")})
    made = Extracts(Cache(None)).make(b"1", read_results("box", "c", "py", entries=entries, steady=False))
    assert made.state(0) == state and made.reasons[0][1]
