"""A publish with this package's own pages: where they come to lie, what is told, and what stays when it fails."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asv
import pytest
from asv import util

from dcu_asv_ext.asv_plugin import publishing, site_sources, site_speed, site_worker
from dcu_asv_ext.asv_plugin.publishing import publish_run
from dcu_asv_ext.asv_plugin.results import load_config
from dcu_asv_ext.asv_plugin.settings import settings_of
from tests.asv_plugin.result_folder import NAME, ResultFolder

_WWW = Path(asv.__file__).with_name("www")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultFolder:
    made = ResultFolder(tmp_path)
    made.describe(**{NAME: {"type": "time", "unit": "seconds", "param_names": []}})
    for commit in made.commits:
        made.save(commit)
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(publishing.log, "warning", found.append)
    return found


def publish(
    folder: ResultFolder, part: Callable[[Any], None] = lambda conf: None, **given: Any
) -> list[dict[str, Any]]:
    """part: what asv's own part does besides; what asv was asked for."""
    conf = load_config(folder.root / "asv.conf.json")
    asked: list[dict[str, Any]] = []

    def original(cls: Any, conf: Any, range_spec: Any = None, pull: bool = True) -> None:
        asked.append({"range_spec": range_spec, "pull": pull})
        shutil.copytree(_WWW, conf.html_dir)
        part(conf)

    publish_run(settings_of, original)(None, conf, **given)
    assert conf.html_dir == str(folder.root / "html") or conf.html_dir == "html"
    return asked


def site(folder: ResultFolder) -> set[str]:
    root = folder.root / "html"
    return {str(one.relative_to(root)) for one in root.rglob("*") if one.is_file()}


def left(folder: ResultFolder) -> set[str]:
    return {one.name for one in folder.root.iterdir()} - {"repo", "results", "asv.conf.json"}


def test_the_pages_are_part_of_the_site(folder: ResultFolder, said: list[str]) -> None:
    asked = publish(folder)
    assert {"dcu/index.html", "dcu/data/index.js", "dcu/data/overview.js"} <= site(folder)
    assert "dcu/index.html#/overview" in (folder.root / "html" / "index.html").read_text()
    assert left(folder) == {"html", ".html-cache"} and not said
    # It was pulled before, so that both parts have the same commits.
    assert asked == [{"range_spec": None, "pull": False}]


def test_they_can_be_left_out(folder: ResultFolder) -> None:
    folder.configure(dcu={"pages": False})
    publish(folder)
    assert not any(one.startswith("dcu/") for one in site(folder)) and left(folder) == {"html"}
    assert "#/overview" not in (folder.root / "html" / "index.html").read_text()


def test_a_range_of_commits(folder: ResultFolder, said: list[str]) -> None:
    publish(folder)
    before = (folder.root / ".html-cache" / "site.sqlite3").stat().st_size
    asked = publish(folder, range_spec=f"{folder.commits[1]}..{folder.commits[2]}")
    assert asked[0]["range_spec"] and not said
    assert (folder.root / ".html-cache" / "site.sqlite3").stat().st_size >= before


def test_the_repository_is_pulled_unless_it_is_not_wanted(
    folder: ResultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled: list[bool] = []
    monkeypatch.setattr("asv.plugins.git.Git.pull", lambda self: pulled.append(True))
    folder.configure(dcu={"pages": False})
    publish(folder, pull=False)
    assert not pulled
    publish(folder)
    assert pulled


def test_what_was_passed_over_is_told(folder: ResultFolder, said: list[str]) -> None:
    for commit in folder.commits[:2]:
        folder.save(commit).write_text("{")
    publish(folder)
    assert len(said) == 2 and all(one.startswith("dcu-asv: passed over: ") for one in said)


def test_a_cache_that_cannot_be_written_is_told_once(folder: ResultFolder, said: list[str]) -> None:
    (folder.root / ".html-cache").write_text("")
    publish(folder)
    assert len(said) == 1 and "the next publish takes as long" in said[0]
    assert "dcu/data/index.js" in site(folder)


def test_results_are_read_whole_whatever_asv_s_part_remembers(
    folder: ResultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    original = site_sources.make_pages

    def make_pages(*given: Any) -> list[str]:
        assert not site_speed._AT_WORK
        return original(*given)

    monkeypatch.setattr(site_sources, "make_pages", make_pages)
    for number in (1, 2):
        monkeypatch.setattr(site_worker, "processors", lambda number=number: number)
        publish(folder, lambda conf: seen.append(len(site_speed._AT_WORK)))
    assert seen == [1, 1]


@pytest.mark.parametrize("html_dir", [".", "", "..", "/", "results", "repo", "benchmarks", "loop"])
def test_a_site_replaces_nothing_that_it_is_made_from(folder: ResultFolder, html_dir: str) -> None:
    (folder.root / "loop").symlink_to("loop")
    folder.configure(html_dir=html_dir)
    before = sorted(folder.root.rglob("*"))
    with pytest.raises(util.UserError, match="html_dir"):
        publish_run(settings_of, None)(None, load_config(folder.root / "asv.conf.json"))
    assert sorted(folder.root.rglob("*")) == before


def _fault(*given: Any) -> list[str]:
    raise KeyError("a name")


def _killed(*given: Any) -> list[str]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


@pytest.mark.parametrize(
    ("make_pages", "told"),
    [(_fault, "KeyError: 'a name' in test_published_pages.py"), (_killed, "SIGKILL")],
)
def test_a_fault_leaves_the_old_site_and_names_a_way_round(
    folder: ResultFolder, monkeypatch: pytest.MonkeyPatch, make_pages: Any, told: str
) -> None:
    publish(folder)
    (folder.root / "html" / "old").touch()
    monkeypatch.setattr(site_sources, "make_pages", make_pages)
    with pytest.raises(util.UserError) as raised:
        publish(folder)
    assert told in str(raised.value) and '"dcu": {"pages": false}' in str(raised.value)
    assert "old" in site(folder) and left(folder) == {"html", ".html-cache"}


@pytest.mark.parametrize(
    "fault",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.js"),
        shutil.Error([("from", "to", "[Errno 28] No space left on device: 'x.js'"), ("a", "b", "c")]),
    ],
)
def test_a_full_disk_leaves_the_old_site_and_is_told_in_a_sentence(
    folder: ResultFolder, fault: OSError
) -> None:
    publish(folder)
    (folder.root / "html" / "old").touch()

    def full(conf: Any) -> None:
        raise fault

    with pytest.raises(util.UserError, match=r"No space left on device: 'x.js'\); the old one is as it was"):
        publish(folder, full)
    assert "old" in site(folder) and left(folder) == {"html", ".html-cache"}


def test_an_interrupt_leaves_the_old_site(folder: ResultFolder) -> None:
    publish(folder)
    (folder.root / "html" / "old").touch()

    def interrupt(conf: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(folder, interrupt)
    assert "old" in site(folder) and left(folder) == {"html", ".html-cache"}
