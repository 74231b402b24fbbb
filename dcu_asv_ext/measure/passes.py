"""The passes over one benchmark, in the order in which they must run. Each fills its part of the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..devices.base import Device, NotMeasured
from ..evidence.record import Measurement
from .arguments import CallArguments
from .calls import batched, one_call, reset_of
from .cold_parts import ColdStart
from .correctness import Keeper, Kept
from .device_time import BLOCK, STREAM_ESCAPE, EventTimes, escapes, time_events
from .facts import Emptied, boundary, watch_empty_cache
from .first_call import FirstCall
from .request import Options
from .sampling import (
    MIN_SAMPLES,
    Plan,
    choose_batch,
    keep_batch,
    overhead,
    per_call,
    sample_submission,
    sample_synchronized,
)
from .spec import Spec
from .warmup import Rule, warm_up

#: Warm-up calls that are watched, unless the first call took longer than this many seconds.
WATCHED_CALLS = 4
LONG_FIRST_CALL = 1.0


@dataclass
class Run:
    """One measurement under way."""

    spec: Spec
    device: Device
    options: Options
    record: Measurement
    sets: Sequence[CallArguments]
    call_seconds: float = 0.0
    side_streams: Sequence[Any] = ()
    kept: list[Kept] = field(default_factory=list)
    verdicts: list[Any] = field(default_factory=list)
    stage: str = ""
    cold_start: ColdStart | None = None

    def wants(self, metric: str) -> bool:
        return metric in self.spec.metrics

    def call(self) -> Callable[[], Any]:
        return one_call(self.spec.function, self.sets)

    def reset(self, sets: Sequence[CallArguments] | None = None) -> Callable[[], None] | None:
        """The benchmark's untimed reset, in step with the argument sets; fresh for each pass, as `call` is."""
        return reset_of(self.spec, self.sets if sets is None else sets)

    def reset_and_call(self) -> Callable[[], object]:
        """For passes that are not timed and may call more than once: each call after its own reset."""
        call, reset = self.call(), self.reset()
        if reset is None:
            return call

        def once() -> object:
            reset()
            return call()

        return once


def cold(run: Run) -> None:
    """The first call in this process, synchronised before and after."""
    run.stage = "the first call"
    device, call, reset = run.device, run.call(), run.reset()
    if reset is not None:
        reset()
    memory = FirstCall(device)
    device.synchronize()
    begin = device.clock()
    output = call()
    device.synchronize()
    end = device.clock()
    run.record.times["cold"] = [end - begin]
    run.record.memory["first"] = memory.read()
    if run.cold_start is not None:
        run.cold_start.end(begin, end)
    run.record.boundary = boundary(run.sets, output, reset is not None)


def warm(run: Run) -> None:
    """Warm-up until stable; its first calls are watched for streams, devices and calls of empty_cache."""
    run.stage = "the warm-up"
    reset = run.reset()
    if run.device.asynchronous:
        call = run.call()
        with run.device.observe() as usage, watch_empty_cache(run.device) as emptied:
            for _ in range(_watched_calls(run)):
                earlier = replace(emptied)
                if reset is not None:
                    reset()
                call()
                run.device.synchronize()
        run.device.use(usage.devices)
        run.side_streams = usage.streams
        if emptied.calls:
            _keep_emptied(run, emptied, earlier)
        if usage.streams:
            run.record.notes.append(f"{len(usage.streams)} side streams are joined inside each event pair")
    rule = Rule.for_device(run.device, run.options.quick)
    done = warm_up(run.device, run.call(), rule, run.reset())
    run.call_seconds = done.call_seconds
    run.record.times["warm_up"] = list(done.seconds)
    run.record.warm_up = {
        "count": done.calls,
        "stable": done.stable,
        "rule": rule.as_text(),
        "batch": done.batch,
        "batched_from": done.batched_from,
    }
    if not done.stable and not run.options.quick:
        run.record.notes.append(f"not stable after {done.calls} warm-up calls")


def _keep_emptied(run: Run, emptied: Emptied, earlier: Emptied) -> None:
    """earlier: as it was before the last watched call, the steadiest of them."""
    calls, seconds = emptied.calls - earlier.calls, emptied.seconds - earlier.seconds
    run.record.memory["empty_cache"] = {"calls": calls, "seconds": seconds}
    run.record.notes.append(
        f"the measured call empties the allocator's cache ({emptied.calls} calls of empty_cache were watched, "
        f"{1e3 * seconds:.3g} ms of the last call): every sample pays for that, and for growing it again"
    )


def _watched_calls(run: Run) -> int:
    """More than one, for calls that alternate between streams; not where one takes seconds."""
    first = (run.record.times["cold"] or [None])[0]
    return 1 if run.options.quick or first is None or first > LONG_FIRST_CALL else WATCHED_CALLS


