"""asv's files are written whole or not at all, and hold no infinity; a benchmark that no file can be called after
costs its graph, not the site."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from typing import Any

from asv import util
from asv.console import log

#: Stands for infinity in asv's confidence intervals.
_ENDLESS = 1e300
#: Bytes of a file's name on most systems.
_LONGEST = 255
#: Letters of a name that a note shows.
_SHOWN = 60


def finite(stats: Any) -> None:
    """asv gives too few samples an endless confidence interval; an infinity in its file is no JSON for a browser."""
    for one in stats or ():
        for end in ("ci_99_a", "ci_99_b"):
            if one and not math.isfinite(one.get(end, 0.0)):
                if one.get("repeat") == 1:
                    del one[end]  # asv compares no single samples by it
                else:
                    one[end] = math.copysign(_ENDLESS, one[end])


def write_json(original: Any) -> Any:
    def write_json(path: str, data: Any, api_version: Any = None, compact: bool = False) -> None:
        # A name that asv does not read as results, so that a reader never meets a half-written file, and short, since
        # asv's own may be as long as a name can be.
        temporary = os.path.join(os.path.dirname(path), f".{os.getpid()}.tmp")
        try:
            # asv looks first and makes the folder then, which two runs at once do not survive.
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            original(temporary, data, api_version, compact)
            os.replace(temporary, path)
        except OSError as fault:
            raise util.UserError(
                f"dcu-asv: {path} cannot be written ({fault}); free the disk or make the folder writable"
            ) from None
        finally:
            with suppress(OSError):
                os.unlink(temporary)

    return write_json


def save_graph(original: Any) -> Any:
    """For asv's `Graph.save`, whose files are called after the benchmark and the values of the parameters."""

    def save(self: Any, html_dir: str) -> None:
        if all(map(_names_a_file, f"{self.path}.json".split("/"))):
            original(self, html_dir)
        else:
            shown = ascii(self.benchmark_name[:_SHOWN])
            log.warning(
                f"dcu-asv: a graph of {shown} is left out of asv's pages: no file can have such a name"
            )

    return save


def _names_a_file(name: str) -> bool:
    try:
        return len(os.fsencode(name)) <= _LONGEST
    except UnicodeEncodeError:
        return False
