"""The page's timeline as text: what it shows in sentences and as a table, and the places that the script fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import units
from .analysis import Analysis
from .operators import operator_calls
from .picture_texts import Texts, fill
from .report_html_head import grouped, safe
from .waits import CAUSES


def timeline(analysis: Analysis, data: dict[str, Any], overview: str, texts: Texts) -> str:
    """data: of `picture_data.picture`. overview: an SVG for browsers without JavaScript."""
    if not data["lanes"]:
        body = f'<p class="scope">{safe(texts["no_rows"])}</p>'
    else:
        body = (
            f'<p class="scope" id="summary">{safe(" ".join(summary(analysis, data, texts)))}</p>'
            f"<noscript><p>{safe(texts['no_script'])}</p>{overview}</noscript>"
            f'<div id="toolbar" class="toolbar"></div>'
            f'<div id="timeline" class="timeline" tabindex="0" role="application" '
            f'aria-roledescription="{safe(texts["timeline_role"])}" aria-label="{safe(texts["timeline_label"])}" '
            f'aria-describedby="summary keys">'
            '<canvas id="overview" class="overview"></canvas><canvas id="ruler" class="ruler"></canvas>'
            '<div id="scroll" class="scroll"><div id="labels" class="labels"></div><canvas id="lanes"></canvas></div>'
            '<div id="tip" class="tip" role="tooltip" hidden></div></div>'
            f'<div id="details" class="details" aria-live="polite">{safe(texts["nothing_chosen"])}</div>'
            '<div id="legend" class="legend"></div>'
            f'<p id="keys" class="scope">{safe(texts["keys"])}</p>{_lanes(data, texts)}'
        )
    return (
        f'<section aria-labelledby="timeline-title"><h2 id="timeline-title">{safe(texts["timeline"])}</h2>'
        f"{body}</section>"
    )


def summary(analysis: Analysis, data: dict[str, Any], texts: Texts) -> list[str]:
    """What the timeline shows, in sentences."""
    begin, end = data["span"]
    span = units.time(end - begin)
    steps = len(data["steps"])
    found = [fill(texts["summary_steps" if steps else "summary_span"], steps=steps, span=span)]
    if data["left_out"]:
        windows = units.time(sum(last - first for first, last in data["windows"]))
        counts = {"count": grouped(data["left_out"]), "rows": grouped(data["rows"])}
        found.append(fill(texts["left_out"], windows=windows, span=span, **counts))
    trace = analysis.trace
    if len(trace.operators) or len(trace.calls):
        found.append(
            fill(
                texts["summary_host"],
                threads=len({lane["group"] for lane in data["lanes"] if lane["kind"] != "stream"}),
                operators=grouped(operator_calls(analysis)),
                calls=grouped(len(trace.calls)),
            )
        )
    found += _devices(analysis, texts)
    causes = _causes(analysis, texts)
    if causes:
        found.append(fill(texts["summary_gaps"], causes="; ".join(causes)))
    hidden = sum(lane["hidden"] for lane in data["lanes"])
    if hidden:
        found.append(fill(texts["hidden_levels"], count=grouped(hidden)))
    return found


def _devices(analysis: Analysis, texts: Texts) -> list[str]:
    found = []
    for one in analysis.activities:
        kinds = analysis.trace.device.kind[analysis.trace.on(one.device)]
        found.append(
            fill(
                texts["summary_device"],
                device=one.device,
                busy=units.time(one.busy_time),
                share=units.share(one.busy_time / one.span) if one.span else "-",
                span=units.time(one.span),
                kernels=grouped(int((kinds == 0).sum())),
                copies=grouped(int((kinds == 1).sum())),
                streams=len(one.lanes),
            )
        )
    return found or [texts["summary_no_device"]]


def _causes(analysis: Analysis, texts: Texts) -> list[str]:
    """Idle time by cause, the most first."""
    if not len(analysis.trace.device):
        return []
    gaps = analysis.gaps
    count = np.bincount(gaps.cause, minlength=len(CAUSES))
    time = np.bincount(gaps.cause, gaps.length, minlength=len(CAUSES))
    return [
        fill(
            texts["summary_gap"],
            cause=texts[f"cause_{CAUSES[cause]}"],
            time=units.time(time[cause]),
            count=grouped(int(count[cause])),
        )
        for cause in np.argsort(-time, kind="stable").tolist()
        if count[cause]
    ]


def _lanes(data: dict[str, Any], texts: Texts) -> str:
    shown = sum(last - first for first, last in data["windows"])
    head = "".join(
        f'<th scope="col">{safe(texts[key])}</th>'
        for key in ("lane", "lane_rows", "lane_busy", "lane_share", "lane_longest")
    )
    rows = []
    for lane in data["lanes"]:
        longest = data["names"][lane["longest"]]
        cells = (
            grouped(len(lane["s"])),
            units.time(lane["busy"]),
            units.share(lane["busy"] / shown),
            f"{data['short'].get(str(lane['longest']), longest)[:100]} ({units.time(max(lane['d']))})",
        )
        rows.append(
            f'<tr><th scope="row"><bdi>{safe(lane_label(lane, texts))}</bdi></th>'
            + "".join(f"<td><bdi>{safe(cell)}</bdi></td>" for cell in cells)
            + "</tr>"
        )
    return (
        f'<details class="lanes-table"><summary>{safe(texts["lanes_table"])}</summary>'
        f'<div class="sideways" tabindex="0" role="region" aria-label="{safe(texts["lanes_table"])}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def lane_label(lane: dict[str, Any], texts: Texts) -> str:
    group = fill(texts["group_device" if lane["kind"] == "stream" else "group_thread"], name=lane["group"])
    return f"{group}, {fill(texts['lane_' + lane['kind']], name=lane['label'])}"
