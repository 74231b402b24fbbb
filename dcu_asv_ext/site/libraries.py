"""The libraries of asv's pages: where asv asks for them, and where they lie in this package."""

from __future__ import annotations

from pathlib import Path

VENDOR = Path(__file__).with_name("vendor")

_CDNJS = "https://cdnjs.cloudflare.com/ajax/libs"
_JSDELIVR = "https://cdn.jsdelivr.net/npm"

#: Address in asv's page -> file below VENDOR. stupidtable is on the npm registry from version 1.1.3 on, which takes
#: all that 1.0.1 took; flot has no minified form there.
LIBRARIES = {
    "https://code.jquery.com/jquery-3.3.1.min.js": "jquery-3.3.1/jquery.min.js",
    f"{_CDNJS}/flot/0.8.3/jquery.flot.min.js": "flot-0.8.3/jquery.flot.js",
    f"{_CDNJS}/flot/0.8.3/jquery.flot.time.min.js": "flot-0.8.3/jquery.flot.time.js",
    f"{_CDNJS}/flot/0.8.3/jquery.flot.selection.min.js": "flot-0.8.3/jquery.flot.selection.js",
    f"{_CDNJS}/flot/0.8.3/jquery.flot.categories.min.js": "flot-0.8.3/jquery.flot.categories.js",
    f"{_JSDELIVR}/flot-orderbars@1.0.0/js/jquery.flot.orderBars.js": "flot-orderbars-1.0.0/jquery.flot.orderBars.js",
    f"{_CDNJS}/stupidtable/1.0.1/stupidtable.min.js": "stupid-table-plugin-1.1.3/stupidtable.min.js",
    f"{_CDNJS}/blueimp-md5/2.19.0/js/md5.min.js": "blueimp-md5-2.19.0/md5.min.js",
    f"{_JSDELIVR}/bootstrap@3.1.1/dist/js/bootstrap.min.js": "bootstrap-3.1.1/bootstrap.min.js",
    f"{_JSDELIVR}/bootstrap@3.1.1/dist/css/bootstrap.min.css": "bootstrap-3.1.1/bootstrap.min.css",
}
