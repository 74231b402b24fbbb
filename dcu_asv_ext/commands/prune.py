"""`dcu-asv prune`: keep a results folder small over the years."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..evidence.thinning import RULE
from ..exit_codes import FINE, NOTHING_COMPARABLE, WRONG_USE
from .options import add_config, add_json
from .reporting import OutputError, emit, print_json

if TYPE_CHECKING:
    from ..asv_plugin.pruning import Pruned
    from ..asv_plugin.trace_keeping import Outdated

_ABOUT = f"""\
Compresses the evidence of finished commits (<stem>.evidence.jsonl becomes .evidence.jsonl.gz, which
every command reads as well), and with --thin-older-than takes the bulk out of old measurements.
asv's own files are never touched. A commit whose session is not finished, or that is being measured,
is passed over. A later `asv run` of a compressed commit makes its evidence plain again.
Traces of profiled calls go, except those of the newest commits of each machine and environment:
"dcu": {{"keep_traces": 20}} in asv.conf.json. What was read from them stays in the evidence.

the rule of thinning:
{"".join(f"  {line}" + chr(10) for line in re.findall(r".{1,92}(?:$| )", RULE))}
examples:
  dcu-asv prune --dry-run
  dcu-asv prune
  dcu-asv prune --thin-older-than 365d
"""

_AGE = re.compile(r"(\d+)\s*(d|days?|w|weeks?|y|years?)")
_DAYS = {"d": 1, "w": 7, "y": 365}
_MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description or ''}\n\n{_ABOUT}".strip()
    add = parser.add_argument
    add(
        "--thin-older-than",
        metavar="AGE",
        type=age,
        help="thin measurements older than this, such as 180d, 52w or 2y (default: none)",
    )
    add_config(parser)
    add("--machine", metavar="NAME", help="only results of this machine")
    add("--dry-run", action="store_true", help="tell what would be done, and do nothing")
    add_json(parser)


def age(given: str) -> datetime.timedelta:
    found = _AGE.fullmatch(given.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{given!r} is no age, such as 180d, 52w or 2y")
    try:
        return datetime.timedelta(days=int(found[1]) * _DAYS[found[2][0]])
    except OverflowError:
        raise argparse.ArgumentTypeError(f"{given!r} is longer than there are dates") from None


def run(options: argparse.Namespace) -> int:
    from ..asv_plugin.results import NoResults, ResultsError
    from ..asv_plugin.settings import SettingsError

    try:
        done, traces = _prune(options)
        if options.json:
            files = [asdict(one) for one in done]
            told = [{"file": one.file, "bytes": one.bytes, "kept": one.held} for one in traces]
            print_json({"dry_run": options.dry_run, "files": files, "traces": told})
        else:
            emit("\n".join([_text(done, options.dry_run), *_traces_text(traces, options.dry_run)]))
        return WRONG_USE if any(one.damaged for one in done) else FINE
    except NoResults as error:
        code, sentence = NOTHING_COMPARABLE, str(error)
    except (ResultsError, SettingsError, OutputError) as error:
        code, sentence = WRONG_USE, str(error)
    except OSError as fault:
        code, sentence = WRONG_USE, f"stopped, and nothing is lost: {fault}"
    print(f"dcu-asv prune: {sentence}", file=sys.stderr)
    return code


def _prune(options: argparse.Namespace) -> tuple[list[Pruned], list[Outdated]]:
    from ..asv_plugin.pruning import prune_file
    from ..asv_plugin.results import Project, load_config
    from ..asv_plugin.settings import settings_of
    from ..asv_plugin.trace_keeping import outdated, remove_outdated

    keep = settings_of(load_config(options.config)).keep_traces

    project = Project.open(options.config)
    names = [project.machine(options.machine)] if options.machine else project.machines()
    if not names:
        project.machine(None)  # has the sentence
    limit = None
    if options.thin_older_than is not None:
        now = datetime.datetime.now(datetime.timezone.utc)
        limit = now - min(options.thin_older_than, now - datetime.datetime.min.replace(tzinfo=now.tzinfo))
    files = [one for name in names for one in project.files(name) if one.evidence is not None]
    done = []
    for number, one in enumerate(files, 1):
        if sys.stderr.isatty():
            print(f"\r{number} of {len(files)}", end="", file=sys.stderr, flush=True)
        done.append(prune_file(one, project.benchmarks, limit, options.dry_run))
    if files and sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    old = [one for name in names for one in outdated(project.results_dir / name, keep)]
    return done, remove_outdated(old, options.dry_run)


def _text(done: list[Pruned], dry_run: bool) -> str:
    packed = [
        one for one in done if not one.kept and (one.after, one.dropped, one.thinned) != (one.before, 0, 0)
    ]
    before, after = sum(one.before for one in packed), sum(one.after for one in packed)
    would = "would be" if dry_run else "were"
    lines = [
        f"{len(packed)} of {len(done)} evidence files {would} compressed: "
        f"{before / _MIB:.2f} MiB before, {after / _MIB:.2f} MiB after"
    ]
    dropped, thinned = sum(one.dropped for one in done), sum(one.thinned for one in done)
    if dropped or thinned:
        lines.append(f"{thinned} old measurements {would} thinned, {dropped} replaced ones {would} dropped")
    lines += [f"passed over: {one.file}: {one.kept}" for one in done if one.kept]
    return "\n".join(lines)


def _traces_text(traces: list[Outdated], dry_run: bool) -> list[str]:
    gone = [one for one in traces if not one.held]
    would = "would be" if dry_run else "were"
    lines = [f"passed over: {one.file}: {one.held}" for one in traces if one.held]
    if gone:
        size = sum(one.bytes for one in gone) / _MIB
        lines.insert(0, f"traces of {len(gone)} older results {would} removed: {size:.2f} MiB")
    return lines
