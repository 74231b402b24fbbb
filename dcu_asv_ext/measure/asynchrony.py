"""Does a clock without a synchronise stop too early here? Timed on the spot, with work that needs no suite."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..devices import Device

_SIZES = (512, 1024, 2048, 4096)
_MOST_CALLS = 64


@dataclass(frozen=True)
class Asynchrony:
    """Seconds of the same work (`calls` products of two `size` x `size` float32 matrices), in order of acquisition.

    unsynchronised: until the calls returned. synchronised: until the device was done.
    """

    size: int
    calls: int
    unsynchronised: list[float]
    synchronised: list[float]


def time_both_ways(device: Device, repeat: int = 7, enough: float = 0.02) -> Asynchrony:
    """The two ways in turn, each from an idle device.

    enough: seconds that the work has to last, so that launching it cannot be mistaken for doing it.
    """
    size, calls = _enough_work(device, enough)
    work = _Products(device, size, calls)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(repeat):
        for wait in (False, True):
            seconds[wait].append(work.seconds(wait))
    return Asynchrony(size, calls, seconds[False], seconds[True])


class _Products:
    def __init__(self, device: Device, size: int, calls: int) -> None:
        self.device, self.calls = device, calls
        # Not random: generators of unusual devices are no part of the question.
        self.matrix = torch.full((size, size), 0.5, device=device.torch_device)
        self.out = torch.empty_like(self.matrix)
        self.seconds(wait=True)

    def seconds(self, wait: bool) -> float:
        device, clock = self.device, self.device.clock
        device.synchronize()
        start = clock()
        for _ in range(self.calls):
            torch.mm(self.matrix, self.matrix, out=self.out)
        if wait:
            device.synchronize()
        stop = clock()
        device.synchronize()
        return stop - start


def _enough_work(device: Device, enough: float) -> tuple[int, int]:
    """Size and number of products. Large ones first: many small ones would fill the launch queue."""
    size, calls = _SIZES[0], 1
    for size in _SIZES:
        if _Products(device, size, 1).seconds(wait=True) >= enough:
            return size, 1
    while calls < _MOST_CALLS and _Products(device, size, calls).seconds(wait=True) < enough:
        calls *= 2
    return size, calls
