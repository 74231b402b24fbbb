"""`asv compare` and `asv continuous` with our verdicts: asv prints its table, the rounds decide.

asv asks `_is_result_better` about the samples of two results and does not say whose they are, so the samples that it
is given are marks that know their row.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv import util
from asv.console import log
from asv.repo import NoSuchNameError, get_repo
from asv.results import get_filename, iter_results_for_machine_and_hash

from ..exit_codes import NOTHING_COMPARABLE
from .verdict_notes import asv_decided, notes
from .verdict_table import Entry, Margins, Table

if TYPE_CHECKING:
    from ..comparing.model import ResultSet
    from .settings import Settings


class NothingComparable(Exception):
    """`asv continuous` compared nothing, which must not look like "nothing changed"; the text says why."""


def _entries(given: Mapping[str, Any], number: int) -> list[Entry]:
    """What asv's table is given of a side, or would read by itself."""
    commit, found = given[f"hash_{number}"], given[f"resultset_{number}"]
    if found is None:
        return list(_stored(given["conf"], commit, given["machine"], given["env_names"]))
    return [Entry._make((*one, commit)) for one in found]


def _stored(conf: Any, commit: str, machine: str, env_names: Any) -> Iterator[Entry]:
    """The results of a commit on a machine, as asv's own table reads them."""
    for one in iter_results_for_machine_and_hash(conf.results_dir, machine, commit):
        if env_names is not None and one.env_name not in env_names:
            continue
        for name in one.get_all_result_keys():
            params = one.get_result_params(name)
            yield Entry(
                name,
                params,
                one.get_result_value(name, params),
                one.get_result_stats(name, params),
                None,
                one.benchmark_version.get(name),
                one.params["machine"],
                one.env_name,
                one.commit_hash,
            )


#: The table that asv is printing.
_TABLES: list[Table] = []


@contextmanager
def printing(table: Table) -> Iterator[None]:
    _TABLES.append(table)
    try:
        yield
    finally:
        _TABLES.pop()


def is_result_better(original: Any) -> Any:
    """For asv's `_is_result_better`, which decides a row of its table."""

    def is_result_better(a: Any, b: Any, a_ss: Any, b_ss: Any, factor: float, use_stats: bool = True) -> bool:
        if _TABLES:
            return _TABLES[-1].better(a_ss, b_ss)
        return bool(original(a, b, a_ss, b_ss, factor, use_stats))

    return is_result_better


def continuous_run(original: Any) -> Any:
    """For asv's `Continuous.run`, whose exit code is what its table found."""

    def run(cls: Any, conf: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(cls, conf, *args, **kwargs)
        except NothingComparable as fault:
            log.error(f"dcu-asv: {fault}")
            return NOTHING_COMPARABLE

    return run


def print_table(settings: Callable[[Any], Settings], original: Any) -> Any:
    """For asv's `Compare.print_table`. settings: those of a configuration."""
    signature = inspect.signature(original)

    def print_table(cls: Any, *args: Any, **kwargs: Any) -> tuple[bool, bool]:
        given = signature.bind(cls, *args, **kwargs)
        given.apply_defaults()
        return decided(original, given.arguments, settings(given.arguments["conf"]).verdict)

    return print_table


def decided(
    original: Callable[..., tuple[bool, bool]], given: Mapping[str, Any], rule: str
) -> tuple[bool, bool]:
    """asv's table with our verdicts. given: the arguments of asv's `print_table`; rule: "dcu" or "asv".

    Raises NothingComparable under `asv continuous` when no row could be compared and none failed or was fixed.
    """
    if rule == "asv" or not given["use_stats"]:
        done = original(**given)
        print(asv_decided(rule))
        return done
    conf, continuous = given["conf"], given["resultset_1"] is not None
    first, second = (_entries(given, number) for number in (1, 2))
    table = Table(Margins.of(given["factor"]), first, second)
    _decide(table, conf)
    with printing(table):
        worsened, improved = original(
            **{**given, "resultset_1": table.entries(False), "resultset_2": table.entries(True)}
        )
    print(notes(table, given["hash_1"], given["hash_2"]))
    if continuous and not (worsened or improved or table.compared):
        raise NothingComparable("nothing could be compared: see the reasons above")
    return worsened, improved


class _Files:
    """The result files of an asv project."""

    def __init__(self, conf: Any) -> None:
        from .results import Project

        self._folder = Path(conf.results_dir)
        self._project = Project(Path.cwd(), self._folder, list(conf.branches), get_repo(conf))

    def results(self, entry: Entry) -> ResultSet:
        from .results import load_file

        return load_file(self._folder / get_filename(entry.machine, entry.commit, entry.env))

    def history(self, before: ResultSet) -> Sequence[ResultSet]:
        """What was measured before a commit; on the first branch where the repository does not know the commit."""
        from ..comparing.deciding import HISTORY

        known = None
        with suppress(NoSuchNameError):
            known = self._project.repo.get_hash_from_name(before.commit)
        return self._project.history(
            before.machine, before.env, known, match=before.sides.__contains__, newest=HISTORY + 2
        )


def _decide(table: Table, conf: Any) -> None:
    from ..comparing.deciding import report
    from ..comparing.model import ComparisonError
    from .results import ResultsError

    try:
        table.decide(_Files(conf), report)
    except (ResultsError, ComparisonError) as fault:
        raise util.UserError(f"dcu-asv: {fault}") from None
