"""The one table of metrics: name, unit, direction, and which pass fills it.

Everything that lists, names or orders metrics reads this table; a new metric is one line here and a pass
that puts its raw data into the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Raised by hand whenever the way of measuring changes so that old and new figures must not be compared.
PROTOCOL = 1


@dataclass(frozen=True)
class Metric:
    """One asv series of a measured function.

    unit: asv's unit string ("seconds", "bytes") or a plain word ("count"; "share" is a part of 1).
    source: the pass whose raw data it is computed from.
    default: reported without being asked for.
    exact: as a rule the same in every round of a commit (counts, bytes of an allocator). Where it is, any change is
    real and no margin applies; where it varies after all, it is compared like a noisy one.
    better: "lower" or "higher".
    """

    name: str
    unit: str
    source: str
    label: str
    default: bool = False
    exact: bool = False
    better: str = "lower"

    @property
    def is_time(self) -> bool:
        return self.unit == "seconds"


_TABLE = (
    Metric("latency", "seconds", "latency", "end-to-end latency, synchronised", default=True),
    Metric("device_time", "seconds", "device_time", "device time between events", default=True),
    Metric("cold_start", "seconds", "cold", "first call in a fresh process", default=True),
    Metric("peak_allocated", "bytes", "memory", "peak memory allocated to tensors", default=True, exact=True),
    Metric(
        "peak_reserved", "bytes", "memory", "peak memory reserved by the allocator", default=True, exact=True
    ),
    Metric("peak_card", "bytes", "memory", "peak memory in use on the whole card"),
    Metric("memory_growth", "bytes", "memory", "memory kept by each further call"),
    Metric("max_error", "relative", "correctness", "largest error, max|out-ref| / max|ref|", default=True),
    Metric("mean_error", "relative", "correctness", "mean error, mean|out-ref| / max|ref|"),
    Metric("task_metric", "value", "correctness", "task metric returned by the check"),
    Metric("host_time", "seconds", "host_time", "time to submit the call, unsynchronised"),
    Metric("process_wall", "seconds", "process_wall", "a whole fresh process, start to exit"),
    Metric(
        "compile_time", "seconds", "cold", "compilation and extension builds up to the end of the first call"
    ),
    Metric("kernel_count", "count", "profile", "kernels in one call", exact=True),
    Metric("copy_count_htod", "count", "profile", "copies from host to device in one call", exact=True),
    Metric("copy_count_dtoh", "count", "profile", "copies from device to host in one call", exact=True),
    Metric("copy_count_dtod", "count", "profile", "copies within devices in one call", exact=True),
    Metric("copy_bytes_htod", "bytes", "profile", "bytes copied from host to device in one call", exact=True),
    Metric("copy_bytes_dtoh", "bytes", "profile", "bytes copied from device to host in one call", exact=True),
    Metric("copy_bytes_dtod", "bytes", "profile", "bytes copied within devices in one call", exact=True),
    Metric("sync_count", "count", "profile", "waits of the host for the device in one call", exact=True),
    Metric("idle_share", "share", "profile", "share of a profiled call's device span in which nothing ran"),
    Metric(
        "overlap_share",
        "share",
        "profile",
        "share of the busy time in which several streams ran",
        better="higher",
    ),
    Metric("launch_bound_share", "share", "profile", "share of the device span in which the host was late"),
    Metric(
        "profiled_device_time", "seconds", "profile", "time in which the device was busy, by the profiler"
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _TABLE}
DEFAULT_METRICS: tuple[str, ...] = tuple(metric.name for metric in _TABLE if metric.default)
#: A name in `metrics=[...]` that stands for several.
PROFILE = "profile"
GROUPS: dict[str, tuple[str, ...]] = {
    PROFILE: tuple(metric.name for metric in _TABLE if metric.source == PROFILE)
}

#: Metrics that exist only where the benchmark declares how to judge its output.
NEEDS_REFERENCE = frozenset({"max_error", "mean_error"})
NEEDS_CHECK = frozenset({"task_metric"})
