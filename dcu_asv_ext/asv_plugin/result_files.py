"""One asv result file and the evidence beside it, as a result set: the only place that reads asv's for comparing.

asv is imported where it is needed: importing it takes longer than most of what is done here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..comparing.facts import asv_facts
from ..comparing.fields import is_number
from ..comparing.model import WORKLOAD, Key, ResultSet, Series
from ..comparing.reading import Entries, Recorded, read_results, series_of
from ..evidence.packing import GZ
from ..evidence.store import (
    SUFFIX,
    Evidence,
    evidence_path,
    is_there,
    iter_lines,
    list_evidence,
    parse_line,
    read,
)
from ..metrics import METRICS
from . import asv_file
from .asv_file import AsvResult

Match = Callable[[Key], bool]

#: First letters of a plain asv benchmark's name -> (asv's type, unit), for results without benchmarks.json
_ASV_TYPES = {
    "time": ("time", "seconds"),
    "timeraw": ("time", "seconds"),
    "peakmem": ("peakmemory", "bytes"),
    "mem": ("memory", "bytes"),
    "track": ("track", "unit"),
}

#: Files of asv beside the results.
NO_RESULTS = frozenset({"machine.json", "benchmarks.json"})
_COMMIT = re.compile(r'"commit_hash":\s*"([^"]+)"')
_START = re.compile(r'\{"benchmark":\s*("[^"\\]*"),\s*"params":\s*(\{[^{}]*\})')
_DATE = re.compile(r'"date":\s*(\d+)')


class ResultsError(Exception):
    """Results that cannot be found, told apart or read; the text says which, and what to do."""


@dataclass(frozen=True)
class ResultFile:
    """The files of one stem. result: asv's, evidence: ours (plain or packed); one of the two may not be there."""

    result: Path | None
    evidence: Path | None

    @property
    def stem(self) -> str:
        if self.result is not None:
            return self.result.name[: -len(".json")]
        assert self.evidence is not None
        return self.evidence.name[: -len(SUFFIX)]

    @property
    def prefix(self) -> str:
        """The first eight letters of the commit's hash."""
        return self.stem.partition("-")[0]

    @property
    def env(self) -> str:
        """The environment's name, or the hash of it that asv takes where the name is very long."""
        return self.stem.partition("-")[2]

    def head(self) -> tuple[str, int]:
        """The commit's full hash, and its date in milliseconds (0 where asv has no file), from the file's beginning.

        A file that cannot be read so has the first letters of its name.
        """
        if self.result is None:
            return str(_first_record(self).get("commit") or self.prefix), 0
        try:
            with open(self.result, encoding="utf-8", errors="replace") as stream:
                text = stream.read(4096)
                text += "" if _COMMIT.search(text) else stream.read()
        except OSError:
            text = ""
        commit, date = _COMMIT.search(text), _DATE.search(text)
        return commit.group(1) if commit else self.prefix, int(date.group(1)) if date else 0


def load_file(path: str | os.PathLike[str], *, match: Match | None = None, steady: bool = True) -> ResultSet:
    """One asv result file with the evidence beside it, or an evidence file alone. Raises ResultsError."""
    file = file_of(path)
    return read_file(file, load_benchmarks(Path(path).resolve().parent.parent), match=match, steady=steady)


def file_of(path: str | os.PathLike[str]) -> ResultFile:
    """The two files of one stem, of which either is named. Raises ResultsError where there is no such file."""
    place = Path(path)
    if not place.is_file():
        raise ResultsError(f"there is no file {place}")
    if place.name.endswith((SUFFIX, SUFFIX + GZ)):
        place = place.with_name(place.name.removesuffix(GZ))
        result = place.with_name(place.name[: -len(SUFFIX)] + ".json")
        return ResultFile(result if result.is_file() else None, place)
    evidence = evidence_path(place)
    return ResultFile(place, evidence if is_there(evidence) else None)


def read_file(
    file: ResultFile, benchmarks: Mapping[str, Any], *, match: Match | None = None, steady: bool = True
) -> ResultSet:
    """benchmarks: asv's descriptions by name, as far as they are known. Raises ResultsError."""
    evidence = Evidence()
    if file.evidence is not None:
        with _reading(file.evidence):
            evidence = read(file.evidence, _line_filter(match))
    records, torn = evidence.records, evidence.skipped
    if file.result is None:
        place = file.evidence
        assert place is not None
        if not records:
            raise ResultsError(f"{place} holds no readable evidence, and asv has no result file beside it")
        first = records[0]
        return read_results(
            str(first.get("machine") or place.parent.name),
            str(first.get("commit") or file.prefix),
            str(first.get("env") or file.env),
            entries=Entries(),
            records=records,
            torn=torn,
            steady=steady,
            match=match,
        )
    with _reading(file.result):
        asv = asv_file.load(file.result)
        entries, notes = _entries(asv.results, benchmarks)
        facts = asv_facts(asv.params, asv.requirements, asv.env_vars, asv.python)
    own = [one for one in records if one["commit"] in (asv.commit, None)]
    made = read_results(
        asv.machine,
        asv.commit,
        asv.env,
        entries=entries,
        records=own,
        facts=facts,
        torn=torn,
        steady=steady,
        match=match,
        date=asv.date,
    )
    made.notes += notes
    if len(own) < len(records):
        made.notes.append(
            f"the evidence of {asv.commit[:8]} ({made.env}) has lines of another commit: {len(records) - len(own)}"
        )
    return made


