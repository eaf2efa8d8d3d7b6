"""The moments of a step, in their order, until a clock reads them.

A GPU computes later than the program calls it. Its moments are events on its stream, read when it
has passed them, so that nobody waits for it.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from .step_clock import StepClock

_NS_PER_MS = 1e6
_FOLLOWED_NS = 10_000_000_000
"""Time after which a device's clock is compared with the CPU's again: they drift apart."""
_FAR_MS = 1000.0
"""Time from which on a later moment takes the place of the one that others are measured from."""


class Bucket:
    """The communication of a bucket: its beginning, and its end once that is seen."""

    def __init__(self, size: int, place: int | None, begin: Any) -> None:
        self.size = size
        self.place = place
        self.begin = begin
        self.end: Any = None


class Timeline:
    """Moments since the last step, each by the name of the clock's method that takes it."""

    def __init__(self) -> None:
        self._moments: list[tuple[str, Any]] = []
        self._device: Any = None
        self._base: Any = None
        self._base_ns = 0
        self._followed_ns = 0
        self._next_base: tuple[Any, int] | None = None

    def follow(self, device: Any) -> None:
        """From now on moments of computing are those of this device."""
        if device.type != "cuda":
            return
        self._device = device
        self._base = self.moment()
        self._base.synchronize()
        self._base_ns = self._followed_ns = time.monotonic_ns()

    def follow_again(self) -> None:
        """Compares the clocks again if that is due, and waits for the device.

        All moments have been told.
        """
        if self._device is not None and time.monotonic_ns() - self._followed_ns > _FOLLOWED_NS:
            self.follow(self._device)

    def moment(self) -> Any:
        """Now, as far as computing has come."""
        if self._device is None:
            return time.monotonic_ns()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def computing(self, name: str) -> None:
        """Computing reaches a moment."""
        self._moments.append((name, self.moment()))

    def program(self, name: str) -> None:
        """The program reaches a moment."""
        self._moments.append((name, time.monotonic_ns()))

    def bucket(self, size: int, place: int | None) -> Bucket:
        """A bucket begins to be communicated; `place`: its number in what was told of buckets."""
        bucket = Bucket(size, place, self.moment())
        self._moments.append(("bucket", bucket))
        return bucket

    def take(self) -> list[tuple[str, Any]]:
        """The moments, which are then gone from here."""
        moments, self._moments = self._moments, []
        return moments

    def tell(self, moments: list[tuple[str, Any]], clock: StepClock) -> None:
        """Tells a clock the moments. It waits for those that the device has not passed."""
        for name, moment in moments:
            if isinstance(moment, Bucket):
                end = None if moment.end is None else self._ns(moment.end)
                clock.bucket(self._ns(moment.begin), end, moment.size, moment.place)
            else:
                getattr(clock, name)(self._ns(moment))
        if self._next_base is not None:
            # A device tells times in float32: after hours their steps would be milliseconds.
            self._base, self._base_ns = self._next_base
            self._next_base = None

    def _ns(self, moment: Any) -> int:
        if isinstance(moment, int):
            return moment
        moment.synchronize()
        elapsed: float = self._base.elapsed_time(moment)
        now = self._base_ns + round(elapsed * _NS_PER_MS)
        if elapsed > _FAR_MS:
            self._next_base = (moment, now)
        return now
