"""A page with a timeline of each kept trace: "profiles/<benchmark>/<place>-<commit>[-<combination>].html", which
needs nothing but itself."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..comparing.fields import group_of, is_number, number
from ..comparing.reading import is_sound
from ..evidence import traces
from ..evidence.store import read
from ..evidence.traces import KeptTrace
from ..trace.errors import TraceError
from .cache import code_of, digest
from .evidence_choice import with_timelines
from .model import Entry, Timeline, Work
from .writing import slug

#: Rows of a device and of the host that a page carries at most.
MOST_ROWS = 20_000
#: Of all pages together; of more, the newest are kept.
MOST_BYTES = 48 << 20

#: To be raised where a page is made in another way than its code tells.
FORM = 1
_MADE_BY = ("trace", "comparing")
_FOLDER = "profiles"

Record = Mapping[str, Any]


def build(work: Work) -> list[Timeline]:
    """Writes the pages, and tells where they are. Of all but the branches' newest commits they are made for the first
    time only as long as nobody waits. A trace that cannot be read is told in the notes."""
    maker = _Maker(work)
    for place in range(len(work.places)) if work.published_evidence else ():
        for choice in with_timelines(work, place):
            maker.add(work.entries[place, choice.commit], choice.needed)
    if maker.too_many:
        size = MOST_BYTES >> 20
        work.notes.append(
            f"profiles without a timeline, since all together would have more than {size} MiB: {maker.too_many}"
        )
    return maker.made


class _Maker:
    """made: pages that there are. too_many: those that there was no room for."""

    def __init__(self, work: Work) -> None:
        self.made: list[Timeline] = []
        self.too_many = 0
        self._work = work
        self._bytes = 0

    def add(self, entry: Entry, needed: bool) -> None:
        """needed: the pages are waited for."""
        assert entry.evidence is not None
        evidence = self._work.results_dir / entry.evidence
        kept = traces.kept(evidence)
        if not kept:
            return
        try:
            records = [_trusted(one) for one in read(evidence).records if is_sound(one)]
        except OSError:  # told by who publishes the evidence
            return
        for one in kept:
            record = _profiled(records, one)
            if record is not None:
                self._add(entry, one, record, needed)

    def _add(self, entry: Entry, one: KeptTrace, record: Record, needed: bool) -> None:
        work = self._work
        shown = f"{entry.evidence}: the trace {one.path.name}"
        try:
            key = _key(one.path.read_bytes(), record)
            page = work.cache.get(key)
            if page is None:
                if not (needed or work.may_go_on()):
                    return
                page = zlib.compress(page_of(record, one.path).encode("utf-8", "surrogatepass"))
                work.cache.put(key, page)
        except OSError as fault:
            work.notes.append(f"passed over: {shown} cannot be read ({fault.strerror or fault})")
            return
        except TraceError as fault:
            work.notes.append(f"passed over: {shown}: {_sentence(fault, one)}")
            return
        text = zlib.decompress(page).decode("utf-8", "surrogatepass")
        if self._bytes + len(text) > MOST_BYTES:
            self.too_many += 1
            return
        which = "" if one.index is None else f"-{one.index}"
        file = f"{_FOLDER}/{slug(one.benchmark)}/{entry.place}-{work.commits[entry.commit].short}{which}.html"
        size = work.out.put_page(file, text)
        self._bytes += size
        params = tuple(str(value) for value in record["params"].values())
        self.made.append(Timeline(one.benchmark, entry.place, entry.commit, params, f"data/{file}", size))


def page_of(record: Record, trace: Path) -> str:
    """HTML. Raises TraceError."""
    # numpy, which a publish without a trace does not need here.
    from ..comparing.profile_page import page_of_record
    from ..trace.report_html import render_html

    page = page_of_record(record, trace)
    return render_html(
        page.analysis, title=page.name, overhead=page.overhead, notes=page.notes, most_rows=MOST_ROWS
    )


def _profiled(records: Sequence[Record], kept: KeptTrace) -> Record | None:
    """The newest measurement that says that the trace is its."""
    for one in reversed(records):
        if one["benchmark"] == kept.benchmark and one["profile"]["trace"] == kept.path.name:
            return one
    return None


def _trusted(record: Record) -> Record:
    """What the page of a profile tells of a record, as far as it is of the kind that it should be."""
    profile, device = group_of(record, "profile"), record["device"]
    overhead = number(profile, "overhead")
    named = ("product", "name", "kind")
    return {
        "benchmark": record["benchmark"],
        "params": record["params"],
        "times": {"latency": _positive(record["times"].get("latency"))},
        "profile": {
            "trace": profile.get("trace"),
            "overhead": overhead if overhead is not None and overhead > 0 else None,
            "seconds": _positive(profile.get("seconds")),
        },
        "device": {
            **{name: str(device[name]) for name in named if device.get(name)},
            "simulated": bool(device.get("simulated")),
        },
    }


def _positive(values: Any) -> list[float]:
    found = values if isinstance(values, list) else []
    return [one for one in found if is_number(one) and 0 < one < math.inf]


def _key(trace: bytes, record: Record) -> bytes:
    return digest("timeline", FORM, code_of(*_MADE_BY), trace, json.dumps(record))


def _sentence(fault: TraceError, kept: KeptTrace) -> str:
    """What is published tells no paths of the machine."""
    return str(fault).replace(f"{kept.path.parent}/", "")
