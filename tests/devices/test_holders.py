from __future__ import annotations

from dcu_asv_ext.devices.holders import LISTED, NO_LINE, Block, Change, Holder, Holders, grouped, hold

KIB = 1024


def alive(*changes: Change, baseline: int = 0, **options: int) -> Holders:
    return hold(changes, baseline, "made up", **options)


def made(block: Block) -> Change:
    return Change(block.bytes, block)


def freed(block: Block) -> Change:
    return Change(-block.bytes, block)


def block(size: int, name: str, result: str = "") -> Block:
    return Block(size, f"a.py:1 in {name}", "aten::mm", result)


def test_only_what_is_alive_at_the_peak_is_listed_largest_first() -> None:
    early, small, large, late = block(50, "early"), block(20, "small"), block(40, "large"), block(55, "late")
    found = alive(
        made(early),
        freed(early),
        made(small),
        made(large),
        freed(large),
        freed(small),
        made(late),
        baseline=7,
    )
    assert (found.bytes, found.before_call) == (67, 7)
    assert [(one.bytes, one.where) for one in found.holders] == [
        (40, "a.py:1 in large"),
        (20, "a.py:1 in small"),
    ]
    assert found.rest == found.unexplained == 0


def test_memory_from_before_that_went_before_the_peak_is_subtracted() -> None:
    found = alive(Change(-100), made(block(30, "a")), made(block(90, "b")), Change(-10), baseline=110)
    assert (found.bytes, found.before_call) == (130, 10)
    assert sum(one.bytes for one in found.holders) == 120


def test_a_call_that_never_exceeds_its_start_holds_nothing_of_its_own() -> None:
    found = alive(Change(-100), made(block(30, "a")), baseline=110)
    assert (found.bytes, found.before_call, found.holders) == (110, 110, [])


def test_what_the_allocator_counted_beyond_is_unexplained_and_in_the_rest() -> None:
    one, other = block(100, "a"), block(10, "b")
    found = alive(made(one), made(other), freed(one), baseline=5, peak=140, peak_at=1)
    assert (found.bytes, found.before_call, [holder.bytes for holder in found.holders]) == (140, 5, [100])
    assert found.rest == found.unexplained == 35


def test_more_holders_than_are_listed_and_tiny_ones_are_summed() -> None:
    many = [made(block(100, f"line{number}")) for number in range(LISTED + 3)]
    found = alive(*many)
    assert len(found.holders) == LISTED and found.rest == 300 and found.unexplained == 0
    found = alive(made(block(10_000_000, "large")), made(block(8, "tiny")))
    assert len(found.holders) == 1 and found.rest == 8


def test_equal_allocations_of_one_line_are_one_holder_and_stay_apart_from_each_other() -> None:
    first, second = block(10, "a", "f32[2]"), block(10, "a", "f32[2]")
    found = alive(made(first), made(second), freed(first))
    assert found.holders == [Holder(20, 2, "a.py:1 in a", "aten::mm f32[2]")]
    assert grouped([first, block(10, "a", "f32[3]")]) == [
        Holder(10, 1, "a.py:1 in a", "aten::mm f32[2]"),
        Holder(10, 1, "a.py:1 in a", "aten::mm f32[3]"),
    ]
    assert Block(3).where == NO_LINE


def test_kept_is_what_every_repetition_keeps_and_not_what_each_replaces() -> None:
    changes: list[Change] = []
    current: Block | None = None
    for number in range(10):
        changes.append(made(block(KIB, "leak", f"f32[{number}]")))
        if current is not None:
            changes.append(freed(current))
        current = block(4 * KIB, "replaced")
        changes.append(made(current))
    assert alive(*changes).kept == [Holder(5 * KIB, 5, "a.py:1 in leak", "aten::mm")]


def test_kept_of_a_single_allocation() -> None:
    assert alive(made(block(8, "a"))).kept == [Holder(8, 1, "a.py:1 in a", "aten::mm")]
    assert alive().kept == []
