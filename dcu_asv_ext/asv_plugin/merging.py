"""Results of several machines or nodes in one results folder: what is to be united, and whether it may be."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evidence import packing, store
from .batches import INDEX
from .locks import Held, result_lock
from .merging_traces import take_traces
from .result_files import ResultFile, ResultsError, list_files
from .session import MARKER, evidence_of

BENCHMARKS, MACHINE = "benchmarks.json", "machine.json"

#: asv's own numbers of its files' formats, as this version knows them.
_FORMATS = {BENCHMARKS: 2, MACHINE: 1}
_RESULT_FORMAT = 2
_COLUMNS = ("result", "params", "version", "started_at")


@dataclass
class Plan:
    """What a merge will do. files: path below the results folder -> its whole content; copies: -> the file it is of.
    new, united: result files. known: measurements that were there already. renamed: old name -> new, by folder."""

    files: dict[str, bytes] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    machines: set[str] = field(default_factory=set)
    new: int = 0
    united: int = 0
    measurements: int = 0
    known: int = 0
    renamed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Names:
    """How machines of a clashing name are called instead.

    given: `NAME` or `FOLDER/NAME` (as the folder was given) -> new name. automatic: the others
    become NAME-2, NAME-3, ...
    """

    given: Mapping[str, str] = field(default_factory=dict)
    automatic: bool = False


def plan(target: Path, folders: Sequence[Path], names: Names, known_commits: Any = None) -> Plan:
    """Unite `folders` (results folders) into `target`. Writes nothing.

    known_commits: hashes -> those of them that the repository has; None without a repository.
    Raises ResultsError for folders that are none, of another project, with clashing machines or unknown formats.
    """
    _check_folders(target, folders)
    unused = set(names.given)
    made = Plan()
    benchmarks = _read_json(target / BENCHMARKS, BENCHMARKS) or {}
    owners = _owners(target)
    for folder in folders:
        incoming = _read_json(folder / BENCHMARKS, BENCHMARKS) or {}
        _check_project(folder, incoming, benchmarks, known_commits)
        benchmarks = _unite_benchmarks(benchmarks, incoming, folder, made)
        for machine in _machines(folder):
            name = _called(folder, machine, owners, names, unused)
            if name != machine:
                made.renamed.append(f"{machine} of {folder} is called {name}")
            if owners.get(name) is None:
                owners[name] = _facts(folder / machine)
            made.machines.add(name)
            _unite_machine(target, folder / machine, name, made)
    if unused:
        raise ResultsError(f"--rename {sorted(unused)[0]}: there is no such machine in the folders")
    if benchmarks:
        made.files[BENCHMARKS] = _indented(benchmarks)
    return made


def being_written(target: Path) -> str:
    """The name of a result that a run is measuring now, "" where there is none."""
    for marker in target.glob(f"*/*{MARKER}"):
        lock = result_lock(evidence_of(marker))
        try:
            lock.acquire()
        except Held:
            return f"{marker.parent.name}/{marker.name.removesuffix(MARKER)}"
        lock.release()
    return ""


def _check_folders(target: Path, folders: Sequence[Path]) -> None:
    seen = {target.resolve()}
    for folder in folders:
        if not folder.is_dir():
            raise ResultsError(f"there is no folder {folder}")
        if folder.resolve() in seen:
            raise ResultsError(f"{folder} is named twice, or is the results folder itself")
        seen.add(folder.resolve())
        if not _machines(folder):
            inside = list_files(folder) or (folder / MACHINE).is_file()
            hint = (
                f"; it is a machine's: name the folder above it, {folder.resolve().parent}" if inside else ""
            )
            raise ResultsError(f"{folder} is no results folder (none of its folders holds results){hint}")


def _machines(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(one.name for one in folder.iterdir() if one.is_dir() and list_files(one))


# ---- whose they are


def _check_project(
    folder: Path, incoming: Mapping[str, Any], benchmarks: Mapping[str, Any], known_commits: Any
) -> None:
    """One project's results have commits of its repository; without a repository, benchmarks in common."""
    if known_commits is not None:
        heads = {one.head()[0] for name in _machines(folder) for one in list_files(folder / name)}
        if not known_commits(heads):
            raise ResultsError(
                f"{folder} is another project's: none of its {len(heads)} commits is in this repository "
                "(fetch them first, if they are only not here yet)"
            )
        return
    ours, theirs = (set(one) - {"version"} for one in (benchmarks, incoming))
    if ours and theirs and not ours & theirs:
        raise ResultsError(f"{folder} is another project's: it has no benchmark in common with the others")


def _owners(target: Path) -> dict[str, dict[str, Any] | None]:
    """Name -> the facts of the machine that has it; one whose results were all removed keeps it."""
    names = {*_machines(target), *(one.parent.name for one in target.glob(f"*/{MACHINE}"))}
    return {name: _facts(target / name) for name in sorted(names)}


