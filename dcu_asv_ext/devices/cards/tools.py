"""Finding hy-smi or rocm-smi and asking it: within a time limit, and never with a flag that sets something."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .smi import LONGEST_TEXT, SmiText, read_smi
from .smi_pids import CardProcess, parse_processes

#: Seconds. A current hy-smi answers a query in 0.05 s, or in 1 s where it measures; rocm-smi of DTK 22.10 in 1.5 s.
TIME_LIMIT = 5.0

#: The tools in order, and where their vendors put them when they are not on the PATH.
TOOLS = {
    "hy-smi": ("/opt/hyhal/bin", "/usr/local/hyhal/bin"),
    "rocm-smi": ("/opt/dtk/bin", "/opt/rocm/bin"),
}

#: All that a tool is ever called with: each of these only shows.
QUERIES = frozenset(
    ("--json", "--csv", "--showid", "--showvbios", "--showdriverversion", "--showproductname", "--showbus")
    + ("--showtemp", "--showpower", "--showmaxpower", "--showuse", "--showmemuse", "--showmemavailable")
    + ("--showhcuutil", "--showvoltage", "--showclocks", "--showclkfrq", "--showfdr", "--showperflevel")
    + ("--showpids", "--showtoponuma", "--healthcheck")
)
_VALUES: dict[str, Callable[[str], bool]] = {
    "--showmeminfo": ("vram", "vis_vram", "gtt").__contains__,
    "-d": lambda text: text.isascii() and text.isdecimal() and len(text) <= 3,
}
_POWER = "--showpower"

_NOT_FOUND = "no management tool: neither hy-smi nor rocm-smi was found"
_UNKNOWN_LIST = "unknown: the tool printed a list of processes that this version does not know"
_LAST_WAIT = 1.0


@dataclass(frozen=True)
class ToolText:
    """What a tool printed.

    text: "" where there is none. reason: why not, or (with a text) what speaks against it, as its exit status;
    rocm-smi ends with one where a single query of several failed, and the rest of its text is good.
    in_time: False where it was ended at the time limit.
    """

    text: str
    reason: str | None = None
    in_time: bool = True


def find_tool(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> Path | None:
    """The tool to ask: hy-smi on the PATH, at its vendor's places, then rocm-smi; None where there is none.

    root: the folders of the PATH are looked for under it as well.
    """
    path = (os.environ if environ is None else environ).get("PATH", os.defpath)
    # A relative folder of the PATH could be anybody's.
    folders = [folder for folder in path.split(os.pathsep) if folder.startswith("/")]
    for name, places in TOOLS.items():
        for folder in (*folders, *places):
            tool = root / folder.lstrip("/") / name
            if tool.is_file() and os.access(tool, os.X_OK):
                return tool
    return None


def ask_cards(tool: Path | None, *queries: str, limit: float = TIME_LIMIT) -> SmiText:
    """What the tool tells of its cards. Without any, the notes say why.

    tool: None where none was found. queries: as in `run_tool`. Some releases refuse --showpower: asked again without.
    Raises ValueError for a query that is not in QUERIES; never for what the tool does.
    """
    _check(queries)
    if tool is None:
        return SmiText((), (_NOT_FOUND,))
    answer = _cards(run_tool(tool, *queries, limit=limit))
    if answer.told.cards or _POWER not in queries or not answer.in_time:
        return answer.told
    others = [query for query in queries if query != _POWER]
    again = _cards(run_tool(tool, *others, limit=limit)).told
    if not again.cards:
        return answer.told
    return SmiText(again.cards, (*again.notes, f"{tool.name} does not answer {_POWER}"), again.driver)


@dataclass(frozen=True)
class _Answer:
    told: SmiText
    in_time: bool


def _cards(printed: ToolText) -> _Answer:
    told = read_smi(printed.text) if printed.text else SmiText((), ())
    reasons = (printed.reason,) if printed.reason else ()
    return _Answer(SmiText(told.cards, (*reasons, *told.notes), told.driver), printed.in_time)


def ask_processes(
    tool: Path | None, limit: float = TIME_LIMIT
) -> tuple[list[CardProcess] | None, str | None]:
    """The processes on the cards, or None and why they are not known."""
    if tool is None:
        return None, _NOT_FOUND
    printed = run_tool(tool, "--showpids", limit=limit)
    found = parse_processes(printed.text) if printed.text else None
    if found is None:
        return None, printed.reason or _UNKNOWN_LIST
    return found, None


def run_tool(tool: Path, *queries: str, limit: float = TIME_LIMIT) -> ToolText:
    """Calls the tool and waits for its answer at most `limit` seconds; then it and all that it started are killed.

    queries: of QUERIES; `--showmeminfo` with one or more of vram, vis_vram and gtt behind it; `-d` with card numbers.
    Raises ValueError for anything else; never for what the tool does.
    """
    _check(queries)
    try:
        process = subprocess.Popen(
            [str(tool), *queries],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
    except OSError as error:
        return ToolText("", f"{tool.name} could not be started: {error.strerror}")
    try:
        printed, status = _wait(process, time.monotonic() + limit)
    except subprocess.TimeoutExpired:
        _kill(process)
        return ToolText("", f"{tool.name} did not answer within {limit:g} s", in_time=False)
    except BaseException:
        _kill(process)
        raise
    if status is None:
        _kill(process)
        return ToolText("", f"{tool.name} printed more than {LONGEST_TEXT // 2**20} MiB")
    return _told(tool.name, printed.decode("utf-8", errors="replace"), status)


def _told(name: str, text: str, status: int) -> ToolText:
    reasons = [] if text.strip() else ["printed nothing"]
    if status > 0:
        reasons.append(f"ended with exit status {status}")
    elif status < 0:
        reasons.append(f"was ended by signal {-status}")
    return ToolText(text if text.strip() else "", f"{name} {' and '.join(reasons)}" if reasons else None)


def _check(queries: Sequence[str]) -> None:
    rest = list(queries)
    while rest:
        query = rest.pop(0)
        fits = _VALUES.get(query)
        if fits is None and query not in QUERIES:
            raise ValueError(
                f"{query!r} is not a query that only shows: a management tool is not called with it"
            )
        if fits is not None and not (rest and fits(rest[0])):
            raise ValueError(f"{query} needs a value that it knows behind it")
        while fits is not None and rest and fits(rest[0]):
            rest.pop(0)


def _environment() -> dict[str, str]:
    """In English, and as UTF-8 also from an old Python, which would fail at "°C". rocm-smi is a script of the
    system's Python, so this one's paths are kept from it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LANGUAGE", "PYTHONHOME", "PYTHONPATH")
    }
    return {**kept, "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "utf-8:replace"}


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, int | None]:
    """What is printed up to the end, and the exit status; None where it printed too much.

    Raises TimeoutExpired at the deadline.
    """
    printed = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(_output(process), selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, 0)
            if not ready.select(left):
                continue
            piece = os.read(_output(process).fileno(), 2**16)
            if not piece:
                break
            printed += piece
            if len(printed) > LONGEST_TEXT:
                return b"", None
    status = process.wait(max(0.0, deadline - time.monotonic()))
    _output(process).close()
    return bytes(printed), status


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The tool's whole group. A tool that hangs inside the driver cannot die: it is left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _output(process).close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WAIT)
