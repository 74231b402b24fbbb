"""Whether steps in one direction are steps, or a drift that a straight line describes as well."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .boundary import CLIP, Array, independent_share, noises


def steps_beat_line(segments: Sequence[Array]) -> bool:
    """Whether constant segments, in order, fit better than one straight line through all of their values.

    Compared are log likelihoods under normal noise; every step beyond the first, which has as many parameters as
    the line, must gain ln(n) more (Schwarz 1978, two parameters a step).
    """
    values = np.concatenate(segments)
    level = np.concatenate([np.full(len(segment), np.median(segment)) for segment in segments])
    residual = values - level
    _, wide = noises(residual, len(segments))
    np.clip(residual, -CLIP * wide, CLIP * wide, out=residual)
    begin = 0
    for segment in segments:
        part = slice(begin, begin + len(segment))
        shift = residual[part].sum() / len(segment)
        residual[part] -= shift
        level[part] += shift
        begin = part.stop
    count = len(values)
    place = np.arange(count) - (count - 1) / 2.0
    around = level + residual
    around -= around.sum() / count
    from_line = around - place * (float(place @ around) / float(place @ place))
    squares = float(residual @ residual)
    if squares <= 0.0:
        return True
    gain = (float(from_line @ from_line) - squares) / (2.0 * squares / count) * independent_share(residual)
    return gain > (len(segments) - 2) * math.log(count)
