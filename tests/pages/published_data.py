"""The data files of a published site, read as the pages read them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

from .serving import Site

_FILE = re.compile(r'dcu\.data\("([^"]+)","([A-Za-z0-9+/=]+)"\);\n')


def read(site: Site, key: str) -> Any:
    """What lies in `dcu/data/<key>.js`; the file must be nothing but the call that hands its data over."""
    found = _FILE.fullmatch((site.html / "dcu" / "data" / f"{key}.js").read_text(encoding="ascii"))
    assert found is not None and found[1] == key
    return json.loads(gzip.decompress(base64.b64decode(found[2])))
