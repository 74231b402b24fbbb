"""What the words of `dcu-asv profile` mean: traces, or a benchmark; and which options go together."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evidence.traces import ENDING, FOLDER
from .choosing import WrongUse

_TRACE = re.compile(r"\.(json|json\.gz|gz|pt\.trace)$")
_SUFFIXES = (".json", ".json.gz")

#: Options that ask something of a measurement, with what they are where they are not given.
_MEASURING: dict[str, Any] = {
    "commit": None,
    "params": [],
    "first": False,
    "stacks": False,
    "trace": None,
    "env": None,
}


@dataclass(frozen=True)
class Inputs:
    """Either is empty. traces: in the order given, of a folder by name, numbers by their value."""

    traces: Sequence[str] = ()
    benches: Sequence[str] = ()


def inputs_of(options: argparse.Namespace) -> Inputs:
    """Raises WrongUse where the words, or the options with them, make no sense."""
    words: Sequence[str] = options.names
    traces = [one for one in words if is_trace(one)]
    benches = [one for one in words if one not in traces]
    if traces and benches:
        raise WrongUse(
            f"{traces[0]} is a trace and {benches[0]} a benchmark; ask for them one after the other"
        )
    if options.compare is not None:
        return _compared(options, traces, benches)
    if not words:
        raise WrongUse("name a trace file, or a benchmark of the suite (dcu-asv profile --help has examples)")
    if options.machine is not None:
        raise WrongUse("--machine chooses among results, so it goes with --compare alone")
    _check_forms(options)
    if traces:
        _check_traces(options, traces)
        return Inputs(traces=[file for one in traces for file in _files(one)])
    if len(benches) > 1:
        raise WrongUse(f"one benchmark is profiled at a time, not {len(benches)} ({', '.join(benches)})")
    return Inputs(benches=benches)


def is_trace(word: str) -> bool:
    """Whether a word means a file, or a folder of files, rather than a benchmark."""
    if os.path.isdir(word):
        return os.sep in word or word in (".", "..") or bool(_in_folder(word))
    return os.path.isfile(word) or _TRACE.search(word) is not None


def _in_folder(folder: str) -> list[str]:
    """Of results (and folders of them) the kept traces; asv's own files beside those are none."""
    kept = [
        os.path.join(place, one)
        for place, _, names in os.walk(folder)
        if place != folder and place.endswith(FOLDER)
        for one in names
        if one.endswith(ENDING) and not one.startswith(".")
    ]
    found = [
        os.path.join(folder, one)
        for one in os.listdir(folder)
        if one.endswith(_SUFFIXES) and one != "asv.conf.json"
    ]
    return sorted(kept or found, key=_by_number)


def _by_number(path: str) -> list[tuple[int, str]]:
    """rank2 before rank10."""
    return [(int(part or 0), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path)]


def _files(word: str) -> list[str]:
    if not os.path.isdir(word):
        return [word]
    found = _in_folder(word)
    if not found:
        raise WrongUse(f"{word} holds no *.json and no *.json.gz")
    return found


def _check_forms(options: argparse.Namespace) -> None:
    if options.json and options.csv == "-":
        raise WrongUse("--json and --csv - both take the standard output; write the table to a file")


def _given(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    return [f"--{name}" for name in names if getattr(options, name) != _MEASURING[name]]


def _check_traces(options: argparse.Namespace, traces: Sequence[str]) -> None:
    given = _given(options, list(_MEASURING))
    if given:
        raise WrongUse(
            f"{given[0]} is for profiling a benchmark, and {traces[0]} is a trace that is made already"
        )


def _compared(options: argparse.Namespace, traces: Sequence[str], benches: Sequence[str]) -> Inputs:
    sides = [is_trace(one) for one in options.compare]
    if traces:
        raise WrongUse(f"--compare takes both traces: dcu-asv profile --compare {traces[0]} OTHER")
    if any(sides) and not all(sides):
        one = options.compare[sides.index(True)]
        raise WrongUse(f"{one} is a trace; compare it with a second one")
    if all(sides):
        for one in options.compare:
            if os.path.isdir(one):
                raise WrongUse(f"{one} is a folder; --compare takes two trace files")
        if Path(options.compare[0]).resolve() == Path(options.compare[1]).resolve():
            raise WrongUse(f"both sides are the same file, {options.compare[0]}")
        if benches:
            raise WrongUse(f"two traces are compared, so there is no benchmark {benches[0]} to choose")
        if options.machine is not None or options.env is not None:
            raise WrongUse("--machine and --env choose among the results of commits, not of files")
    given = _given(options, ["commit", "first", "trace"])
    given += [name for name in ("--csv", "--html") if getattr(options, name[2:]) is not None]
    if given:
        raise WrongUse(f"{given[0]} does not go with --compare")
    if len(benches) > 1:
        raise WrongUse(f"--compare takes one benchmark, not {len(benches)} ({', '.join(benches)})")
    return Inputs(benches=benches)


def params_of(given: Sequence[str]) -> dict[str, str]:
    """`n=256,dtype=float32`, given once or several times. Raises WrongUse."""
    found: dict[str, str] = {}
    for one in given:
        # A comma inside of a value's brackets parts nothing.
        for part in re.split(r",(?![^()\[\]]*[)\]])(?=\s*\w+\s*=)", one):
            name, sign, value = part.partition("=")
            if not sign or not name.strip():
                raise WrongUse(f"--params takes NAME=VALUE, not {part!r}")
            found[name.strip()] = value.strip()
    return found
