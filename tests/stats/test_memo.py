from __future__ import annotations

from dcu_asv_ext.stats.memo import Memo


def test_what_is_known_is_not_made_again_and_what_is_not_asked_for_is_forgotten() -> None:
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return len(made)

    first: Memo[str, int] = Memo()
    assert [first.of(key, lambda key=key: make(key)) for key in "abab"] == [1, 2, 1, 2]  # type: ignore[misc]
    second: Memo[str, int] = Memo(first.found)
    assert second.of("b", lambda: make("b")) == 2 and second.of("c", lambda: make("c")) == 3
    assert made == ["a", "b", "c"] and second.found == {"b": 2, "c": 3}
