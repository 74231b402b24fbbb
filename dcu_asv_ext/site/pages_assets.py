"""The published pages' own files: scripts, style, and the libraries they load with their licences."""

from __future__ import annotations

import shutil
from pathlib import Path

PAGES = Path(__file__).with_name("pages")


def copy_pages(folder: Path) -> None:
    """Put them into `folder`, which may have other files; a web server of any user can read them.

    Whatever rights the installed package has, and whatever the umask is.
    """
    shutil.copytree(PAGES, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for place in [folder, *(folder / one.relative_to(PAGES) for one in PAGES.rglob("*"))]:
        place.chmod(0o755 if place.is_dir() else 0o644)
