"""The ways from asv's pages to ours: one in its navigation bar, and one beside the graph of a benchmark."""

from __future__ import annotations

import re
from pathlib import Path

from .offline import SiteError

#: The last entry of asv's bar: the name of the benchmark whose graph is shown.
_TITLE = re.compile(r'[ \t]*<li id="nav-li-graphdisplay">.*?</li>[ \t]*\n', re.DOTALL)
_END = "</body>"

_OVERVIEW = """\
        <li id="nav-li-dcu"><a href="dcu/index.html#/overview">Overview and changes</a></li>
"""
_BENCHMARK = """\
        <li id="nav-li-dcu-benchmark" style="display: none"><a href="dcu/index.html#/benchmarks">All metrics of this benchmark</a></li>
"""  # noqa: E501

#: asv has one page for each name that is none of its own pages: the graph of the benchmark of that name.
_FOLLOW = """\
    <script>
      $(function () {
        var others = ["", "summarylist", "regressions", "graphdisplay"];
        function follow() {
          var shown = $.asv.parse_hash_string(window.location.hash);
          var name = shown.location.join("/");
          var query = "?name=" + encodeURIComponent(name);
          function add(key, value) { query += "&" + encodeURIComponent(key) + "=" + encodeURIComponent(value); }
          function alone(value) { return value.replace(/[\\\\|]/g, "\\\\$&"); }
          $.each(shown.params, function (key, values) {
            var told = values.filter(function (one) { return one !== null; });
            if (key.slice(0, 2) === "p-" && told.length) {
              add("p." + key.slice(2), told.map(alone).join("|"));
            } else if ((key === "branch" || key === "machine") && told.length === 1) add(key, told[0]);
            else if (key === "x-axis-scale" && told[0] === "date") add("x", "dates");
            else if (key === "y-axis-scale" && told[0] === "log") add("y", "log");
          });
          $("#nav-li-dcu-benchmark").toggle(others.indexOf(name) < 0)
            .children("a").attr("href", "dcu/index.html#/benchmark" + query);
        }
        $(window).on("hashchange", follow);
        follow();
        // What asv's pages cannot do there ours can; offline.py says the first half.
        if (window.location.protocol === "file:") {
          $("<a>").attr("href", "dcu/index.html").css({color: "inherit", textDecoration: "underline"})
            .text("The overview and the pages behind it can be read from a folder.")
            .appendTo($("[role=alert]").append(" "));
        }
      });
    </script>
"""


def link_pages(site: Path) -> None:
    """Put them into the index.html of a site that asv has just written.

    Raises SiteError where that page is not as asv 0.6.5 and 0.6.6 have it.
    """
    page = site / "index.html"
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SiteError(f"asv's index.html cannot be read ({fault})") from fault
    if len(_TITLE.findall(text)) != 1 or text.count(_END) != 1:
        raise SiteError(
            "asv's index.html has no navigation bar that this package knows, so no link to its own pages can be put "
            'there; use an asv that it knows (0.6.5, 0.6.6), or set "dcu": {"pages": false}'
        )
    text = _TITLE.sub(lambda title: _OVERVIEW + title[0] + _BENCHMARK, text)
    page.write_text(text.replace(_END, _FOLLOW.strip() + "\n  " + _END), encoding="utf-8")
