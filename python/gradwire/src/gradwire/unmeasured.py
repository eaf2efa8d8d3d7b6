"""Communication of an observed program that no hook sees."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

_STEPS = 3
"""Steps after which DDP would have averaged something."""


class Unmeasured:
    """Tells once, on the first rank, that the time of communication is not told apart."""

    def __init__(self) -> None:
        self._left = _STEPS

    def bucket_seen(self) -> None:
        """DDP averages, and its hooks are seen."""
        self._left = 0

    def look(self, optimizer: Any) -> None:
        """Looks at a step that begins, if it is one of the first."""
        if self._left == 0:
            return
        # A PyTorch that is too old shall be named before it is asked for its parts.
        import torch.distributed as dist

        if not dist.is_available() or not dist.is_initialized():
            return
        if dist.get_world_size() == 1 or dist.get_rank() > 0:
            self._left = 0
            return
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        if all(one.grad is None for one in parameters):
            return
        self._left -= 1
        if self._left == 0:
            print(f"gradwire: {_text(parameters)}", file=sys.stderr)


def _text(parameters: Iterable[Any]) -> str:
    # They are DTensors, which PyTorch has had in several places.
    if any(hasattr(one, "device_mesh") or hasattr(one, "_is_flat_param") for one in parameters):
        why = "its parameters are divided among the ranks, such as by FSDP"
    else:
        why = "no average of DistributedDataParallel has been seen yet"
    return "this program's communication is not measured, and counts as backward or other: " + why
