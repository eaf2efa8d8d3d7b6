"""Where the time of a step goes, from the moments that hooks of PyTorch saw.

A step ends with its optimiser's. Its wall time is that since the end of the last one; the first
begins with its forward pass. With several forward and backward passes each phase is their sum.
Time that no hook can name is in no phase: loss functions and clipping, evaluation, waiting.
Moments are nanoseconds of the monotonic clock, in their order.
"""

from __future__ import annotations

import time
from typing import Any

from .step_spans import StepSpans

_NS_PER_MS = 1e6


_SET_NS = 1_000_000
"""Difference from which on the machine's clock has been set, or this process did not run between
two looks at it."""

_LOOKS = 5


class WallClock:
    """The time of the monotonic clock's 0, the same for all steps until the machine's clock is set.

    Found anew for each step it would differ by however long the process did not run between its
    looks at both clocks.
    """

    def __init__(self) -> None:
        self._since_1970 = self._look()

    def since_1970(self) -> int:
        """Nanoseconds from 1970 to the monotonic clock's 0."""
        if abs(time.time_ns() - time.monotonic_ns() - self._since_1970) > _SET_NS:
            self._since_1970 = self._look()
        return self._since_1970

    def _look(self) -> int:
        # Whatever comes between the two looks makes the difference smaller.
        return max(time.time_ns() - time.monotonic_ns() for _ in range(_LOOKS))


