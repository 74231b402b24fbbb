"""The correctness pass: reference or check on outputs of timed calls and a whole one; inputs left as they were."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..devices.base import Device
from ..evidence.record import WRONG
from ..metrics import NEEDS_REFERENCE
from .arguments import CallArguments, make_arguments
from .correctness import Judgement, Kept, judge, judge_check
from .errors import host_copy
from .passes import Run

#: Argument sets of which no timed output was kept are judged too, until the pass has taken this long.
EXTRA_SECONDS = 10.0


class NoReference(Exception):
    """The reference has no result for these parameters; the text is its own."""


def seed_everything(seed: int, device: Device) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    torch.manual_seed(seed)
    device.seed(seed)


def correctness(run: Run, params: Mapping[str, Any]) -> None:
    """Fill the record's `correctness`; a wrong result becomes the record's status."""
    spec = run.spec
    run.stage = "the correctness pass"
    wrong: list[str] = []
    if spec.reference is not None:
        try:
            for judgement in _against_reference(run, params):
                _merge(run, judgement, wrong)
        except NoReference as told:
            _unchecked(run, str(told))
    if spec.check is not None:
        # Sets that no kept sample used are checked too, and what a mutating function makes of fresh inputs.
        if spec.mutates or not run.verdicts or len(run.sets) > 1:
            with fresh_sets(run, params) as sets:
                for arguments in sets:
                    run.verdicts.append(spec.check(_output(run, arguments)))
        _merge(run, judge_check(spec, run.verdicts), wrong)
    if wrong:
        run.record.status = f"{WRONG}: {wrong[0]}"
        run.record.correctness["correct"] = False


def inputs_modified(run: Run) -> None:
    """The measured calls changed their inputs though the benchmark does not say so."""
    text = "the function modified its inputs; declare mutates=True if it is meant to"
    run.record.status = f"{WRONG}: {text}"
    run.record.correctness |= {"correct": False, "inputs_modified": True}


def _unchecked(run: Run, why: str) -> None:
    reason = "the reference has no result for these parameters" + (f": {why}" if why else "")
    run.record.correctness["unchecked"] = reason
    run.record.missing |= {metric: reason for metric in NEEDS_REFERENCE if run.wants(metric)}


def _trusted(run: Run) -> Callable[..., Any]:
    """The benchmark's reference; NotImplementedError is its word for parameters that it does not cover."""
    reference = run.spec.reference
    assert reference is not None

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return reference(*args, **kwargs)
        except NotImplementedError as told:
            raise NoReference(str(told)) from told

    return call


def _against_reference(run: Run, params: Mapping[str, Any]) -> Iterator[Judgement]:
    """Raises NoReference, after what could be judged."""
    spec, reference = run.spec, _trusted(run)
    if spec.mutates:
        with fresh_sets(run, params) as ours, fresh_sets(run, params) as theirs:
            for mine, other in zip(ours, theirs, strict=True):
                # A copy: the output may be the very memory that the next reset, or the next call, writes to.
                yield judge(spec, [], host_copy(_output(run, mine)), _output(run, other, reference))
        return
    judged = 0
    begin = run.device.clock()
    for index, arguments in enumerate(run.sets):
        kept = [one for one in run.kept if _set_of(one, run) == index]
        if judged and not kept and run.device.clock() - begin > EXTRA_SECONDS:
            continue
        reset = run.reset([arguments])
        if reset is not None:
            reset()
        output = arguments.call(spec.function)
        run.device.synchronize()
        if reset is not None:
            # The output may be the very memory that the reset writes to.
            output = host_copy(output)
            reset()
        yield judge(spec, kept, output, arguments.call(reference))
        judged += 1
    if judged < len(run.sets):
        run.record.notes.append(f"{judged} of {len(run.sets)} argument sets were judged: calls are long")


def _set_of(kept: Kept, run: Run) -> int:
    """Which argument set a sample's last call used: the latency pass starts with the first."""
    batch = run.record.batch["latency"]
    return ((kept.number + 1) * batch - 1) % len(run.sets)


@contextmanager
def fresh_sets(run: Run, params: Mapping[str, Any]) -> Iterator[Sequence[CallArguments]]:
    """Argument sets made anew from the same seed; torn down as the measured ones are."""
    seed_everything(run.record.seed or 0, run.device)
    made = make_arguments(run.spec, params, run.device.torch_device)
    try:
        yield made
    finally:
        if run.spec.teardown is not None:
            for arguments in made:
                arguments.call(run.spec.teardown)


def _output(run: Run, arguments: CallArguments, function: Callable[..., Any] | None = None) -> Any:
    """One call, of the function or another, with the reset that the benchmark wants before each."""
    reset = run.reset([arguments])
    if reset is not None:
        reset()
    output = arguments.call(run.spec.function if function is None else function)
    run.device.synchronize()
    return output


def _merge(run: Run, judgement: Judgement, wrong: list[str]) -> None:
    """Several argument sets: the worst of them is the record."""
    record = run.record.correctness
    worse = _severity(judgement.record) > _severity(record)
    for key, value in judgement.record.items():
        if key == "correct":
            record[key] = record.get(key, True) and value
        elif worse or key not in record:
            record[key] = value
    for metric, reason in judgement.missing.items():
        if run.wants(metric):
            run.record.missing[metric] = reason
    if judgement.wrong:
        wrong.append(judgement.wrong)


def _severity(record: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """An error that is not a number is worse than any that is."""
    error = record.get("max_error")
    unknown = "max_error" in record and error is None
    return bool(record.get("non_finite")), unknown, -1.0 if error is None else error
