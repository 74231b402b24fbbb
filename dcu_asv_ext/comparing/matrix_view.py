"""What of a matrix is shown to people, as text in cells: shared by the terminal's tables and by Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..evidence.matrix import VALUE, MatrixRow
from ..evidence.record import OK
from ..metrics import METRICS
from . import figures
from .matrix import Matrix
from .matrix_experiments import Experiment, listed

STATUS = "status"

#: Values of something that differs which are told in the heading, and rows that are named in a note.
_TOLD, _ROWS_NAMED = 6, 3


#: What the figures are.
LEGEND = (
    "rounds: processes x steady samples x calls per sample. Levels are medians of the rounds' medians, with the 95 % "
    "interval over the rounds."
)


@dataclass(frozen=True)
class Column:
    """rank: the columns of the highest ranks are left out first where there is no room. right: figures."""

    heading: str
    cell: Callable[[MatrixRow], str]
    rank: int = 0
    right: bool = True


@dataclass(frozen=True)
class Line:
    """params: "" where they are those of the line before. reason: why a row has no sound result."""

    row: MatrixRow
    params: str
    variant: str
    cells: Sequence[str]
    reason: str = ""

    @property
    def has_figures(self) -> bool:
        return bool(self.row.figures) or not self.reason


@dataclass(frozen=True)
class Block:
    """One benchmark. sentences: which variables differ between its rows, where that is not told for all at once."""

    benchmark: str
    lines: Sequence[Line]
    sentences: Sequence[str] = ()


@dataclass
class View:
    """summary: (what, value) of the results as a whole. everywhere: the sentence that holds for all groups of rows.
    marks: letter -> note, as the column "notes" has them. missing: metric and reason, with the rows."""

    summary: list[tuple[str, str]] = field(default_factory=list)
    everywhere: str = ""
    columns: list[Column] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    several: bool = False


def view(found: Matrix) -> View:
    made = View(_summary(found.rows))
    notes = list(dict.fromkeys(note for row in found.rows for note in row.notes))
    letters = {note: _letter(place) for place, note in enumerate(notes)}
    made.marks = {letter: note for note, letter in letters.items()}
    made.columns = _columns(found.rows, letters)
    made.several = len({row.variant for row in found.rows}) > 1
    told = {one.sentence: None for one in found.experiments if not one.part}
    if len(told) == 1:
        made.everywhere = _sentence(found.experiments[0], found.experiments)
    made.blocks = _blocks(found, made, bool(made.everywhere))
    made.missing = _missing(found.rows)
    return made


def _letter(place: int) -> str:
    """a, b, ... z, aa, ab, ..."""
    more, last = divmod(place, 26)
    return (_letter(more - 1) if more else "") + chr(ord("a") + last)


# ---- the heading


def device(row: MatrixRow) -> str:
    """`K100_AI (gfx928), dcu`."""
    name = row.device_product or ""
    name += f" ({row.device_architecture})" if row.device_architecture else ""
    return ", ".join(part for part in (name.strip(), row.device_kind) if part)


def software(row: MatrixRow) -> str:
    """`driver 6.3.8, DTK 25.04, hip 6.3.1, torch 2.4.1, Python 3.10.12`."""
    named = (
        ("driver ", row.driver),
        ("DTK ", row.dtk),
        ("", row.runtime),
        ("torch ", row.torch),
        ("Python ", row.python),
    )
    return ", ".join(f"{name}{value}" for name, value in named if value)


def _summary(rows: Sequence[MatrixRow]) -> list[tuple[str, str]]:
    names: tuple[tuple[str, Callable[[MatrixRow], str]], ...] = (
        ("commit", commit),
        ("machine", lambda row: row.machine or ""),
        ("environment", lambda row: row.env or ""),
        ("device", device),
        ("software", software),
        ("protocol", lambda row: "" if row.protocol is None else str(row.protocol)),
    )
    found = []
    for name, of in names:
        values = [one for one in dict.fromkeys(map(of, rows)) if one]
        if values and (name != "protocol" or len(values) > 1):
            more = f" and {len(values) - _TOLD} more" if len(values) > _TOLD else ""
            between = ", " if name in ("commit", "machine", "protocol") else "; "
            found.append((name, between.join(values[:_TOLD]) + more))
    return found


def commit(row: MatrixRow) -> str:
    short = (row.commit or "")[:8]
    return f"{short} with uncommitted changes" if row.dirty else short


# ---- the columns


def _columns(rows: Sequence[MatrixRow], letters: dict[str, str]) -> list[Column]:
    """Those that have something to tell."""
    every = [
        Column("kind", lambda row: row.kind or "asv's", 12, False),
        Column("device", device, 0, False),
        Column("rounds", _rounds, 5),
        Column("latency", _level("latency")),
        Column("95 %", _interval("latency"), 2, False),
        Column("device time", _level("device_time"), 1),
        Column("host", _level("host_time"), 8),
        Column("cold", _level("cold_start"), 6),
        Column("compile", _level("compile_time"), 9),
        Column("process", _level("process_wall"), 10),
        Column("allocated", _level("peak_allocated"), 3),
        Column("reserved", _level("peak_reserved"), 4),
        Column("card", _level("peak_card"), 4),
        Column("growth", _level("memory_growth"), 7),
        Column("max error", _level("max_error"), 3),
        Column("mean error", _level("mean_error"), 11),
        Column("task", _level("task_metric"), 8),
        Column("kernels", _level("kernel_count"), 9),
        Column("syncs", _level("sync_count"), 9),
        Column("idle", _level("idle_share"), 9),
        Column("asv's value", _level(VALUE)),
        Column("its 95 %", _interval(VALUE), 2, False),
        Column(STATUS, _status, 0, False),
        Column("notes", lambda row: " ".join(letters[note] for note in row.notes), 2, False),
    ]
    one_device = len({device(row) for row in rows}) < 2
    sound = all(row.status == OK for row in rows)
    left_out = {"device": one_device, STATUS: sound}
    return [
        one
        for one in every
        if not left_out.get(one.heading) and any(one.cell(row) not in ("", figures.NOTHING) for row in rows)
    ]


def _unit(name: str, row: MatrixRow) -> str:
    return (row.unit or "") if name == VALUE else METRICS[name].unit


def _level(name: str) -> Callable[[MatrixRow], str]:
    def cell(row: MatrixRow) -> str:
        one = row.figures.get(name)
        return figures.NOTHING if one is None else figures.quantity(one.median, _unit(name, row))

    return cell


def _interval(name: str) -> Callable[[MatrixRow], str]:
    def cell(row: MatrixRow) -> str:
        one = row.figures.get(name)
        return "" if one is None else figures.around(one.median, one.ci_low, one.ci_high, _unit(name, row))

    return cell


def _rounds(row: MatrixRow) -> str:
    """`5 x 40 x 8`: rounds, samples of each (the median), calls per sample where they are more than one."""
    samples = row.samples.get("latency") or row.samples.get(VALUE) or ()
    text = str(row.rounds)
    if samples:
        text += f" x {statistics.median_low(samples)}"
    batch = max(row.batch.get("latency", ()), default=1)
    return f"{text} x {batch}" if samples and batch > 1 else text


def _status(row: MatrixRow) -> str:
    return row.status.partition(":")[0].partition(" (")[0]


# ---- the rows


def _blocks(found: Matrix, made: View, told: bool) -> list[Block]:
    """told: the variables are told for all rows at once."""
    blocks: dict[str, list[Line]] = {}
    last: tuple[str, str] | None = None
    for row in found.rows:
        params = ", ".join(f"{name}={value}" for name, value in row.params.items())
        new = (row.benchmark, params) != last
        last = row.benchmark, params
        line = Line(
            row,
            figures.printable(params) if new else "",
            figures.printable(row.variant) if made.several else "",
            [figures.printable(one.cell(row)) for one in made.columns],
            "" if row.status == OK else figures.printable(row.status),
        )
        blocks.setdefault(row.benchmark, []).append(line)
    sentences = {} if told else _sentences(found)
    return [Block(name, lines, sentences.get(name, ())) for name, lines in blocks.items()]


def _sentences(found: Matrix) -> dict[str, list[str]]:
    """Of each benchmark: a sentence, with the parameters it is of where not all have the same."""
    groups: dict[str, dict[str, list[Experiment]]] = {}
    for one in found.experiments:
        if not one.part:
            sentence = _sentence(one, found.experiments)
            groups.setdefault(found.rows[one.rows[0]].benchmark, {}).setdefault(sentence, []).append(one)
    return {
        benchmark: [
            sentence if len(same) == 1 else f"{'; '.join(map(_of_params, which))}: {sentence}"
            for sentence, which in same.items()
        ]
        for benchmark, same in groups.items()
    }


def _of_params(one: Experiment) -> str:
    return ", ".join(f"{name}={value}" for name, value in one.params.items())


def _sentence(whole: Experiment, every: Iterable[Experiment]) -> str:
    """With the parts of the group that are single-variable, and with what differs and is not held to matter."""
    text = whole.sentence
    rows = set(whole.rows)
    parts = [one for one in every if one.part and set(one.rows) <= rows]
    counted: dict[str, list[int]] = {}
    for one in parts:
        counted.setdefault(next(iter(one.variables)), []).append(len(one.rows))
    told = [
        f"{name} alone in {figures.count(len(sizes), 'set')} of {_sizes(sizes)} rows"
        for name, sizes in counted.items()
    ]
    text += f"; {listed(told)}" if told else ""
    return f"{text} (for information: {listed(whole.also)} too)" if whole.also else text


def _sizes(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"


def _missing(rows: Sequence[MatrixRow]) -> list[str]:
    """`device_time: the CPU has no device events (12 rows)`."""
    found: dict[tuple[str, str], list[MatrixRow]] = {}
    for row in rows:
        for name, reason in row.missing.items():
            if reason != row.status:  # which the row tells itself
                found.setdefault((name, reason), []).append(row)
    return [f"{name}: {reason} ({_which(those, rows)})" for (name, reason), those in found.items()]


def _which(those: Sequence[MatrixRow], every: Sequence[MatrixRow]) -> str:
    if len(those) == len(every):
        return "all rows"
    names = list(dict.fromkeys(row.benchmark for row in those))
    counted = figures.count(len(those), "row")
    return f"{counted} of {', '.join(names)}" if len(names) <= _ROWS_NAMED else counted