def _facts(folder: Path) -> dict[str, Any] | None:
    """What asv knows of the machine; None where it left nothing."""
    told = _read_json(folder / MACHINE, MACHINE)
    return None if told is None else {k: v for k, v in told.items() if k not in ("machine", "version")}


def _called(
    folder: Path,
    machine: str,
    owners: Mapping[str, dict[str, Any] | None],
    names: Names,
    unused: set[str],
) -> str:
    for key in (f"{folder}/{machine}", machine):
        if key in names.given:
            unused.discard(key)
            wanted = names.given[key]
            if _clashes(owners, wanted, _facts(folder / machine)):
                raise ResultsError(f"--rename {key}={wanted}: {wanted} is another machine's name already")
            return wanted
    facts = _facts(folder / machine)
    clash = _clashes(owners, machine, facts)
    if not clash:
        return machine
    if names.automatic:
        number = 2
        while _clashes(owners, f"{machine}-{number}", facts):
            number += 1
        return f"{machine}-{number}"
    raise ResultsError(
        f"two machines are called {machine}: {clash}; name the one of {folder} anew with "
        f"--rename {folder}/{machine}=NAME, or let all such be numbered with --rename-clashes"
    )


def _clashes(owners: Mapping[str, dict[str, Any] | None], name: str, facts: Mapping[str, Any] | None) -> str:
    """In what the machine of that name differs; "" where there is none, or it is the same one."""
    known = owners.get(name)
    if known is None or facts is None:
        return ""
    different = [key for key in sorted({*known} & {*facts}) if known[key] != facts[key]]
    if not different:
        return ""
    key = different[0]
    return f"its {key} is {known[key]!r} and {facts[key]!r}"


# ---- uniting


def _unite_benchmarks(
    known: Mapping[str, Any], incoming: Mapping[str, Any], folder: Path, made: Plan
) -> dict[str, Any]:
    """The descriptions that are there stay: asv goes by the version of its newest discovery."""
    differ = [
        name
        for name, one in incoming.items()
        if name != "version" and name in known and known[name].get("version") != one.get("version")
    ]
    if differ:
        more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
        made.notes.append(f"{folder} has another version of {differ[0]}{more}; the description here stays")
    return {**incoming, **known}


def _unite_machine(target: Path, source: Path, name: str, made: Plan) -> None:
    place = target / name
    if (source / MACHINE).is_file() and not _there(target, made, f"{name}/{MACHINE}"):
        about = _read_json(source / MACHINE, MACHINE) or {}
        made.files[f"{name}/{MACHINE}"] = _indented({**about, "machine": name})
    index = place / INDEX
    if index.is_file():
        # It is made again from the united evidence.
        made.gone.add(f"{name}/{INDEX}")
    for one in list_files(source):
        is_new = not any(_there(target, made, f"{name}/{one.stem}{end}") for end in (".json", store.SUFFIX))
        if one.result is not None:
            _unite_result(target, one.result, name, made)
        if one.evidence is not None:
            _unite_evidence(target, one, name, made)
            take_traces(target, one, name, made)
        if is_new:
            made.new += 1
        else:
            made.united += 1


def _there(target: Path, made: Plan, path: str) -> bool:
    return path in made.files or store.is_there(target / path)


def _unite_result(target: Path, source: Path, name: str, made: Plan) -> None:
    """Benchmark by benchmark the later result, with the parameters that only the earlier one was measured with."""
    path = f"{name}/{source.name}"
    incoming = _read_json(source, source.name) or {}
    _check_result(source, incoming)
    incoming["params"] = {**incoming["params"], "machine": name}
    if path in made.files:
        known = json.loads(made.files[path])
    elif (target / path).is_file():
        known = _read_json(target / path, source.name) or {}
        _check_result(target / path, known)
    else:
        made.files[path] = _compact(incoming)
        return
    if known["commit_hash"] != incoming["commit_hash"]:
        raise ResultsError(f"{source} and {target / path} have one name, and are of different commits")
    if known["result_columns"] != incoming["result_columns"]:
        raise ResultsError(f"{source} and {target / path} were written by different versions of asv")
    columns = known["result_columns"]
    column = columns.index("started_at")
    rows = dict(known["results"])
    for benchmark, row in incoming["results"].items():
        if benchmark not in rows:
            rows[benchmark] = row
        elif _started(row, column) > _started(rows[benchmark], column):
            rows[benchmark] = _filled(row, rows[benchmark], columns)
        else:
            rows[benchmark] = _filled(rows[benchmark], row, columns)
    durations = {**incoming.get("durations", {}), **known.get("durations", {})}
    united = {**known, "results": rows, "durations": durations}
    if united != known:
        made.files[path] = _compact(united)


