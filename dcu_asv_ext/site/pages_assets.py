"""The published pages' own files: scripts, style, and the libraries they load with their licences."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

PAGES = Path(__file__).with_name("pages")

#: Our own scripts but the theme's, which runs before anything is drawn, and our own styles.
_SCRIPT = re.compile(r' *<script defer src="([\w.]+)"></script>\n')
_STYLE = re.compile(r' *<link rel="stylesheet" href="([\w.]+)">\n')


def copy_pages(folder: Path) -> None:
    """Put them into `folder`, which may have other files; a web server of any user can read them.

    Whatever rights the installed package has, and whatever the umask is. Scripts are joined in the order in which
    index.html names them, styles too: fetching sixty small files takes longer than what a page then does.
    """
    page = (PAGES / "index.html").read_text(encoding="utf-8")
    for pattern, name, tag in (
        (_STYLE, "pages.css", '<link rel="stylesheet" href="{}">'),
        (_SCRIPT, "pages.js", '<script defer src="{}"></script>'),
    ):
        page = _joined(page, pattern, folder / name, tag)
    _write(folder / "index.html", page)
    shutil.copyfile(PAGES / "theme.js", folder / "theme.js")
    shutil.copytree(PAGES / "vendor", folder / "vendor", copy_function=shutil.copyfile, dirs_exist_ok=True)
    made = [folder / name for name in ("index.html", "pages.css", "pages.js", "theme.js", "vendor")]
    for place in [folder, *made, *(folder / "vendor").rglob("*")]:
        place.chmod(0o755 if place.is_dir() else 0o644)


def _joined(page: str, pattern: re.Pattern[str], target: Path, tag: str) -> str:
    """The page with one tag in the place of the last of those that name the joined files."""
    names = pattern.findall(page)
    parts = [f"/* {name} */\n{(PAGES / name).read_text(encoding='utf-8')}" for name in names]
    text = "\n".join(parts)
    _write(target, text)
    # Another publish's script is another address, so that no browser takes an old one for it.
    digest = hashlib.blake2s(text.encode(), digest_size=4).hexdigest()
    last = names[-1]
    whole = f"    {tag.format(f'{target.name}?{digest}')}\n"
    return pattern.sub(lambda found: whole if found[1] == last else "", page)


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
