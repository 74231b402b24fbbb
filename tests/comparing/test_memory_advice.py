from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.memory_advice import (
    ALIVE,
    BUFFERS,
    CACHE,
    EMPTY_CACHE,
    HOW,
    LIFETIMES,
    RETRIES,
    WORKSPACES,
    advice,
    outside_by_first_call,
)
from tests.comparing import memories
from tests.comparing.memories import CARD, FIRST, LINE, MIB, STEADY, one


def kinds(**changes: Any) -> list[str]:
    return [each.kind for each in advice(one(STEADY | changes))]


def text(kind: str, **changes: Any) -> str:
    (found,) = [each.text for each in advice(one(STEADY | changes)) if each.kind == kind]
    return found


def test_everything_in_its_order() -> None:
    changes = {
        "first": FIRST | {"retries": 2},
        "card": CARD,
        "alive": memories.ALIVE,
        "empty_cache": {"calls": 2, "seconds": 0.012},
    }
    holders = [memories.ALIVE["holders"][0] | {"count": 4}]
    changes["alive"] = memories.ALIVE | {"holders": holders}
    found = kinds(**changes)
    assert found == [ALIVE, LIFETIMES, BUFFERS, WORKSPACES, CACHE, EMPTY_CACHE, RETRIES]
    assert set(found) == set(HOW)


def test_nothing_where_no_number_calls_for_it() -> None:
    tight = {"baseline_reserved": 194 * MIB, "peak_reserved": 194 * MIB, "after_reserved": 194 * MIB}
    level = {"baseline_allocated": 192 * MIB, "after_allocated": 192 * MIB}
    assert kinds(**tight, **level) == []


def test_who_is_alive_is_named_with_its_line() -> None:
    assert text(ALIVE, alive=memories.ALIVE) == f"begin with {LINE} (48 MiB)"


def test_a_peak_that_is_the_inputs_is_told_as_that() -> None:
    alive = memories.ALIVE | {"before_call": 190 * MIB, "holders": []}
    assert text(ALIVE, alive=alive) == "99 % of it is there before the call (inputs, weights, setup)"


def test_of_a_leak_what_earlier_calls_kept_is_told_too() -> None:
    alive = memories.ALIVE | {"before_call": 190 * MIB, "holders": []}
    told = text(ALIVE, alive=alive, growth=memories.leak(1024.0))
    assert told == "99 % of it is there before the call (inputs, weights, setup, and what earlier calls kept)"


@pytest.mark.parametrize(("after", "called"), [(128, True), (143, True), (145, False), (192, False)])
def test_lifetimes_where_a_quarter_of_the_peak_is_gone_at_the_end(after: int, called: bool) -> None:
    changes = {"after_allocated": after * MIB}
    assert (LIFETIMES in kinds(**changes)) == called
    if called:
        assert f"{192 - after:.3g}" in text(LIFETIMES, **changes)


def test_what_the_call_frees_of_older_memory_is_no_temporary() -> None:
    assert LIFETIMES not in kinds(baseline_allocated=190 * MIB, after_allocated=0)


@pytest.mark.parametrize(("count", "called"), [(3, False), (4, True)])
def test_many_blocks_of_one_line_are_a_fixed_buffer(count: int, called: bool) -> None:
    alive = memories.ALIVE | {"holders": [memories.ALIVE["holders"][0] | {"count": count}]}
    assert (BUFFERS in kinds(alive=alive)) == called
    if called:
        assert text(BUFFERS, alive=alive) == f"4 blocks of 12 MiB of {LINE} are alive at once"


def test_what_the_first_call_puts_beside_the_allocator() -> None:
    changes = {"first": FIRST, "card": CARD}
    assert outside_by_first_call(one(STEADY | changes)) == 300 * MIB
    assert "300 MiB on the card outside the allocator" in text(WORKSPACES, **changes)
    assert WORKSPACES not in kinds(**changes | {"card": CARD | {"contended": True}})
    assert WORKSPACES not in kinds(first={name: FIRST[name] for name in FIRST if name != "card"}, card=CARD)


def test_what_every_call_takes_beside_the_allocator() -> None:
    card = CARD | {"peak": 1582 * MIB}
    assert "a steady call takes 200 MiB on the card outside the allocator" in text(WORKSPACES, card=card)


def test_reserved_above_allocated_is_cache_and_no_leak() -> None:
    told = text(CACHE, first=FIRST)
    assert told.startswith("320 MiB (62 %) of what is reserved lies beyond the tensors' peak")
    assert "the first call made it grow, with a peak of 448 MiB" in told
    assert "no leak" in HOW[CACHE]
    assert CACHE not in kinds(peak_reserved=222 * MIB)


def test_empty_cache_is_told_with_what_it_cost() -> None:
    told = text(EMPTY_CACHE, empty_cache={"calls": 1, "seconds": 0.0123})
    assert told == "1 call inside the function cost 12.3 ms of every call"
    assert EMPTY_CACHE not in kinds(empty_cache={"calls": 0, "seconds": 0.0})


def test_growing_reserved_is_never_called_a_leak() -> None:
    found = one(STEADY | {"growth": memories.quiet(4096.0)})
    assert not found.leaks and not any("leak" in each.text for each in advice(found))
