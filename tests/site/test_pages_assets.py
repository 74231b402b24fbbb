"""The pages' own files in a published site."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from dcu_asv_ext.site.pages_assets import PAGES, copy_pages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copied by somebody whose files others may not read."""
    mask = os.umask(0o077)
    try:
        (tmp_path / "dcu" / "data").mkdir(parents=True)
        (tmp_path / "dcu" / "data" / "index.js").write_text("of another")
        copy_pages(tmp_path / "dcu")
    finally:
        os.umask(mask)
    return tmp_path / "dcu"


def loaded(page: Path) -> list[str]:
    return re.findall(r'<(?:script|link)\b[^>]*?(?:src|href)="([^"]*)"', page.read_text(encoding="utf-8"))


def test_all_that_the_page_loads_is_there_and_nothing_comes_from_elsewhere(folder: Path) -> None:
    found = [one for one in loaded(folder / "index.html") if not one.startswith("data:")]
    assert [one.partition("?")[0] for one in found] == [
        *("theme.js", "vendor/uplot-1.6.32/uPlot.min.css", "pages.css"),
        *("vendor/fflate-0.8.3/index.js", "vendor/uplot-1.6.32/uPlot.iife.min.js", "pages.js"),
    ]
    assert [one for one in found if not (folder / one.partition("?")[0]).is_file()] == []
    assert [one for one in found if ":" in one or one.startswith("/")] == []


def test_all_scripts_and_styles_are_loaded() -> None:
    """A file that no page loads is dead; one that is loaded twice runs twice."""
    ours = sorted(one.name for one in PAGES.iterdir() if one.suffix in (".js", ".css"))
    found = [one for one in loaded(PAGES / "index.html") if "/" not in one and not one.startswith("data:")]
    assert sorted(found) == ours


def test_start_comes_last_and_the_theme_before_any_style() -> None:
    found = loaded(PAGES / "index.html")
    assert found[-1] == "start.js"
    assert found.index("theme.js") < min(at for at, one in enumerate(found) if one.endswith(".css"))


@pytest.mark.parametrize("kind", ["js", "css"])
def test_all_scripts_and_styles_are_in_one_file_in_their_order(folder: Path, kind: str) -> None:
    text = (folder / f"pages.{kind}").read_text(encoding="utf-8")
    names = [one for one in loaded(PAGES / "index.html") if "/" not in one and one.endswith(kind)]
    wanted = [(PAGES / name).read_text(encoding="utf-8") for name in names if name != "theme.js"]
    assert len(wanted) > 5
    places = [text.index(one) for one in wanted]
    assert places == sorted(places)
    assert sum(map(len, wanted)) <= len(text)


def test_another_script_has_another_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(PAGES, tmp_path / "changed")
    (tmp_path / "changed" / "format.js").write_text('"use strict";\n')
    monkeypatch.setattr("dcu_asv_ext.site.pages_assets.PAGES", tmp_path / "changed")
    copy_pages(tmp_path / "other")
    one, other = (loaded(place / "index.html") for place in (folder, tmp_path / "other"))
    assert one[-1] != other[-1] and one[:-1] == other[:-1]


def test_a_server_of_any_user_can_read_them(folder: Path) -> None:
    for place in [folder, *folder.rglob("*")]:
        if place.name not in ("data", "index.js") or place.parent.name.startswith("fflate"):
            assert place.stat().st_mode & 0o777 == (0o755 if place.is_dir() else 0o644), place


def test_other_files_of_the_folder_stay(folder: Path) -> None:
    assert (folder / "data" / "index.js").read_text() == "of another"


def test_each_library_comes_with_its_licence(folder: Path) -> None:
    libraries = sorted(one.name for one in (folder / "vendor").iterdir())
    assert libraries == ["fflate-0.8.3", "uplot-1.6.32"]
    for name in libraries:
        assert "Permission is hereby granted" in (folder / "vendor" / name / "LICENSE").read_text()


def test_no_address_of_another_host_is_loaded_by_a_script_or_style() -> None:
    """Addresses of namespaces are names, and links are followed by people alone."""
    for place in PAGES.iterdir():
        if place.suffix == ".css":
            assert "url(" not in place.read_text(encoding="utf-8"), place.name
        if place.suffix == ".js":
            text = place.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert re.findall(r"https?://[\w.]+", text) == [], place.name
            assert re.findall(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b", text) == []
