"""One `dcu-asv run` from the request to its outcome: open the project, prepare both sides, measure by turns."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..asv_plugin.interleaving import Bench
from ..asv_plugin.results import Project, ResultsError
from ..asv_plugin.run_folders import new_folder
from ..comparing.deciding import HISTORY
from ..comparing.model import ResultSet
from ..stats.verdicts import EQUIVALENCE, MARGIN
from .experiment import Arm, Experiment, parse_variable, prepare
from .looks import Schedule
from .loop import Limits, Loop, Outcome
from .measured import Rule, compare

_SCHEDULE = Schedule(5, 20)


@dataclass(frozen=True)
class Request:
    """variant: as typed, none or one or two. budget: seconds."""

    names: Sequence[str] = ()
    against: str | None = None
    variant: Sequence[str] = ()
    config: str | None = None
    schedule: Schedule = _SCHEDULE
    budget: float = 600.0
    margin: float = MARGIN
    equivalence: float = EQUIVALENCE
    vary: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """folder: where the raw data lies."""

    outcome: Outcome
    folder: Path


def measure(request: Request, tell: Callable[[str], None]) -> Found:
    """tell: gets lines for the user. Changes to the configuration's folder.

    Raises ChoiceError, ComparisonError, ExperimentError, MeasuringError, ResultsError and SnapshotError.
    """
    variable = parse_variable(request.variant) if request.variant else None
    bench = Bench.open(request.config)
    past = bench.conf.results_dir
    folder = new_folder(bench.settles_in)
    bench.settle(folder)
    with _not_set(variable.name if variable is not None else None):
        found = prepare(bench, request.names, request.against, variable, dict(os.environ), tell)
        tell(found.title[0].upper() + found.title[1:])
        rule = Rule(request.margin, request.equivalence, request.vary, _history(bench, past, found))
        loop = Loop(
            Lane(found.before, found.partner),
            Lane(found.after, {name: name for name in found.partner}),
            found.partner,
            Limits(request.schedule, request.budget),
            lambda share: compare(found, rule, share),
            tell,
        )
        return Found(loop.run(), folder)


class Lane:
    """An arm of the experiment, asked for by the second arm's names of the functions."""

    def __init__(self, arm: Arm, partner: Mapping[str, str]) -> None:
        self.arm = arm
        self.partner = partner
        self.back = {theirs: ours for ours, theirs in partner.items()}

    def measure(self, functions: Collection[str]) -> set[str]:
        chosen = {self.partner[one] for one in functions}
        selection = {name: indices for name, indices in self.arm.selection.items() if name in chosen}
        return {self.back[name] for name in self.arm.side.measure(selection)}


@contextmanager
def _not_set(name: str | None) -> Iterator[None]:
    """Each side sets the variable as it needs it, and "not set" must not mean the user's own value."""
    earlier = os.environ.pop(name, None) if name is not None else None
    try:
        yield
    finally:
        if name is not None and earlier is not None:
            os.environ[name] = earlier


def _history(bench: Bench, results_dir: str, experiment: Experiment) -> Sequence[ResultSet]:
    """Earlier results of the same functions on this machine: their noise is known already."""
    project = Project(Path.cwd(), Path.cwd() / results_dir, list(bench.conf.branches), bench.repo)
    try:
        return project.history(
            bench.machine["machine"], match=lambda key: key.benchmark in experiment.partner, newest=HISTORY
        )
    except ResultsError:
        return ()  # nothing was measured on this machine before
