"""Where traces of real cards lie, for tests that read them where they are there: $DCU_ASV_DATA/traces."""

from __future__ import annotations

import os
from pathlib import Path

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
TRACES = Path(os.environ.get("DCU_ASV_DATA") or _BESIDE) / "traces"
