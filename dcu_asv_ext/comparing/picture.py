"""A confidence interval of a ratio as one line of text, on a logarithmic axis that all rows share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..stats.verdicts import Comparison


@dataclass(frozen=True)
class Glyphs:
    outside: str
    margin: str
    one: str
    crossed: str
    line: str
    left: str
    right: str
    point: str
    beyond_left: str
    beyond_right: str


UNICODE = Glyphs("·", "░", "│", "┼", "─", "├", "┤", "●", "◀", "▶")
ASCII = Glyphs(".", ":", "|", "+", "-", "[", "]", "o", "<", ">")

#: Ratios that an axis may end at; what lies beyond the last is drawn as an arrow.
_ENDS = (1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0)
#: Share of the interval ends that have to lie on the axis: one wild row must not flatten the others.
_ON_AXIS = 0.8


def glyphs_for(encoding: str | None) -> Glyphs:
    """ASCII where the stream's encoding has not all the letters of the pictures."""
    try:
        "".join(vars(UNICODE).values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def axis_end(comparisons: Iterable[Comparison], least: float = 1.1) -> float:
    """The ratio at the right end of the common axis (its inverse is at the left end)."""
    away = sorted(
        abs(math.log(value))
        for one in comparisons
        for value in (one.ci_low, one.ci_high)
        if value > 0 and math.isfinite(value)
    )
    wanted = math.exp(away[math.ceil(_ON_AXIS * len(away)) - 1]) if away else 1.0
    return next((end for end in _ENDS if end >= max(wanted, least)), _ENDS[-1])


@dataclass(frozen=True)
class Axis:
    """end: ratio at the right end. margin: ratio up to which a change does not count. width: columns, odd."""

    end: float
    margin: float
    width: int
    glyphs: Glyphs = UNICODE

    @property
    def centre(self) -> int:
        return self.width // 2

    def column(self, value: float) -> int:
        """Where a ratio lies; -1 and `width` for what lies beyond the ends."""
        if not value > 0:
            return -1
        if math.isinf(value):
            return self.width
        place = round(self.centre * (1 + math.log(value) / math.log(self.end)))
        return min(max(place, -1), self.width)

    def draw(self, low: float, value: float, high: float) -> str:
        """The interval and the ratio in it; empty where the ratio is no number."""
        if math.isnan(value):
            return ""
        shown = self._ground()
        glyphs = self.glyphs
        if not (math.isnan(low) or math.isnan(high)):
            first, last = self.column(low), self.column(high)
            for place in range(max(first, 0), min(last, self.width - 1) + 1):
                shown[place] = glyphs.crossed if place == self.centre else glyphs.line
            self._put(shown, first, glyphs.left)
            self._put(shown, last, glyphs.right)
        self._put(shown, self.column(value), glyphs.point)
        return "".join(shown)

    def _ground(self) -> list[str]:
        shown = [self.glyphs.outside] * self.width
        reach = self.column(self.margin) - self.centre
        for place in range(self.centre - reach, self.centre + reach + 1):
            if 0 <= place < self.width:
                shown[place] = self.glyphs.margin
        shown[self.centre] = self.glyphs.one
        return shown

    def _put(self, shown: list[str], place: int, glyph: str) -> None:
        if place < 0:
            shown[0] = self.glyphs.beyond_left
        elif place >= self.width:
            shown[-1] = self.glyphs.beyond_right
        else:
            shown[place] = glyph

    def scale(self) -> str:
        """The axis's heading: the ratios at its ends and at its centre."""
        left, right = f"{1 / self.end:.2g}", f"{self.end:g}"
        room = self.width - len(left) - len(right)
        if room < 3:
            return ""
        before = max(self.centre - len(left), 1)
        return f"{left}{' ' * before}1{' ' * (room - before - 1)}{right}"
