"""The stretches of a step whose durations its phases sum, for a trace: each from when to when.

A phase may leave out what lies within it, as fetching data leaves out evaluation: then it has
several spans, whose sum is the phase. Moments are nanoseconds of the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_SPANS = 4000
"""Most spans of a step; others are counted."""

Stretch = tuple[int, int]

Sum = tuple[int, int, int, int, int]
"""Place, begin and end of a bucket that was averaged, the moment since which its time is its own,
and the one at which the last gradient was there."""


class StepSpans:
    """Stretches of one step that a clock has seen, in the order in which they ended."""

    def __init__(self) -> None:
        self._spans: list[tuple[str, int, int]] = []
        self._named: list[Stretch] = []
        """Stretches that are no time of an optimiser's step around them."""
        self._evaluations: list[Stretch] = []
        self._exchange: Stretch | None = None
        self._sums: list[Sum] = []
        self._meetings: list[Stretch] = []

    def add(self, phase: str, start: int, end: int) -> None:
        """A phase has lasted from one moment to the other."""
        self._named.append((start, end))
        self._put(phase, start, end)

    def met(self, start: int, end: int) -> None:
        """The program has waited for something of rank 0's."""
        self._named.append((start, end))
        self._meetings.append((start, end))

    def evaluated(self, start: int, end: int) -> None:
        """The model was evaluated, which is in no phase."""
        self._evaluations.append((start, end))

    def exchanged(self, start: int, end: int) -> None:
        """The program has waited for the average."""
        self._named.append((start, end))
        self._exchange = (start, end)

    def averaged(self, *sum: int) -> None:
        """A bucket was averaged by the program itself: the numbers of a `Sum`."""
        place, begin, end, since, complete = sum
        self._sums.append((place, begin, end, since, complete))

    def data(self, start: int, end: int) -> None:
        """Data were fetched in what was no evaluation of this time."""
        for first, last in _without(self._evaluations, start, end):
            self.add("data", first, last)

    def apply(self, start: int, end: int) -> None:
        """An optimiser has made a step, in what has no other name of this time."""
        for first, last in _without(self._named, start, end):
            self._put("apply", first, last)

    def told(self, begin: int) -> dict[str, Any]:
        """The spans as `stepped` has them, from the step's begin on."""
        told: dict[str, Any] = {
            "spans": [
                [phase, max(0, start - begin), end - max(start, begin)]
                for phase, start, end in self._spans[:MOST_SPANS]
                if end > begin
            ],
        }
        lists = (self._spans, self._sums, self._meetings)
        dropped = sum(max(0, len(each) - MOST_SPANS) for each in lists)
        if dropped > 0:
            told["dropped"] = dropped
        if self._exchange is not None:
            told["exchange"] = [max(0, moment - begin) for moment in self._exchange]
        if self._meetings:
            told["met"] = [
                [max(0, moment - begin) for moment in stretch]
                for stretch in self._meetings[:MOST_SPANS]
            ]
        if self._sums:
            told["sums"] = [
                [place, *(max(0, moment - begin) for moment in moments)]
                for place, *moments in self._sums[:MOST_SPANS]
            ]
        return told

    def _put(self, phase: str, start: int, end: int) -> None:
        if end <= start:
            return
        if self._spans and self._spans[-1][0] == phase and self._spans[-1][2] == start:
            start = self._spans.pop()[1]
        self._spans.append((phase, start, end))


def _without(holes: Sequence[Stretch], start: int, end: int) -> list[Stretch]:
    """The rest of a stretch."""
    left = []
    for first, last in sorted(holes):
        if last <= start:
            continue
        if first >= end:
            break
        if first > start:
            left.append((start, first))
        start = last
    return [*left, (start, end)] if start < end else left
