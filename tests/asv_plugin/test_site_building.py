"""The old site stays whole until the new one is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.site_building import BuildError, beside


@pytest.fixture(autouse=True)
def _own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCU_ASV_LOCKS", str(tmp_path / "locks"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    site = tmp_path / "here" / "html"
    site.mkdir(parents=True)
    (site / "index.html").write_text("old")
    return site


def build(place: Path, text: str = "new") -> None:
    place.mkdir()
    (place / "index.html").write_text(text)


def content(site: Path) -> list[str]:
    return [one.read_text() for one in sorted(site.iterdir())]


def test_the_new_site_takes_the_old_ones_place_and_nothing_is_left(old: Path) -> None:
    with beside(old) as place:
        build(place)
        assert content(old) == ["old"]
    assert content(old) == ["new"]
    assert os.listdir(old.parent) == ["html"]


def test_a_first_site(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "down" / "html"
    with beside(target) as place:
        build(place)
    assert content(target) == ["new"]


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_whatever_ends_the_build_leaves_the_old_site(old: Path, fault: type[BaseException]) -> None:
    with pytest.raises(fault), beside(old) as place:
        build(place)
        raise fault
    assert content(old) == ["old"]
    assert os.listdir(old.parent) == ["html"]


def test_what_a_killed_build_left_is_cleared_away(old: Path) -> None:
    left = old.parent / ".html.publishing-abc" / "site"
    left.mkdir(parents=True)
    with beside(old) as place:
        build(place)
    assert os.listdir(old.parent) == ["html"]


def test_a_link_to_a_folder_is_followed(old: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(old)
    with beside(link) as place:
        build(place)
    assert link.is_symlink() and content(old) == ["new"]


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "html").write_text("mine")
    with pytest.raises(BuildError, match="is a file, and the site needs a folder"), beside(tmp_path / "html"):
        pass
    assert (tmp_path / "html").read_text() == "mine"


def test_a_mount_point_is_refused_before_anything_is_built(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.ismount", lambda path: path == old)
    with pytest.raises(BuildError, match="is a mount point"), beside(old):
        raise AssertionError("it was built")
    assert content(old) == ["old"]


def test_a_parent_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match="cannot be put at"), beside(tmp_path / "file" / "html"):
        pass


def test_two_builds_of_one_folder_come_one_after_another(old: Path) -> None:
    """The lock is held by the first: a second in this process would wait for ever, so only the lock is tried."""
    from dcu_asv_ext.asv_plugin.locks import Held, site_lock

    with beside(old) as place:
        build(place)
        with pytest.raises(Held):
            site_lock(old).acquire()
    site_lock(old).acquire()
