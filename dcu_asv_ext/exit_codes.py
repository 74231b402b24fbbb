"""Exit codes of every `dcu-asv` command."""

from __future__ import annotations

FINE, REGRESSED, BENCHMARK_FAILED, WRONG_USE, NOTHING_COMPARABLE, UNDECIDED = range(6)
