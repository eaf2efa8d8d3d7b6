"""The end of the backward pass in progress, at which it calls back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from .models import at_end_of_backward, is_in_backward


class BackwardEnd:
    """A function that is called where a whole pass has ended, once for each.

    A bucket may be ready within an inner pass, which computes activations again and ends before
    others are.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._is_awaited = False

    def reset(self) -> None:
        """No pass is in progress: one that failed has not called back."""
        self._is_awaited = False

    def watch(self, output: Any) -> None:
        """Awaits the end of the pass that begins with these outputs."""
        leaves, _ = tree_flatten(output)
        for one in leaves:
            if torch.is_tensor(one) and one.requires_grad:
                one.register_hook(self._begins)

    def await_end(self) -> None:
        """Awaits the end of the pass in progress, if one is."""
        if not self._is_awaited and is_in_backward():
            self._is_awaited = True
            at_end_of_backward(self._end)

    def _begins(self, _gradient: Any) -> None:
        self.await_end()

    def _end(self) -> None:
        self._is_awaited = False
        self._ended()