def _check_result(path: Path, found: Mapping[str, Any]) -> None:
    shapes = {"params": dict, "results": dict, "result_columns": list, "commit_hash": str}
    sound = all(isinstance(found.get(name), kind) for name, kind in shapes.items())
    if not sound or not isinstance(found.get("durations", {}), dict) or not _are(list, found["results"]):
        raise ResultsError(f"{path} is no result file of asv")
    if found.get("version") != _RESULT_FORMAT or any(one not in found["result_columns"] for one in _COLUMNS):
        raise ResultsError(f"{path} has a format of another asv; `asv update` there brings it up to date")


def _are(kind: type, values: Mapping[str, Any]) -> bool:
    return all(isinstance(one, kind) for one in values.values())


def _filled(later: list[Any], earlier: list[Any], columns: Sequence[str]) -> list[Any]:
    """A sweep may have been measured in parts: asv keeps NaN for the parameters that a run did not choose."""
    new, old = (dict(zip(columns, row, strict=False)) for row in (later, earlier))
    same = all(name in new and new[name] == old.get(name) for name in ("params", "version"))
    figures, others = new.get("result"), old.get("result")
    if not same or not isinstance(figures, list) or not isinstance(others, list):
        return later
    taken = [_is_nan(one) and not _is_nan(other) for one, other in zip(figures, others, strict=False)]
    if len(figures) != len(others) or not any(taken):
        return later
    for name in columns:
        if name in ("result", "samples") or name.startswith("stats_"):
            own, other = (_of_each(row.get(name), len(taken)) for row in (new, old))
            new[name] = [other[place] if take else own[place] for place, take in enumerate(taken)]
    return [new.get(name) for name in columns]


def _of_each(values: Any, number: int) -> list[Any]:
    """A figure of each combination of parameters; asv leaves a column out where it has none."""
    return values if isinstance(values, list) and len(values) == number else [None] * number


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _started(row: list[Any], column: int) -> float:
    value = row[column] if len(row) > column else None
    return float(value) if isinstance(value, (int, float)) else 0.0


def _unite_evidence(target: Path, file: ResultFile, name: str, made: Plan) -> None:
    """Each measurement once, in the order in which they were made."""
    assert file.evidence is not None
    path = f"{name}/{file.evidence.name}"
    try:
        incoming = [_renamed(line, name) for line in _whole_lines(store.iter_lines(file.evidence))]
        if path in made.files:
            before = made.files[path].decode().splitlines(keepends=True)
        else:
            before = list(_whole_lines(store.iter_lines(target / path))) if _there(target, made, path) else []
    except OSError as fault:
        raise ResultsError(str(fault)) from None
    united: dict[Any, str] = {}
    for line in before:
        _add(united, line)
    old = len(united)
    for line in incoming:
        _add(united, line)
    made.measurements += len(united) - old
    made.known += len(incoming) - (len(united) - old)
    lines = sorted(united.values(), key=_moment)
    if lines != before:
        made.files[path] = "".join(lines).encode()
        if packing.packed_path(target / path).exists():
            made.gone.add(f"{path}{packing.GZ}")


def _whole_lines(lines: Iterable[str]) -> Iterable[str]:
    """A torn last line gets an end, so that what follows it is not torn too."""
    return (line if line.endswith("\n") else line + "\n" for line in lines if line.strip())


def _renamed(line: str, machine: str) -> str:
    record = store.parse_line(line)
    if record is None or record["machine"] == machine:
        return line
    return json.dumps({**record, "machine": machine}, separators=(",", ":")) + "\n"


def _add(united: dict[Any, str], line: str) -> None:
    """The same measurement may be thinned in one of two folders: the fuller one stays."""
    record = store.parse_line(line)
    key: Any = line
    if record is not None and record["session"] is not None:
        key = (record["session"], record["benchmark"], tuple(record["params"].values()), record["round"])
        key += (record["started_at"],)
    if len(line) > len(united.get(key, "")):
        united[key] = line


def _moment(line: str) -> tuple[bool, str]:
    record = store.parse_line(line)
    return record is None, "" if record is None else str(record["started_at"] or "")


# ---- files


def _read_json(path: Path, name: str) -> dict[str, Any] | None:
    """None where there is no such file. Raises ResultsError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as fault:
        raise ResultsError(f"{path} cannot be read: {' '.join(str(fault).split())}") from None
    if not isinstance(found, dict):
        raise ResultsError(f"{path} is none of asv's files")
    if name in _FORMATS and found.get("version") != _FORMATS[name]:
        raise ResultsError(f"{path} has a format of another asv; `asv update` there brings it up to date")
    if name == BENCHMARKS and not _are(dict, {**found, "version": {}}):
        raise ResultsError(f"{path} is none of asv's files")
    return found


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _indented(value: Any) -> bytes:
    return (json.dumps(value, indent=4, sort_keys=True) + "\n").encode()
