"""Where the time of a step goes, as hooks of PyTorch see it.

A step ends with its optimiser's. Its wall time is that since the end of the last one; the first
begins with its forward pass. With several forward and backward passes each phase is their sum.
Time that no hook can name is in no phase: loss functions and clipping, evaluation, waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_NS_PER_MS = 1e6


class StepClock:
    """A stopwatch of phases; the caller says what begins and ends."""

    def __init__(
        self,
        now: Callable[[], int] = time.monotonic_ns,
        epoch: Callable[[], float] = time.time,
    ) -> None:
        self._now = now
        self._epoch = epoch
        self._start: int | None = None
        """When the step began."""
        self._end = 0
        """When it ended, as far as it has."""
        self._idle_since: int | None = None
        """When computing ended last: since then the program fetches data."""
        self._forward_since = 0
        self._backward_since: int | None = None
        self._apply_since: int | None = None
        self._named_before_apply = 0
        self._waiting_since = 0
        self._data = self._forward = self._backward = self._apply = self._waited = 0

    def forward_begins(self) -> None:
        """A forward pass that is to be followed by a backward one begins."""
        now = self._now()
        if self._start is None:
            self._start = now
        if self._idle_since is not None:
            self._data += now - self._idle_since
            self._idle_since = None
        self._forward_since = now

    def forward_ends(self) -> None:
        """The forward pass has ended; the backward pass follows, until a gradient is there."""
        now = self._now()
        self._forward += now - self._forward_since
        self._backward_since = now

    def evaluated(self, since: int) -> None:
        """A forward pass without a backward one, which began at `since`, has ended."""
        if self._idle_since is not None:
            self._idle_since += self._now() - since

    def gradient_accumulated(self) -> None:
        """A gradient is there that a backward pass computes late."""
        now = self._now()
        if self._backward_since is not None:
            self._backward += now - self._backward_since
            self._backward_since = now
            self._idle_since = now

    def gradient_complete(self) -> None:
        """All gradients are there; the program waits for their average."""
        self.gradient_accumulated()
        self._backward_since = None
        self._waiting_since = self._now()

    def averaged(self) -> None:
        """The average is there."""
        self._idle_since = self._end = self._now()
        self._waited += self._end - self._waiting_since

    def apply_begins(self) -> None:
        """The optimiser begins its step."""
        self._apply_since = self._now()
        self._named_before_apply = self._named()

    def apply_ends(self) -> None:
        """The optimiser has ended its step; passes that it called for itself are not its time."""
        self._idle_since = self._end = self._now()
        self._backward_since = None
        if self._apply_since is not None:
            inside = self._named() - self._named_before_apply
            self._apply += self._end - self._apply_since - inside
            self._apply_since = None

    def held(self) -> None:
        """The program has waited since the end of its step, and goes on."""
        self._idle_since = self._now()

    def close(self, lr: float) -> dict[str, Any]:
        """The step as `stepped` has it; the next one begins at its end."""
        start = self._end if self._start is None else self._start
        step = {
            "at": self._epoch() * 1e3 - (self._now() - start) / _NS_PER_MS,
            "wall": (self._end - start) / _NS_PER_MS,
            "data": self._data / _NS_PER_MS,
            "forward": self._forward / _NS_PER_MS,
            "backward": self._backward / _NS_PER_MS,
            "apply": self._apply / _NS_PER_MS,
            "lr": lr,
        }
        self._start = self._end
        self._apply_since = None
        self._data = self._forward = self._backward = self._apply = self._waited = 0
        return step

    def _named(self) -> int:
        return self._data + self._forward + self._backward + self._waited