# ---- asv's files


def _line_filter(match: Match | None) -> Callable[[str], bool] | None:
    """Whether an evidence line may hold a key that is wanted, told from its beginning, since parsing takes long."""
    if match is None:
        return None

    def wanted(line: str) -> bool:
        start = _START.match(line)
        if start is None:
            return True
        try:
            benchmark, params = (json.loads(part) for part in start.groups())
        except ValueError:
            return True
        return any(match(Key(benchmark, metric, tuple(params.values()))) for metric in METRICS)

    return wanted


def list_files(folder: Path) -> list[ResultFile]:
    """The result files of a machine's folder, by name."""
    results: dict[str, Path] = {}
    evidence = {path.name[: -len(SUFFIX)]: path for path in list_evidence(folder)}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name.endswith(".json") and entry.name not in NO_RESULTS:
            results[entry.name[: -len(".json")]] = Path(entry.path)
    return [ResultFile(results.get(stem), evidence.get(stem)) for stem in sorted({*results, *evidence})]


def _first_record(file: ResultFile) -> dict[str, Any]:
    """The first readable line of an evidence file; {} where there is none."""
    assert file.evidence is not None
    found = (parse_line(line) for line in iter_lines(file.evidence))
    return next((record for record in found if record is not None), {})


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Faults of reading a file become one sentence."""
    from asv.util import UserError

    try:
        yield
    except UserError as fault:
        raise ResultsError(one_line(fault)) from None
    except (OSError, UnicodeDecodeError) as fault:
        raise ResultsError(f"{path} cannot be read: {one_line(fault)}") from None
    except KeyError as fault:
        raise ResultsError(f"{path} is no result file of asv (it has no {fault})") from None
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as fault:
        raise ResultsError(f"{path} is no result file of asv ({one_line(fault)})") from None


def load_benchmarks(results_dir: Path) -> dict[str, Any]:
    """asv's descriptions of the benchmarks by name; empty where it left none. Raises ResultsError."""
    from asv import util

    path = results_dir / "benchmarks.json"
    if not path.is_file():
        return {}
    with _reading(path):
        found = util.load_json(os.fspath(path)).items()
    return {name: one for name, one in found if isinstance(one, dict)}


def _entries(results: Mapping[str, AsvResult], benchmarks: Mapping[str, Any]) -> tuple[Entries, list[str]]:
    recorded: dict[Key, Recorded] = {}
    entries = Entries(recorded)
    rounds: dict[str, int] = {}
    odd = []
    for name, result in results.items():
        about = benchmarks.get(name, {})
        for one, value, raw in result:
            key, series = key_of(name, about, tuple(map(str, one)))
            if value is not None and not isinstance(value, bool) and not is_number(value):
                odd.append(name)
                continue
            recorded[key] = Recorded(value, tuple(map(float, raw or ())), result.version)
            entries.series[key] = series
            rounds[key.benchmark] = int(about.get("rounds") or 1)
    entries.rounds = rounds
    return entries, [f"{name} holds no number" for name in dict.fromkeys(odd)]


def key_of(name: str, about: Mapping[str, Any], params: tuple[str, ...] = ()) -> tuple[Key, Series]:
    """Of asv's name and description of a benchmark. A metric of ours belongs to its function; another suite's
    benchmark is a series of its own."""
    family, _, metric = name.rpartition(".")
    names = tuple(map(str, about.get("param_names") or ()))
    if metric in METRICS and about.get("family", family) == family:
        key = Key(family, metric, params)
        return key, series_of(key, names, str(about.get("kind", WORKLOAD)))
    kind, unit = _ASV_TYPES.get(metric.partition("_")[0], ("value", ""))
    kind, unit = str(about.get("type", kind)), str(about.get("unit", unit))
    return Key(name, kind, params), Series(name, names, unit)


def one_line(fault: BaseException) -> str:
    return " ".join(str(fault).split()) or type(fault).__name__
