"""A published site that asks no other host for anything."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from .libraries import LIBRARIES, VENDOR

#: A script or a link of the page with all its attributes; only these load something by themselves.
_TAG = re.compile(r"<(?:script|link|img)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r"""\b(src|href)\s*=\s*(["'])((?:https?:)?//[^"']*)\2""", re.IGNORECASE)
#: They forbid a file that is opened from a folder, and are of the other host's copy.
_CHECKS = re.compile(r"""\s+(?:integrity|crossorigin)\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)

_PLACE = "vendor"

_FROM_A_FOLDER = """
    <script>
      if (window.location.protocol === "file:") {
        document.addEventListener("DOMContentLoaded", function () {
          var told = document.createElement("p");
          told.setAttribute("role", "alert");
          told.style.cssText = "position:fixed;z-index:2000;left:10%;right:10%;bottom:10%;padding:1em;background:#fff3cd;color:#333;border:1px solid #b58900";
          told.textContent = "Browsers let no page that was opened from a folder read the data beside it. Run \\"asv preview\\", or \\"python3 -m http.server\\" in this folder, and open the address that it tells.";
          document.body.appendChild(told);
        });
      }
    </script>
"""  # noqa: E501

_ERROR_PAGE = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>airspeed velocity error</title>
    <link rel="shortcut icon" href="swallow.ico">
  </head>
  <body>
    <h1>A script of this site could not be loaded.</h1>
    <p>
      Its pages need nothing but the files of their own folder: copy that folder whole, its "vendor" part too, or
      publish it again.
    </p>
  </body>
</html>
"""


class SiteError(Exception):
    """A page of asv that cannot be made to work offline; the text is one sentence."""


def make_offline(site: Path) -> None:
    """Let the pages of a site that asv has just written load their libraries from the site itself.

    Raises SiteError where a page loads something from elsewhere that this package does not have.
    """
    page = site / "index.html"
    text = page.read_text(encoding="utf-8")
    text = _TAG.sub(lambda tag: _local(tag[0]), text)
    page.write_text(text.replace("</head>", _FROM_A_FOLDER + "  </head>", 1), encoding="utf-8")
    shutil.copytree(VENDOR, site / _PLACE, copy_function=shutil.copyfile)
    (site / "error.html").write_text(_ERROR_PAGE, encoding="utf-8")


def _local(tag: str) -> str:
    found = _ADDRESS.search(tag)
    if found is None:
        return tag
    place = LIBRARIES.get(found[3])
    if place is None:
        raise SiteError(
            f"asv's pages load {found[3]}, which this package does not have, so the site would not work offline; "
            'use an asv that it knows (0.6.5, 0.6.6), or set "dcu": {"offline": false}'
        )
    local = f'{found[1]}="{_PLACE}/{place}"'
    return _CHECKS.sub("", tag[: found.start()] + local + tag[found.end() :])
