"""The head and the totals of a profile, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..trace.operators import operator_calls
from ..trace.profiler_cost import UNDETERMINED
from . import figures
from .profile_page import Page
from .table import Style

_NS = 1e-9
#: Causes below this share of the idle time are not told one by one.
_LITTLE = 0.005
#: Bytes below which a rate says how long a copy takes to start, and nothing of its bandwidth.
_RATE = 1 << 20


def profiled(page: Page) -> str:
    """What stands beside every profiled figure."""
    if page.analysis.doubtful:
        return f"profiled: the profiler's cost {UNDETERMINED}"
    if page.overhead is None:
        return "profiled"
    return f"profiled: {page.overhead:.2f} x the latency without the profiler"


def head(page: Page, style: Style) -> Iterator[str]:
    """What was profiled, and what is wrong with the trace."""
    what = "the first call of a process" if page.first else _steps(page)
    code = f" of {page.code}" if page.code else ""
    yield from style.wrapped(figures.printable(f"{page.name}{code}: {what}"))
    for label, text in (("device", _device(page)), ("cost", _cost(page)), ("trace", _trace(page))):
        if text:
            yield from style.wrapped(figures.printable(text), f"  {label:<8}")
    if page.rank is not None:
        rank, size = page.rank
        yield f"  rank    {rank}" + (f" of {size}" if size is not None else "")
    totals = page.analysis.totals
    for fault in totals["faults"]:
        yield from style.wrapped(figures.printable(fault), "  fault: ")
    for note in page.notes:
        yield from style.wrapped(figures.printable(note), "  note: ")


def _steps(page: Page) -> str:
    if not page.steps:
        return "a trace without marked steps"
    return figures.count(page.steps, "profiled call" if page.latency is not None else "profiled step")


def _device(page: Page) -> str:
    trace = page.analysis.trace
    if not len(trace.device):
        return f"{page.device or 'none'}: the trace has no rows of one, so only the host's side can be told"
    names = page.devices
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    if page.device and not any("(" in name for name in names):
        shown = page.device
    streams = figures.count(page.analysis.totals["streams"], "stream")
    kind = {"hip": "HIP", "cuda": "CUDA"}.get(trace.flavour, "a runtime that the file does not name")
    return f"{shown}, {streams}, {kind}"


def _cost(page: Page) -> str:
    parts = (
        []
        if page.step is None
        else [f"{figures.quantity(page.step, 'seconds')} a profiled step (the median)"]
    )
    if page.overhead is not None and page.latency is not None:
        latency = figures.quantity(page.latency, "seconds")
        parts.append(f"{page.overhead:.2f} x the latency without the profiler ({latency})")
    elif page.analysis.doubtful:
        parts.append(f"how much of a time is the profiler's own {UNDETERMINED}")
    else:
        why = "a first call has nothing to compare with" if page.first else "the trace does not tell it"
        parts.append(f"how much of a time is the profiler's own is not known: {why}")
    return ", ".join(parts)


def _trace(page: Page) -> str:
    made_now = page.latency is not None or page.first
    return f"{page.trace} (https://ui.perfetto.dev opens it)" if page.trace and made_now else ""


def totals(page: Page, style: Style) -> Iterator[str]:
    """Kernels, busy and idle time, copies by direction, synchronisations, launches; each also a step."""
    a_step = f", and of one of its {page.steps} steps" if page.steps > 1 else ""
    yield from style.wrapped(f"totals of the trace{a_step} ({profiled(page)})")
    lines: list[tuple[str, str]] = []
    if len(page.analysis.trace.device):
        lines += [
            ("kernels", _kernels(page)),
            ("device", _busy(page)),
            ("idle", _idle(page)),
            ("overlap", _overlap(page)),
            *_copies(page),
        ]
    else:
        lines.append(("device", f"not known: {page.analysis.totals['missing']['busy_time']}"))
        operators = page.analysis.operators
        calls, own = operator_calls(page.analysis), sum(one.self_cpu for one in operators)
        if calls:
            lines.append(
                ("operators", f"{_each(page, calls)} calls, {_each(page, own * _NS, 'seconds')} of the host")
            )
    lines += [("syncs", _syncs(page)), ("launches", _launches(page))]
    for label, text in lines:
        if text:
            yield from style.wrapped(text, f"  {label:<13}")


def _each(page: Page, value: float, unit: str = "count") -> str:
    """`120 (12 a step)`."""
    whole = f"{value:,.0f}" if unit == "count" else figures.quantity(value, unit)
    if page.steps < 2:
        return whole
    each = value / page.steps
    shown = f"{each:g}" if unit == "count" and each == int(each) else figures.quantity(each, unit)
    return f"{whole} ({shown} a step)"


def _kernels(page: Page) -> str:
    found = page.analysis.totals
    return f"{_each(page, found['kernel_count'])}, {_each(page, found['kernel_time'], 'seconds')} summed"


def _busy(page: Page) -> str:
    found = page.analysis.totals
    span = figures.quantity(found["span"], "seconds")
    return f"busy {_each(page, found['busy_time'], 'seconds')} of {span} from its first row to its last"


def _idle(page: Page) -> str:
    share, causes = page.idle
    if share is None:
        return f"not known: {page.analysis.totals['missing'].get('idle_share', 'no row takes time')}"
    idle = sum(causes.values())
    told = sorted(causes.items(), key=lambda one: -one[1])
    parts = [f"{cause} {_share(time / idle)}" for cause, time in told if idle and time > _LITTLE * idle]
    where = " within the calls" if page.calls is not None else ""
    return _share(share) + where + (f"; of that {', '.join(parts)}" if parts else "")


def _share(value: float) -> str:
    return figures.quantity(value, figures.SHARE)


def _overlap(page: Page) -> str:
    found = page.analysis.totals
    if found["streams"] < 2 or found["overlap_share"] is None:
        return ""
    each = page.analysis.activities
    copying, hidden = sum(one.copying for one in each), sum(one.hidden for one in each)
    more = f"; {_share(hidden / copying)} of the time of copies has a kernel beside it" if copying else ""
    return f"two streams or more at once in {_share(found['overlap_share'])} of the busy time{more}"


def _copies(page: Page) -> Iterator[tuple[str, str]]:
    found = page.analysis.totals
    if not found["copies"]:
        yield "copies", "none"
    for direction, one in found["copies"].items():
        if one["bytes"] is None:
            size = f"bytes not known: {found['missing'][f'copies.{direction}.bytes']}"
        else:
            rate = one["bytes"] / one["seconds"] if one["seconds"] and one["bytes"] >= _RATE else None
            size = _each(page, one["bytes"], "bytes")
            size += f", {figures.quantity(rate, 'bytes')}/s" if rate else ""
        groups = [group for group in page.analysis.copies if group.direction == direction]
        blocking = sum(group.blocking for group in groups)
        pageable = sum(group.pageable or 0 for group in groups)
        more = [f"{blocking} waited for"] if blocking else []
        more += [f"{pageable} of pageable memory"] if pageable else []
        asked = Counter({group.api_direction: group.count for group in groups if group.api_direction})
        more += [f"{count} of them by a call that says {word}" for word, count in asked.items()]
        time = figures.quantity(one["seconds"], "seconds")
        yield f"copies {direction}", ", ".join([_each(page, one["count"]), size, time, *more])


def _syncs(page: Page) -> str:
    found = page.analysis.totals
    if found["sync_count"] is None:
        return f"not known: {found['missing']['sync_count']}"
    own = sum(one.count for one in page.analysis.syncs if one.own)
    theirs = Counter[str]()
    for one in page.analysis.syncs:
        if not one.own:
            theirs[one.kind] += one.count
    parts = [f"{count} {_KINDS[kind]}" for kind, count in theirs.most_common()]
    told = f"{_each(page, sum(theirs.values()))}" + (f": {', '.join(parts)}" if parts else "")
    return told + (f"; beside them {own} of the profiler's or the harness's own" if own else "")


_KINDS = {
    "device": "for the whole device",
    "stream": "for a stream",
    "event": "for an event",
    "copy": "in a copy that blocks",
}


def _launches(page: Page) -> str:
    trace = page.analysis.trace
    if not len(trace.device):
        return ""
    found = page.analysis.launches
    if found.delay_median is None or found.delay_p95 is None:
        return f"not known: {found.missing}"
    told = (
        f"{_time(found.delay_median)} from a call to the start of its row (95 %: below {_time(found.delay_p95)}), "
        f"{found.depth_median} rows queued (at most {found.depth_max})"
    )
    if found.launch_bound_share is not None:
        told += f"; launch-bound in {_share(found.launch_bound_share)} of the device's span"
    return told


def _time(nanoseconds: float) -> str:
    return figures.quantity(nanoseconds * _NS, "seconds")