class StepClock:
    """The phases of one step after the other."""

    def __init__(self) -> None:
        self._wall_clock = WallClock()
        self._start: int | None = None
        """When the step began."""
        self._end = 0
        """When it ended, as far as it has."""
        self._idle_from = 0
        """The moment at which computing ended last."""
        self._idle_since: int | None = None
        """The same, later by what was evaluated since: from then on the program fetches data."""
        self._forward_since = 0
        self._backward_since: int | None = None
        self._evaluation_since = 0
        self._apply_since: int | None = None
        self._named_before_apply = 0
        self._idle_before_apply = 0
        """Nanoseconds of fetching data, as they were when the optimiser began its step."""
        self._spans: StepSpans | None = None
        """The step's spans, if it is traced."""
        self._complete_at: int | None = None
        """When the last gradient was there that is being averaged."""
        self._buckets: list[tuple[int, int | None, int | None]] = []
        """Begin, end and place of each of its buckets; an end may not have been seen."""
        self._told_buckets: dict[int, list[float]] = {}
        """The buckets of this step as `stepped` has them."""
        self._has_forward = self._has_backward = self._has_buckets = self._has_met = False
        self._data = self._forward = self._backward = self._apply = 0
        self._exchange = self._wait = self._overlapped = self._bytes = 0

    def trace(self) -> None:
        """The step that is told next is told with its spans."""
        self._spans = StepSpans()
        if self._idle_since is not None:
            # Where its evaluations were is not known any more, only how long they took.
            self._idle_from = self._idle_since

    def forward_begins(self, now: int) -> None:
        """A forward pass that is to be followed by a backward one begins."""
        self._begin(now)
        if self._idle_before_apply > 0:
            # A closure of the optimiser: the data came before it.
            self._data += self._idle_before_apply
            self._named_before_apply += self._idle_before_apply
            if self._spans is not None and self._apply_since is not None:
                self._spans.data(self._idle_from, self._apply_since)
            self._idle_before_apply = 0
            self._idle_since = None
        if self._idle_since is not None and self._apply_since is None:
            self._data += now - self._idle_since
            if self._spans is not None:
                self._spans.data(self._idle_from, now)
        # What an optimiser does between the passes of its closure is its step.
        self._idle_since = None
        self._forward_since = now
        self._has_forward = True

    def ranks_met(self, now: int) -> None:
        """All ranks have got something from rank 0 since the forward pass began."""
        waited = now - self._forward_since
        self._exchange += waited
        self._wait += waited
        self._has_met = True
        if self._spans is not None:
            self._spans.met(self._forward_since, now)
        self._forward_since = now

    def forward_ends(self, now: int) -> None:
        """The forward pass has ended; the backward pass follows, until a gradient is there."""
        self._forward += now - self._forward_since
        if self._spans is not None:
            self._spans.add("forward", self._forward_since, now)
        self._backward_since = now

    def evaluation_begins(self, now: int) -> None:
        """A forward pass without a backward one begins."""
        self._evaluation_since = now

    def evaluation_ends(self, now: int) -> None:
        """It has ended."""
        if self._idle_since is not None:
            self._idle_since += now - self._evaluation_since
            if self._spans is not None:
                self._spans.evaluated(self._evaluation_since, now)

    def backward_begins(self, now: int) -> None:
        """A backward pass begins of which no forward pass may have been seen."""
        self._begin(now)
        if self._backward_since is None:
            self._backward_since = now

    def gradient_accumulated(self, now: int) -> None:
        """A gradient is there that a backward pass computes late."""
        if self._backward_since is not None:
            self._backward += now - self._backward_since
            if self._spans is not None:
                self._spans.add("backward", self._backward_since, now)
            self._backward_since = now
            self._idles(now)
            self._has_backward = True

    def bucket(self, begin: int, end: int | None, size: int, place: int | None = 0) -> None:
        """A bucket of so many bytes, dense, was communicated: at the latest until the average."""
        self._buckets.append((begin, end, place))
        self._has_buckets = True
        self._bytes += size

    def gradient_complete(self, now: int) -> None:
        """All gradients are there, of one model in a pass; the program waits for their average."""
        if self._backward_since is None:
            # The pass has gone on, with another model.
            self._backward_since = self._complete_at
        self.gradient_accumulated(now)
        self._backward_since = None
        self._complete_at = now

    def averaged(self, now: int) -> None:
        """The average is there."""
        self._idles(now)
        if self._complete_at is None:
            return
        self._exchange += now - self._complete_at
        if self._spans is not None:
            self._spans.exchanged(self._complete_at, now)
        if self._buckets:
            self._add_buckets(self._complete_at, now)
        self._buckets.clear()
        self._complete_at = None

    def apply_begins(self, now: int) -> None:
        """The optimiser begins its step."""
        self._begin(now)
        self._apply_since = now
        self._named_before_apply = self._named()
        self._idle_before_apply = 0 if self._idle_since is None else now - self._idle_since

    def apply_ends(self, now: int) -> None:
        """The optimiser has ended its step; passes that it called for itself are not its time."""
        self._idles(now)
        self._backward_since = None
        self._idle_before_apply = 0
        if self._apply_since is not None:
            inside = self._named() - self._named_before_apply
            self._apply += now - self._apply_since - inside
            if self._spans is not None:
                self._spans.apply(self._apply_since, now)
            self._apply_since = None

    def held(self, now: int) -> None:
        """The program has waited since the end of its step, and goes on."""
        self._idle_since = self._idle_from = now

    def close(self, lr: float) -> dict[str, Any]:
        """The step as `stepped` has it; the next one begins at its end."""
        start = self._end if self._start is None else self._start
        since_1970 = self._wall_clock.since_1970()
        at = (start + since_1970) / _NS_PER_MS
        step: dict[str, Any] = {
            "at": at,
            "wall": _ms(self._end - start),
            "apply": _ms(self._apply),
            "lr": lr,
        }
        # What was never seen is absent, not 0.
        if self._has_forward:
            step["data"] = _ms(self._data)
            step["forward"] = _ms(self._forward)
        if self._has_backward:
            step["backward"] = _ms(self._backward)
        if self._has_buckets or self._has_met:
            step["wait"] = _ms(self._wait)
            step["overlapped"] = _ms(self._overlapped)
            step["bytes"] = self._bytes
            step["buckets"] = list(self._told_buckets.values())
        if self._spans is not None:
            # The next one begins at this moment, which has steps of 0.24 µs in a float.
            ended_at = (self._end + since_1970) / _NS_PER_MS
            wall = max(0, round((ended_at - at) * _NS_PER_MS))
            step["trace"] = {"wall": wall, **self._spans.told(start)}
            self._spans = None
        self._start = self._end
        self._apply_since = None
        self._data = self._forward = self._backward = self._apply = 0
        self._exchange = self._wait = self._overlapped = self._bytes = 0
        self._told_buckets = {}
        return step

    def _add_buckets(self, complete_at: int, now: int) -> None:
        """Adds the time of buckets in flight to the oldest: hidden until the last gradient is."""
        reached = 0
        first = min(begin for begin, _, _ in self._buckets)
        for begin, end, place in sorted(self._buckets, key=_begin_of):
            last = now if end is None else min(end, now)
            since = max(begin, reached)
            hidden = max(0, min(last, complete_at) - since)
            exposed = max(0, last - max(since, complete_at))
            reached = max(reached, last)
            self._overlapped += hidden
            self._wait += exposed
            if place is None:
                continue
            if self._spans is not None:
                self._spans.averaged(place, begin, last, since, complete_at)
            told = self._told_buckets.get(place)
            if told is None:
                moments = (_ms(begin - first), _ms(last - first))
                self._told_buckets[place] = [place, *moments, _ms(exposed), _ms(hidden), 1]
            else:
                # It is averaged once more in this step.
                told[3] += _ms(exposed)
                told[4] += _ms(hidden)
                told[5] += 1

    def _idles(self, now: int) -> None:
        """Computing has ended, and with it the step, unless more of it follows."""
        self._idle_since = self._idle_from = self._end = now

    def _begin(self, now: int) -> None:
        if self._start is None:
            self._start = now

    def _named(self) -> int:
        return self._data + self._forward + self._backward + self._exchange


def _ms(nanoseconds: int) -> float:
    """Milliseconds of a part of a step; a GPU's clock may be a little behind the CPU's."""
    return max(0, nanoseconds) / _NS_PER_MS


def _begin_of(bucket: tuple[int, int | None, int | None]) -> int:
    return bucket[0]