def batch_size(run: Run) -> int:
    """Calls per sample: one where each call needs a reset or uses streams of its own, on which batched calls would
    overlap; else what earlier evidence used; else chosen now.

    A quick run chooses nothing that would bind later ones: without earlier evidence it makes single calls.
    """
    if run.spec.reset is not None or run.side_streams:
        return 1
    kept = keep_batch(run.options.batch.get("latency"), run.call_seconds)
    if kept is not None:
        return kept
    if run.options.quick:
        return 1
    if run.options.batch.get("latency") is not None:
        run.record.notes.append("batch size chosen anew: the call has become too slow for the recorded one")
    return choose_batch(run.call_seconds, overhead(run.device), run.device.asynchronous)


def latency(run: Run) -> None:
    """End-to-end samples; where calls are long against the budget, event pairs share them."""
    run.stage = "the latency pass"
    batch = batch_size(run)
    plan = Plan.make("latency", run.options.repeat)
    call = batched(run.spec.function, run.sets, batch)
    keeper = _keeper(run, plan)
    if _shares_events(run, batch, plan):
        samples = _with_events(run, call, plan, keeper)
    else:
        samples = sample_synchronized(run.device, call, plan, run.reset(), keeper=keeper)
    run.record.times["latency"] = list(per_call(samples, batch))
    run.record.batch["latency"] = batch
    if keeper is not None:
        run.kept, run.verdicts = keeper.finish(), keeper.verdicts


def _keeper(run: Run, plan: Plan) -> Keeper | None:
    spec, seed = run.spec, run.record.seed or 0
    last = plan.high - 1 if plan.low == plan.high else None
    copies = spec.reference is not None and not spec.mutates
    if spec.check is None and not copies:
        return None
    check = None if spec.check is None else _named_check(run, spec.check)
    return Keeper(seed, check, last, copies)


def _named_check(run: Run, check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The check, so that its own fault is not taken for the latency pass's."""

    def named(output: Any) -> Any:
        stage, run.stage = run.stage, "the check"
        verdict = check(output)
        run.stage = stage
        return verdict

    return named


def _shares_events(run: Run, batch: int, plan: Plan) -> bool:
    if not run.wants("device_time") or run.device.metric_support().get("device_time") is not None:
        return False
    return batch == 1 and run.call_seconds * MIN_SAMPLES > Plan.make("device_time", 0).seconds


def _with_events(run: Run, call: Callable[[], Any], plan: Plan, keeper: Keeper | None) -> Any:
    """Latency samples with an event pair inside each; the pairs are read in blocks, outside the samples."""
    try:
        # A call of its own: the samples must begin with the first argument set.
        if escapes(run.device, run.call(), run.side_streams, run.reset()):
            raise NotMeasured(STREAM_ESCAPE)
        timer = run.device.event_timer(BLOCK, run.side_streams)
    except NotMeasured as missing:
        run.record.missing["device_time"] = missing.reason
        return sample_synchronized(run.device, call, plan, run.reset(), keeper=keeper)
    times = EventTimes()
    recorded = [0]

    def paired() -> Any:
        timer.start()
        output = call()
        timer.stop()
        return output

    def between() -> None:
        nonlocal timer
        recorded[0] += 1
        if recorded[0] == BLOCK:
            times.seconds += timer.read()
            timer, recorded[0] = run.device.event_timer(BLOCK, run.side_streams), 0

    samples = sample_synchronized(run.device, paired, plan, run.reset(), between, keeper)
    if recorded[0]:
        times.seconds += timer.read()
    _keep_events(run, times, 1)
    run.record.notes.append("calls are long: device_time and latency come from the same calls")
    return samples


def device_time(run: Run) -> None:
    """Event pairs in a pass of their own, unless the latency pass has them already."""
    known = {*run.record.times, *run.record.missing}
    if not run.wants("device_time") or "device_time" in known:
        return
    run.stage = "the device time pass"
    batch = run.record.batch["latency"]
    reason = run.device.metric_support().get("device_time")
    if reason is not None:
        run.record.missing["device_time"] = reason
        return
    plan = Plan.make("device_time", run.options.repeat)
    call = batched(run.spec.function, run.sets, batch)
    try:
        _keep_events(run, time_events(run.device, call, plan, run.side_streams, run.reset()), batch)
    except NotMeasured as missing:
        run.record.missing["device_time"] = missing.reason


def _keep_events(run: Run, times: EventTimes, batch: int) -> None:
    run.record.times["device_time"] = [seconds / batch for seconds in times.seconds]
    run.record.batch["device_time"] = batch
    if times.bad:
        run.record.notes.append(
            f"{times.bad} of {len(times.seconds)} event times are negative or not finite (kept in the record)"
        )


def host_time(run: Run) -> None:
    """Time to submit the call, in a pass of its own."""
    if not run.wants("host_time"):
        return
    run.stage = "the host time pass"
    batch = run.record.batch["latency"]
    plan = Plan.make("host_time", run.options.repeat)
    samples = sample_submission(run.device, batched(run.spec.function, run.sets, batch), plan, run.reset())
    run.record.times["host_time"] = list(per_call(samples, batch))
    run.record.batch["host_time"] = batch
