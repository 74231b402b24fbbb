"""The page's head: title, figures, findings; whole without JavaScript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from . import units
from .analysis import Analysis
from .finding import Finding
from .operators import operator_calls
from .picture_names import printable
from .picture_texts import Texts, fill
from .picture_window import extent
from .profile_pass import idle

_NS = 1e9
_OPEN_FINDINGS = 6
_CODE, _AS_CODE = re.compile("`([^`]+)`"), r"<code>\1</code>"


def safe(text: object) -> str:
    """For text and attributes of the page."""
    return escape(printable(str(text)), quote=True)


def grouped(number: int) -> str:
    """With narrow spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def header(analysis: Analysis, title: str, overhead: float | None, notes: Sequence[str], texts: Texts) -> str:
    trace, totals = analysis.trace, analysis.totals
    values = {"flavour": trace.flavour.upper(), "runtime": trace.runtime, "events": grouped(trace.events)}
    kind = "made_from_cpu" if not len(trace.device) else "made_from"
    told = [
        fill(
            texts["made_from_unknown" if trace.flavour == "unknown" and len(trace.device) else kind], **values
        )
    ]
    if len(trace.steps):
        told.append(
            fill(texts["step_told" if len(trace.steps) == 1 else "steps_told"], count=len(trace.steps))
        )
    cost = (
        texts["overhead_doubtful" if analysis.doubtful else "overhead_unknown"]
        if overhead is None
        else fill(texts["overhead_known"], ratio=f"{overhead:.2f}")
    )
    return (
        f'<header><p class="kicker">{safe(texts["subtitle"])}</p><h1><bdi>{safe(title)}</bdi></h1>'
        f'<p class="made"><bdi>{safe(", ".join(told))}</bdi></p></header>'
        f'<section aria-labelledby="figures-title"><h2 id="figures-title">{safe(texts["figures"])}</h2>'
        f'<p class="scope">{safe(texts["figures_scope"])} {safe(cost)}</p>'
        f'<dl class="figures">{"".join(_figures(analysis, overhead, texts))}</dl>'
        f"{_told(notes, totals, trace.faults, _skewed(analysis), texts)}</section>"
    )


def _skewed(analysis: Analysis) -> bool:
    return bool(len(analysis.trace.device) and len(analysis.trace.calls) and analysis.launches.skewed)


def _figures(analysis: Analysis, overhead: float | None, texts: Texts) -> list[str]:
    totals = analysis.totals
    cost = (
        texts["profiled_doubtful" if analysis.doubtful else "profiled_unknown"]
        if overhead is None
        else fill(texts["profiled_times"], ratio=f"{overhead:.2f}")
    )

    def figure(key: str, value: str, more: str, timed: bool = False) -> str:
        below = f'<dd class="cost">{safe(cost)}</dd>' if timed else ""
        return (
            f'<div class="figure"><dt>{safe(texts[key])}</dt><dd class="value">{safe(value)}</dd>'
            f'<dd class="more">{safe(more)}</dd>{below}</div>'
        )

    if totals["kernel_count"] is None:
        return _host_figures(analysis, figure, texts)
    found = [
        figure(
            "kernels",
            grouped(totals["kernel_count"]),
            _more(texts, "kernels_more", time=_seconds(totals["kernel_time"])),
            True,
        ),
        figure(
            "busy",
            _seconds(totals["busy_time"]),
            _more(texts, "busy_more", span=_seconds(totals["span"])),
            True,
        ),
    ]
    share, causes = idle(analysis)
    if share is not None:
        key = "idle_more" if analysis.calls is None else "idle_calls_more"
        more = _more(texts, key, time=_seconds(sum(causes.values())), span=_seconds(totals["span"]))
        found.append(figure("idle", units.share(share), more, True))
    found += _launches(analysis, figure, texts)
    if totals["streams"] > len(totals["devices"]) and totals["overlap_share"] is not None:
        more = _more(texts, "overlap_more", streams=totals["streams"])
        found.append(figure("overlap", units.share(totals["overlap_share"]), more, True))
    found += _copies(totals["copies"], figure, texts)
    if totals["sync_count"] is not None:
        found.append(_syncs(analysis, figure, texts))
    return found


def _syncs(analysis: Analysis, figure: Any, texts: Texts) -> str:
    """Those of the program; the profiler's and the harness's beside them."""
    kinds, own = Counter[str](), 0
    for one in analysis.syncs:
        if one.own:
            own += one.count
        else:
            kinds[one.kind] += one.count
    told = ", ".join(f"{kind} {grouped(count)}" for kind, count in kinds.most_common())
    more = fill(texts["syncs_own"], more=told or texts["syncs_none"], count=grouped(own))
    return str(figure("syncs", grouped(sum(kinds.values())), more if own else told or texts["syncs_none"]))


