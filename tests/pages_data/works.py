"""A project's results as the builders of the pages get them, and the data files that they write."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from dcu_asv_ext.asv_plugin.results import Project, load_config
from dcu_asv_ext.asv_plugin.settings import settings_of
from dcu_asv_ext.asv_plugin.site_sources import Sources, work_of
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.model import Work
from dcu_asv_ext.pages.writing import Out


def opened(suite: Path, out: Path, cache: Path | None = None) -> Work:
    """The work of a publish. suite: folder of asv.conf.json; out: where data files go; cache: its folder."""
    config = suite / "asv.conf.json"
    conf, project, kept = load_config(config), Project.open(config), Cache(cache)
    return work_of(conf, project, settings_of(conf), Sources(project, kept), Out(out), kept)


def data(out: Path, key: str) -> Any:
    """What a data file holds."""
    found = re.fullmatch(r'dcu\.data\("(.*)","(.*)"\);\n', (out / f"{key}.js").read_text())
    assert found is not None and found[1] == key
    return json.loads(gzip.decompress(base64.b64decode(found[2])))


def keys(out: Path) -> list[str]:
    return sorted(str(one.relative_to(out))[: -len(".js")] for one in out.rglob("*.js"))
