"""`dcu-asv profile BENCH`: measured now, and told."""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence.record import OK, SKIPPED
from ..exit_codes import BENCHMARK_FAILED, NOTHING_COMPARABLE, WRONG_USE
from .choosing import WrongUse
from .profile_inputs import params_of
from .run import asv_on_stderr

if TYPE_CHECKING:
    from ..daily.profiling import Profiled
    from .profile_output import Output

_ENDINGS = (".json.gz", ".json")


def profile_bench(options: argparse.Namespace, name: str, output: Output) -> int:
    """Raises WrongUse for what cannot be profiled."""
    wanted = _place(options.trace)
    found = profile_now(options, name, options.commit)
    if not told_failure(found, output):
        _tell(found, wanted, output)
    return output.finish()


def profile_now(options: argparse.Namespace, name: str, commit: str | None) -> Profiled:
    """Lines on standard error as it goes. Raises WrongUse."""
    from ..asv_plugin.interleaving import MeasuringError
    from ..asv_plugin.results import ResultsError
    from ..daily.choice import ChoiceError
    from ..daily.experiment import ExperimentError
    from ..daily.profiling import ProfilingError, Request, profile
    from ..daily.snapshot import SnapshotError

    request = Request(
        name, params_of(options.params), commit, options.config, options.env, options.stacks, options.first
    )
    try:
        # asv prints as it goes; standard output is for the profile.
        with asv_on_stderr(verbose=False), redirect_stdout(sys.stderr):
            return profile(request, tell)
    except (
        *(ChoiceError, ExperimentError, MeasuringError, ProfilingError, ResultsError, SnapshotError),
        OSError,
    ) as fault:
        raise WrongUse(str(fault)) from fault


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def told_failure(found: Profiled, output: Output) -> bool:
    """Whether there is no profile to be shown, which is told: the benchmark failed, or nothing was recorded."""
    record = found.record
    if record is None:
        output.refuse(
            f"{found.benchmark} left no evidence: it is skipped for these parameters", NOTHING_COMPARABLE
        )
        return True
    status = str(record["status"])
    if status.startswith(SKIPPED):
        output.refuse(f"{found.benchmark}: {status}", NOTHING_COMPARABLE)
        return True
    if status != OK:
        traceback = (record.get("error") or {}).get("traceback")
        if traceback:
            tell(str(traceback).rstrip())
        output.refuse(f"{found.benchmark}: {status}", BENCHMARK_FAILED)
        return True
    if not found.trace.exists():
        missing = _missing(record)
        reason = next(iter(missing.values()), "the measuring process has no profile pass")
        code = WRONG_USE if "trace" in missing else NOTHING_COMPARABLE
        output.refuse(f"{found.benchmark}: there is no profile: {reason}", code)
        return True
    return False


def _missing(record: Mapping[str, Any]) -> dict[str, str]:
    """What the profile lacks as a whole, with the reason; "trace": its file could not be written."""
    missing = (record.get("profile") or {}).get("missing") or {}
    return {name: str(missing[name]) for name in ("trace", "rows", "first_call") if name in missing}


def _tell(found: Profiled, wanted: Path | None, output: Output) -> None:
    """The pages of the first call and of the steady ones, and the traces where they were wanted."""
    from ..comparing.profile_page import page_of_record
    from ..trace.errors import TraceError

    assert found.record is not None
    for source, first in ((found.first_trace, True), (found.trace, False)):
        if source is None:
            continue
        if not source.exists():
            why = _missing(found.record).get("first_call", "it was not recorded")
            output.refuse(
                f"{found.benchmark}: there is no profile of its first call: {why}", NOTHING_COMPARABLE
            )
            continue
        place, fault = _kept(source, wanted, first)
        try:
            page = page_of_record(found.record, source, first)
        except TraceError as error:
            output.refuse(str(error), NOTHING_COMPARABLE)
            continue
        output.add(replace(page, trace=str(place), code=found.code))
        if fault:
            output.later(fault)


def _kept(source: Path, wanted: Path | None, first: bool) -> tuple[Path, str]:
    """Where the trace lies, and why it does not lie where it was wanted ("": it does)."""
    if wanted is None:
        return source, ""
    place = _of_first(wanted) if first else wanted
    read = open if place.name.endswith(".gz") else gzip.open
    try:
        with read(source, "rb") as trace, place.open("wb") as file:
            shutil.copyfileobj(trace, file)
    except OSError as fault:
        with suppress(OSError):
            place.unlink(missing_ok=True)
        return source, f"{place} cannot be written: {fault.strerror or fault}; the trace is {source}"
    return place, ""


def _of_first(wanted: Path) -> Path:
    """x.trace.json.gz -> x.first.trace.json.gz"""
    name = wanted.name
    ending = next(one for one in (".trace.json.gz", ".trace.json", *_ENDINGS) if name.endswith(one))
    return wanted.with_name(f"{name.removesuffix(ending)}.first{ending}")


def _place(wanted: str | None) -> Path | None:
    """Whole, since measuring changes to another folder. Raises WrongUse before anything is measured."""
    if wanted is None:
        return None
    place = Path(wanted).absolute()
    if not wanted.endswith(_ENDINGS):
        raise WrongUse(f"--trace {wanted}: a trace's name ends in .json.gz (or .json)")
    if place.is_dir() or not place.parent.is_dir():
        raise WrongUse(f"--trace {wanted}: there is no folder {Path(wanted).parent}")
    return place