def _launches(analysis: Analysis, figure: Any, texts: Texts) -> list[str]:
    if not len(analysis.trace.calls):
        return []
    launches, found = analysis.launches, []
    if launches.launch_bound_share is not None:
        found.append(
            figure("launch_bound", units.share(launches.launch_bound_share), texts["launch_bound_more"], True)
        )
    if launches.count and not launches.skewed:
        more = _more(texts, "launch_delay_more", p95=units.time(launches.delay_p95))
        found.append(figure("launch_delay", units.time(launches.delay_median), more, True))
    return found


def _copies(copies: dict[str, dict[str, Any]], figure: Any, texts: Texts) -> list[str]:
    if not copies:
        return [figure("copies", "0", texts["copies_none"])]
    told = []
    for direction, one in copies.items():
        key = "copies_untold" if one["bytes"] is None else "copies_more"
        size = "" if one["bytes"] is None else units.size(one["bytes"])
        told.append(
            f"{direction} {grouped(one['count'])}: "
            + _more(texts, key, bytes=size, time=_seconds(one["seconds"]))
        )
    total = sum(one["count"] for one in copies.values())
    return [figure("copies", grouped(total), "; ".join(told), True)]


def _host_figures(analysis: Analysis, figure: Any, texts: Texts) -> list[str]:
    begin, end = extent(analysis.trace)
    return [
        figure("operators_count", grouped(operator_calls(analysis)), texts["operators_more"]),
        figure("host_span", units.time(end - begin), texts["host_span_more"], True),
    ]


def _told(
    notes: Sequence[str], totals: dict[str, Any], faults: Sequence[str], skewed: bool, texts: Texts
) -> str:
    missing = list(dict.fromkeys(totals["missing"].values()))
    if skewed:
        missing.append(texts["skewed"])
    wrong = list(dict.fromkeys([*faults, *totals["faults"]]))
    found = "".join(f'<p class="note"><bdi>{safe(note)}</bdi></p>' for note in notes)
    for key, lines in (("faults", wrong), ("missing", missing)):
        if lines:
            items = "".join(f"<li><bdi>{safe(line)}</bdi></li>" for line in lines)
            found += f'<div class="callout {key}"><h3>{safe(texts[key])}</h3><ul>{items}</ul></div>'
    return found


def findings(found: Sequence[Finding], texts: Texts, note: str = "") -> str:
    title = f'<h2 id="findings-title">{safe(texts["findings"])}</h2>'
    title += f'<p class="scope">{safe(note)}</p>' if note else ""
    if not found:
        body = f'<p class="scope">{safe(texts["findings_none"])}</p>'
    else:
        cards = [_finding(number, one, texts) for number, one in enumerate(found, 1)]
        body = f'<p class="scope">{safe(texts["findings_rank"])}</p><ol class="findings">'
        body += "".join(cards[:_OPEN_FINDINGS]) + "</ol>"
        if len(cards) > _OPEN_FINDINGS:
            more = fill(texts["findings_more"], count=len(cards) - _OPEN_FINDINGS)
            body += (
                f"<details><summary>{safe(more)}</summary>"
                f'<ol class="findings" start="{_OPEN_FINDINGS + 1}">{"".join(cards[_OPEN_FINDINGS:])}</ol></details>'
            )
    return f'<section aria-labelledby="findings-title">{title}{body}</section>'


def _finding(number: int, one: Finding, texts: Texts) -> str:
    key = "finding_saves" if one.seconds else "finding_takes"
    gain = fill(texts[key], time=_seconds(one.seconds), share=units.share(one.share))
    label = fill(texts["finding_label"], number=number, kind=one.kind)
    tag = "" if one.end_to_end else f'<span class="tag">{safe(texts["finding_no_gain"])}</span>'
    source = f'<p class="source"><bdi>{safe(one.source)}</bdi></p>' if one.source else ""
    events = fill(texts["finding_events"], count=grouped(one.events))
    return (
        f'<li class="finding"><h3><button type="button" class="finding-go" data-finding="{number - 1}" '
        f'aria-label="{safe(label)}"><span class="badge">{number}</span> <bdi>{safe(one.kind)}</bdi></button>'
        f'<span class="gain">{safe(gain)}</span>{tag}<span class="events">{safe(events)}</span></h3>'
        f"<p><bdi>{_prose(one.text)}</bdi></p>"
        f'<p class="next"><strong>{safe(texts["finding_next"])}</strong> <bdi>{_prose(one.next_step)}</bdi></p>'
        f"{source}</li>"
    )


def _prose(text: str) -> str:
    """A sentence, with what stands in backticks as code."""
    return _CODE.sub(_AS_CODE, safe(text))


def _more(texts: Texts, key: str, **values: object) -> str:
    return fill(texts[key], **values)


def _seconds(value: float) -> str:
    return units.time(value * _NS)
