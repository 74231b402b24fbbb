"""What is found again, what is dropped, and that nothing wrong with the file stops a publish."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dcu_asv_ext.pages.cache import Cache, digest

KEY, OTHER = digest("thing", 1, "a"), digest("thing", 1, "b")
FILE = "site.sqlite3"


def kept(folder: Path, **values: bytes) -> None:
    cache = Cache(folder)
    cache.begin()
    for name, value in values.items():
        cache.put(digest("thing", 1, name), value)
    cache.close()
    assert not cache.notes


def test_a_value_is_found_by_the_next_publish(tmp_path: Path) -> None:
    kept(tmp_path / "cache", a=b"one", b=b"")
    cache = Cache(tmp_path / "cache")
    assert (cache.get(KEY), cache.get(OTHER), cache.get(digest("thing", 2, "a"))) == (b"one", b"", None)
    assert not cache.notes


def test_a_value_is_made_once(tmp_path: Path) -> None:
    cache, made = Cache(tmp_path), []

    def make() -> bytes:
        made.append(1)
        return b"value"

    assert [cache.made(KEY, make) for _ in range(3)] == [b"value"] * 3
    cache.flush()
    assert cache.made(KEY, make) == b"value" and made == [1]


def test_parts_of_a_key_do_not_run_together() -> None:
    assert digest("thing", 1, "ab", "c") != digest("thing", 1, "a", "bc")
    assert digest("thing", 1, "a") != digest("thing", 1, "a", "")
    assert digest("thing", 11) != digest("thing1", 1)
    assert digest("thing", 1, "\ud800") != digest("thing", 1, "?")


def test_what_the_last_publish_did_not_use_goes(tmp_path: Path) -> None:
    kept(tmp_path, a=b"one", b=b"two")
    first = Cache(tmp_path)
    first.begin()
    first.close()
    beside, other = Cache(tmp_path), Cache(tmp_path)
    assert beside.get(KEY) == b"one"
    other.put(digest("thing", 1, "c"), b"three")
    for one in (beside, other):
        one.close()
    last = Cache(tmp_path)
    last.prune()
    assert (last.get(KEY), last.get(OTHER), last.get(digest("thing", 1, "c"))) == (b"one", None, b"three")
    size = (tmp_path / FILE).stat().st_size
    kept(tmp_path, **{str(number): os.urandom(1 << 16) for number in range(20)})
    last.begin()
    last.prune()
    last.close()
    assert (tmp_path / FILE).stat().st_size <= size


def test_git_and_backups_pass_it_over(tmp_path: Path) -> None:
    kept(tmp_path / "cache", a=b"one")
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
    assert (
        (tmp_path / "cache" / "CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


def test_without_a_folder_nothing_is_kept() -> None:
    cache = Cache(None)
    cache.begin()
    cache.put(KEY, b"one")
    assert cache.get(KEY) is None and cache.made(KEY, lambda: b"two") == b"two"
    cache.prune()
    cache.close()
    assert not cache.notes


def _text(path: Path) -> None:
    path.write_text("not a database at all, but long enough to look like one " * 100)


def _foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as one:
        one.execute("CREATE TABLE mine (x)")
        one.execute("PRAGMA application_id = 7")


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as one:
        one.execute("PRAGMA user_version = 99")


def _without_a_table(path: Path) -> None:
    with sqlite3.connect(path) as one:
        one.execute("DROP TABLE used")


def _cut(path: Path) -> None:
    os.truncate(path, 5000)


@pytest.mark.parametrize("damage", [_text, _foreign, _newer, _without_a_table, _cut])
def test_a_damaged_or_foreign_file_is_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    kept(tmp_path, a=b"one")
    damage(tmp_path / FILE)
    for _ in range(
        2
    ):  # found when it is opened or when it is read, it is replaced by the next publish at the latest
        cache = Cache(tmp_path)
        cache.begin()
        found = cache.get(KEY)
        cache.put(KEY, b"new")
        cache.close()
        if found is not None:
            break
        assert len(cache.notes) == 1 and str(tmp_path) in cache.notes[0]
    last = Cache(tmp_path)
    last.put(KEY, b"new")
    last.close()
    assert Cache(tmp_path).get(KEY) == b"new" and not last.notes


def test_a_value_that_was_changed_on_the_disk_is_not_believed(tmp_path: Path) -> None:
    kept(tmp_path, a=b"a value of some length")
    path = tmp_path / FILE
    data = path.read_bytes()
    path.write_bytes(data.replace(b"some length", b"some lentgh"))
    cache = Cache(tmp_path)
    assert cache.get(KEY) is None and len(cache.notes) == 1
    cache.put(KEY, b"new")
    cache.close()
    assert Cache(tmp_path).get(KEY) is None


def test_a_folder_that_cannot_be_made_costs_time_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.begin()
    cache.put(KEY, b"one")
    cache.close()
    assert len(cache.notes) == 1 and "the next publish takes as long" in cache.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only_is_read(tmp_path: Path) -> None:
    kept(tmp_path, a=b"one")
    (tmp_path / FILE).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        read_and_not_written(Cache(tmp_path))
    finally:
        tmp_path.chmod(0o755)


def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    kept(tmp_path, a=b"one")
    cache = Cache(tmp_path)
    assert cache._connection is not None
    cache._connection.execute("PRAGMA max_page_count = 1")
    read_and_not_written(cache)


def read_and_not_written(cache: Cache) -> None:
    for number in range(3):
        cache.put(digest("thing", 1, str(number)), os.urandom(1 << 20))
        cache.flush()
    assert cache.get(KEY) == b"one"
    cache.close()
    assert len(cache.notes) == 1 and "the next publish takes as long" in cache.notes[0]
