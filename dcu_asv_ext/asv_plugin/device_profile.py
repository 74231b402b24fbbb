"""What `asv profile` shows beside asv's own profile of the host: a trace of the same benchmark, and what is in it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from asv import util

from ..evidence.record import OK
from ..evidence.store import parse_line
from .run_folders import new_folder, run_folders

_FORCE = (
    "asv kept the host's profile in its results; asv profile --force makes a new one, and one of the device"
)


class DeviceProfiles:
    """Of one `asv profile`. families: names of benchmarks that are ours; of others there is none."""

    def __init__(self, env_dir: str) -> None:
        self._root = run_folders(env_dir)
        self._families: set[str] = set()
        self._asked: list[str] = []
        self._folder: Path | None = None
        self.ran = False

    def begin(self, benchmarks: Mapping[str, Any]) -> None:
        """asv is going to run these: nothing was kept of an earlier run."""
        self.ran = True
        self._families = {name for name, one in benchmarks.items() if one.get("family")}

    def asked(self, name: str, parameters: str) -> str:
        """The parameters (JSON text) of a run of `<benchmark>[-<index>]`, with the request for its trace."""
        if name.partition("-")[0] not in self._families:
            return parameters
        if self._folder is None:
            self._folder = new_folder(self._root)
        stem = re.sub(r"[^\w.-]", "_", name)
        self._asked.append(stem)
        given = json.loads(parameters)
        given["dcu"] = {
            "record": str(self._folder / f"{stem}.json"),
            "profile": {
                "only": True,
                "stacks": False,
                "first": False,
                "trace": str(self._trace(stem)),
                "first_trace": None,
            },
        }
        return json.dumps(given)

    def _trace(self, stem: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{stem}.trace.json.gz"

    def report(self) -> Iterator[str]:
        """Pages, and sentences on what there is no page of."""
        for stem in self._asked:
            yield self._page(stem)

    def _page(self, stem: str) -> str:
        # Reading traces takes numpy, and every asv command loads this module.
        from ..comparing.profile_page import page_of_record
        from ..comparing.profile_text import render
        from ..comparing.table import Style
        from ..trace.errors import TraceError

        record, trace = self._record(stem), self._trace(stem)
        if record is None:
            return (
                f"dcu-asv: {stem}: the measuring process left no record, so there is no profile of the device"
            )
        if record["status"] != OK:
            return f"dcu-asv: {stem}: {record['status']}"
        if not trace.exists():
            missing = (record.get("profile") or {}).get("missing") or {}
            why = next((str(one) for one in missing.values()), "it has no profile pass")
            return f"dcu-asv: {stem}: there is no profile of the device: {why}"
        try:
            page = page_of_record(record, trace)
        except TraceError as fault:
            return f"dcu-asv: {fault}"
        return page.nothing or render(page, Style.of_terminal())

    def _record(self, stem: str) -> dict[str, Any] | None:
        assert self._folder is not None
        place = self._folder / f"{stem}.json"
        return parse_line(place.read_text(encoding="utf-8")) if place.exists() else None


#: That of the `asv profile` which is running, if one is.
_RUNNING: list[DeviceProfiles] = []


def begin(benchmarks: Mapping[str, Any]) -> None:
    """asv is going to run these under its profiler."""
    if _RUNNING:
        _RUNNING[-1].begin(benchmarks)


def asked(name: str, parameters: str) -> str:
    """See `DeviceProfiles.asked`."""
    return _RUNNING[-1].asked(name, parameters) if _RUNNING else parameters


def profile_run(original: Any) -> Any:
    """asv's `Profile.run` with a report of the device after its own output. What opens a window stays as it is."""
    signature = inspect.signature(original)

    def run(cls: Any, conf: Any, *args: Any, **kwargs: Any) -> Any:
        if signature.bind(cls, conf, *args, **kwargs).arguments.get("gui") is not None:
            return original(cls, conf, *args, **kwargs)
        found = DeviceProfiles(conf.env_dir)
        _RUNNING.append(found)
        try:
            done = original(cls, conf, *args, **kwargs)
        except KeyError as missing:
            # asv looks for the profile of what has failed, of which there is none.
            raise util.UserError(f"{' '.join(found.report()) or missing}") from missing
        finally:
            _RUNNING.pop()
        for text in found.report() if found.ran else (f"dcu-asv: {_FORCE}",):
            print(f"\n{text}", flush=True)
        return done

    return run
