from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.memory_model import (
    ALLOCATED,
    CARD,
    EVENTS,
    OUTSIDE,
    PROCESS,
    REQUESTED,
    RESERVED,
    Figure,
    memory_of,
)
from tests.comparing import memories
from tests.comparing.measured import failed
from tests.comparing.memories import CARD as WHOLE
from tests.comparing.memories import FIRST, MIB, STEADY, leak, one, quiet, told


def test_every_figure_in_its_place() -> None:
    found = one()
    steady, first = found.steady, found.first
    allocated = steady.level(ALLOCATED)
    assert (allocated.added, allocated.kept, allocated.temporary) == (64 * MIB, 0, 64 * MIB)
    assert steady.beyond(ALLOCATED, REQUESTED) == MIB and steady.beyond(RESERVED, ALLOCATED) == 320 * MIB
    assert first.level(RESERVED).kept == 382 * MIB and first.level(CARD).kept == 682 * MIB
    assert first.level(PROCESS).peak == Figure(900 * MIB, 900 * MIB, 900 * MIB)
    assert not steady.level(PROCESS).told
    assert found.outside is not None and found.outside.value == 870 * MIB
    assert found.card is not None and (found.card.readings, found.card.others) == (37, 0)
    assert (found.rounds, found.status, found.device, found.measured) == (1, "ok", "K100_AI", True)


def test_rounds_are_one_median_and_the_range_that_they_lie_in() -> None:
    peaks = (190, 192, 200)
    found, *none = memory_of(
        [told(n, STEADY | {"peak_allocated": peak * MIB}) for n, peak in enumerate(peaks, 1)]
    )
    peak = found.steady.level(ALLOCATED).peak
    assert not none and found.rounds == 3
    assert peak == Figure(192 * MIB, 190 * MIB, 200 * MIB) and peak.differs
    before = found.steady.level(ALLOCATED).before
    assert before is not None and not before.differs


def test_the_newest_session_counts_and_a_quick_one_only_alone() -> None:
    small = STEADY | {"peak_allocated": 150 * MIB}
    quick = {"quick": True, "cache": {}}
    old, new = told(1), told(1, small, session="s2")
    hasty = told(1, STEADY, session="s3", switches=quick)
    (found,) = memory_of([old, new, hasty])
    assert found.steady.level(ALLOCATED).peak == Figure(150 * MIB, 150 * MIB, 150 * MIB) and not found.quick
    (alone,) = memory_of([hasty])
    assert alone.quick


def test_the_largest_peak_comes_first_and_parameters_and_variants_are_told_apart() -> None:
    big = STEADY | {"peak_allocated": 900 * MIB}
    found = memory_of(
        [told(1), told(1, big, params={"n": "1"}), told(1, STEADY, variant="fused", params={"n": "1"})]
    )
    sizes = [each.size for each in found]
    assert len(found) == 3 and sizes == sorted(sizes, reverse=True) and found[0].params == {"n": "1"}


def test_a_wrong_result_keeps_its_memory_and_an_error_has_none() -> None:
    wrong = one(status="wrong result: 3 of 4 elements")
    assert wrong.measured and wrong.status.startswith("wrong result")
    (lost,) = memory_of([failed(1, memory={})])
    assert not lost.measured and lost.status.startswith("out of memory")
    (partly,) = memory_of([told(1), failed(2, memory={})])
    assert partly.measured and partly.rounds == 1 and partly.status.startswith("out of memory")


def test_old_evidence_shows_what_it_has() -> None:
    names = ("baseline_allocated", "peak_allocated", "after_allocated", "baseline_reserved", "peak_reserved")
    found = one({name: STEADY[name] for name in names} | {"method": "counters"})
    assert set(found.steady.levels) == {ALLOCATED, RESERVED} and not found.first.levels
    assert found.steady.level(RESERVED).after is None and found.steady.level(RESERVED).kept is None
    assert (found.card, found.alive, found.growth, found.emptied, found.outside) == (None,) * 5


def test_of_the_growth_of_several_rounds_the_middle_one_counts() -> None:
    found, *_ = memory_of(
        [told(n, STEADY | {"growth": leak(s)}) for n, s in ((1, 900.0), (2, 1024.0), (3, 9e9))]
    )
    assert found.growth is not None and found.growth.slope == 1024.0 and found.leaks
    even, *_ = memory_of([told(1, STEADY | {"growth": leak(5.0)}), told(2, STEADY | {"growth": quiet(0.0)})])
    assert even.leaks


def test_the_first_call_s_card_has_what_was_sampled_as_its_peak() -> None:
    sampled = {"passes": {"cold": {"used_bytes": 2000 * MIB, "readings": 3}}}
    peak = one(sampled=sampled).first.level(CARD).peak
    assert peak is not None and peak.value == 2000 * MIB
    low = one(sampled={"passes": {"cold": {"used_bytes": 5, "readings": 1}}}).first.level(CARD).peak
    assert low is not None and low.value == 1382 * MIB
    assert one().first.level(CARD).peak is None


def test_reasons_go_with_the_group_that_they_stand_for() -> None:
    missing = {
        "allocator": "no counters",
        "peak_card": "no card",
        "outside_allocator": "others",
        "ooms": "old torch",
    }
    found = one({"method": "", "missing": missing})
    assert found.steady.missing == {
        REQUESTED: "no counters",
        ALLOCATED: "no counters",
        RESERVED: "no counters",
        CARD: "no card",
        OUTSIDE: "others",
        EVENTS: "old torch",
    }


@pytest.mark.parametrize("odd", [None, 3, "text", [], {"bytes": "many"}, {"slope": True}, {"source": None}])
def test_groups_of_another_shape_are_not_told(odd: Any) -> None:
    memory = (
        STEADY
        | dict.fromkeys(("alive", "growth", "card", "empty_cache"), odd)
        | {"outside_allocator": "much"}
    )
    found = one(memory)
    assert (found.alive, found.growth, found.emptied, found.outside) == (None,) * 4 and found.measured


def test_what_the_card_is_shared_with() -> None:
    card = WHOLE | {"own": 500 * MIB, "others": {"count": 2, "mib": 3072}, "contended": True}
    found = one(STEADY | {"card": card}).card
    assert found is not None and found.contended
    assert (found.own, found.others, found.others_bytes) == (500 * MIB, 2, 3 * memories.GIB)
    assert FIRST["card"].keys() == {"before", "after", "source"}
