"""A small static picture of a trace: the same lanes without a script, for pages and documents that embed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from . import units
from .analysis import Analysis
from .finding import Finding
from .picture_data import ROLES, picture
from .picture_lanes import pack
from .picture_names import printable, shortened
from .picture_texts import ENGLISH, Texts, fill
from .waits import CAUSES

#: Of the picture's own: constant, so that a page's security policy can name it.
STYLE = (
    ".p-back{fill:#fff}.p-text{fill:#1b1f24;font:11px sans-serif}.p-band{fill:#f1f3f6}.p-operator{fill:#8fa3bd}"
    ".p-span{fill:#6b7f99}.p-call,.p-memory_call{fill:#8a93a0}.p-launch{fill:#55606e}.p-sync{fill:#b3261e}"
    ".p-copy_call,.p-copy{fill:#8a5200}.p-kernel{fill:#1f5fa8}.p-fill{fill:#6a5000}.p-gap{fill:#c2410c}"
    ".p-wait{fill:#b3261e}.p-quiet{fill:#9aa3ae}.p-finding{fill:#7a2f9e}.p-line{fill:#dfe3e8}"
    ".p-ink{fill:#fff;font:10px sans-serif}.p-operator+.p-ink,.p-quiet+.p-ink{fill:#10141a}"
    "@media (prefers-color-scheme:dark){.p-back{fill:#14181d}.p-text{fill:#e6e9ed}.p-band{fill:#1e242b}"
    ".p-operator{fill:#5d7391}.p-span{fill:#8398b5}.p-call,.p-memory_call{fill:#78828f}.p-launch{fill:#a5b0bf}"
    ".p-sync,.p-wait{fill:#ff8a80}.p-copy_call,.p-copy{fill:#f0b070}.p-kernel{fill:#7fb2ea}.p-fill{fill:#d8c26a}"
    ".p-gap{fill:#ff9d5c}.p-quiet{fill:#68727e}.p-finding{fill:#d7a3f0}"
    ".p-line{fill:#323a44}.p-ink{fill:#10141a}.p-operator+.p-ink,.p-quiet+.p-ink{fill:#fff}}"
)
_GUTTER, _TOP, _ROW, _SPACE = 170, 36, 14, 4
_MARKS, _TEXT_FROM, _LETTER = 5, 40, 5.5
_MOST_LEVELS = 4
_CAUSES = {"between rows": "p-quiet", "unknown": "p-quiet", "host late": "p-gap"}


def render_svg(analysis: Analysis, *, width: int = 960, texts: Texts = ENGLISH, title: str = "") -> str:
    """An overview: steps, findings, each lane with its first levels, and the gaps by cause. Rows that are too short
    to be told apart are drawn as one. It loads nothing, has no script, and follows a dark or light scheme."""
    return svg(picture(analysis), analysis.findings, width, texts, title or texts["timeline_label"])


def svg(data: dict[str, Any], findings: Sequence[Finding], width: int, texts: Texts, title: str) -> str:
    """`render_svg` of what `picture` has found."""
    drawing = _Drawing(data, width, texts)
    drawing.steps()
    drawing.axis()
    drawing.findings(findings)
    for lane in data["lanes"]:
        drawing.rows(lane)
    for device, gaps in data["gaps"].items():
        drawing.gaps(device, gaps)
    return drawing.finish(title)


def _safe(text: str) -> str:
    return escape(printable(text))


class _Drawing:
    def __init__(self, data: dict[str, Any], width: int, texts: Texts) -> None:
        self.data, self.width, self.texts = data, width, texts
        self.begin: int = data["span"][0]
        self.scale = (width - _GUTTER - 8) / int(data["span"][1] - self.begin)
        self.at = _TOP
        self.parts: list[str] = []

    def x(self, time: float) -> float:
        return _GUTTER + (time - self.begin) * self.scale

    def lane(self, label: str) -> None:
        text = _safe(shortened(label, 28))
        self.parts.append(f'<text class="p-text" x="4" y="{self.at + 11}">{text}</text>')

    def next(self, levels: int) -> None:
        self.at += levels * _ROW + _SPACE

    def box(self, begin: float, end: float, level: int, kind: str, name: str = "", told: str = "") -> None:
        """name: what is written in it, if there is room. told: what it tells when it is pointed at."""
        x, wide = self.x(begin), max(0.75, (end - begin) * self.scale)
        close = f"><title>{_safe(told)}</title></rect>" if told else "/>"
        y = self.at + level * _ROW
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_ROW - 2}"{close}'
        )
        if name and wide > _TEXT_FROM:
            text = shortened(name, int((wide - 6) / _LETTER))
            self.parts.append(f'<text class="p-ink" x="{x + 3:.1f}" y="{y + 9}">{_safe(text)}</text>')

    def axis(self) -> None:
        span = int(self.data["span"][1]) - self.begin
        for part in range(_MARKS):
            x = self.x(self.begin + span * part / _MARKS)
            self.parts.append(f'<rect class="p-line" x="{x:.1f}" y="18" width="1" height="100%"/>')
            label = units.time(span * part / _MARKS)
            self.parts.append(f'<text class="p-text" x="{x + 3:.1f}" y="28">{label}</text>')

    def findings(self, findings: Sequence[Finding]) -> None:
        if not findings:
            return
        self.lane(self.texts["lane_findings"])
        order = sorted(range(len(findings)), key=lambda one: (findings[one].begin, -findings[one].end))
        begin = np.array([findings[one].begin for one in order], np.int64)
        end = np.array([findings[one].end for one in order], np.int64)
        level = pack(begin, end)
        for at, number in enumerate(order):
            if level[at] < _MOST_LEVELS:
                name = f"{number + 1} {findings[number].kind}"
                self.box(begin[at], end[at], int(level[at]), "p-finding", name, name)
        self.next(min(int(level.max()) + 1, _MOST_LEVELS))

    def steps(self) -> None:
        for number, (begin, end, label) in enumerate(self.data["steps"]):
            if number % 2 == 0:
                self.parts.append(
                    f'<rect class="p-band" x="{self.x(begin):.1f}" y="0" width="{(end - begin) * self.scale:.1f}" '
                    'height="100%"/>'
                )
            if (end - begin) * self.scale > 40:
                text = _safe(fill(self.texts["step"], number=label))
                self.parts.append(f'<text class="p-text" x="{self.x(begin) + 3:.1f}" y="14">{text}</text>')

    def rows(self, lane: dict[str, Any]) -> None:
        group = "group_device" if lane["kind"] == "stream" else "group_thread"
        label = fill(self.texts["lane_" + lane["kind"]], name=lane["label"])
        self.lane(f"{label}, {fill(self.texts[group], name=lane['group'])}")
        levels = min(lane["levels"], _MOST_LEVELS)
        names, at = self.data["names"], 0
        open_boxes: list[list[Any] | None] = [None] * levels
        for number, step in enumerate(lane["s"]):
            at += step
            level = lane["l"][number]
            if level >= levels:
                continue
            end, kind = at + lane["d"][number], f"p-{ROLES[lane['r'][number]]}"
            last = open_boxes[level]
            close = last is not None and last[2] == kind and (at - last[1]) * self.scale < 0.5
            if close and last is not None and (last[1] - last[0]) * self.scale < 2:
                last[1], last[3], last[4] = max(last[1], end), "", ""
                continue
            self._done(open_boxes, level)
            name = self.data["short"].get(str(lane["n"][number]), names[lane["n"][number]])
            open_boxes[level] = [at, end, kind, name, f"{shortened(name, 120)}, {units.time(end - at)}"]
        for level in range(levels):
            self._done(open_boxes, level)
        self.next(levels)

    def _done(self, open_boxes: list[list[Any] | None], level: int) -> None:
        box = open_boxes[level]
        if box is not None:
            self.box(box[0], box[1], level, *box[2:])

    def gaps(self, device: str, gaps: dict[str, Any]) -> None:
        self.lane(f"{self.texts['lane_gaps']}, {fill(self.texts['group_device'], name=device)}")
        at = 0
        for step, length, cause in zip(gaps["s"], gaps["d"], gaps["k"], strict=True):
            at += step
            if length * self.scale >= 0.5:
                kind = _CAUSES.get(CAUSES[cause], "p-wait")
                name = self.texts["cause_" + CAUSES[cause]]
                self.box(at, at + length, 0, kind, name, f"{name}, {units.time(length)}")
        self.next(1)

    def finish(self, title: str) -> str:
        height = self.at + 6
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img" aria-label={quoteattr(printable(title))}><style>{STYLE}</style>'
            f'<rect class="p-back" width="100%" height="100%"/>{"".join(self.parts)}</svg>'
        )
