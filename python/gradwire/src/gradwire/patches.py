"""Where observing holds on to PyTorch: DDP, backward passes and optimisers.

DDP takes one communication hook. The program's own runs inside of one that observes; without one,
what DDP does by itself is observed (`averages.py`), and nothing is registered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from .comm_hooks import hook_of, note_hook
from .observing import ObservedProgram, has_rebuilt
from .uncompiled import uncompiled

# The compiler shall not trace what observes, only the model between.
_guard = uncompiled(ObservedProgram.guard)


class HookedCommunication:
    """The buckets of a DDP module that a hook of the program averages."""

    def __init__(self, session: ObservedProgram, hook: Callable[..., Any], state: Any) -> None:
        self._session = session
        self._hook = hook
        self._state = state

    def run(self, bucket: Any) -> Any:
        """The communication hook as DDP calls it."""
        seen = _guard(self._session, self._session.hooked_bucket_begins, bucket)
        future = self._hook(self._state, bucket)
        if seen is not None:
            self._session.bucket_begun(seen, future.wait, bucket.buffer())
        return future


def _observed_hook(communication: HookedCommunication, bucket: Any) -> Any:
    return communication.run(bucket)


def watch(session: ObservedProgram) -> None:
    """Patches PyTorch so that `session` sees what it does."""
    _watch_hooks(session)
    _watch_forward(session)
    _watch_meetings(session)
    _watch_backward(session)
    register_optimizer_step_pre_hook(
        lambda optimizer, _arguments, _named: _guard(session, session.step_begins, optimizer)
    )
    register_optimizer_step_post_hook(
        lambda optimizer, _arguments, _named: _guard(session, session.step_ends, optimizer)
    )
    session.averages.observe(
        begins=functools.partial(_guard, session, session.average_begins),
        ends=functools.partial(_guard, session, session.average_begun),
    )


def _watch_hooks(session: ObservedProgram) -> None:
    original = DistributedDataParallel.register_comm_hook

    @functools.wraps(original)
    def register_comm_hook(self: Any, state: object, hook: Callable[..., Any]) -> None:
        if hook_of(self) is not None:
            # PyTorch says that a hook can be registered once only.
            original(self, state, hook)
            return
        self._check_comm_hook(hook)
        session.averages.forget(self)
        # Not by the module's own method: that would keep ours in the module, which may be pickled.
        communication = HookedCommunication(session, hook, state)
        dist._register_comm_hook(self.reducer, communication, _observed_hook)
        self.logger._set_comm_hook_name(hook.__qualname__)
        note_hook(self, hook)
        if hasattr(self, "_comm_hooks"):
            self._comm_hooks.append((hook, state))

    DistributedDataParallel.register_comm_hook = register_comm_hook


def _watch_forward(session: ObservedProgram) -> None:
    original = DistributedDataParallel.forward

    @functools.wraps(original)
    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        _guard(session, session.forward_begins, self)
        output = original(self, *inputs, **named)
        _guard(session, session.forward_ends, self)
        return output

    DistributedDataParallel.forward = uncompiled(forward, recursive=False)


def _watch_meetings(session: ObservedProgram) -> None:
    original = getattr(DistributedDataParallel, "_pre_forward", None)
    if original is None:
        # In PyTorch 2.1 to 2.13 it is there; elsewhere such waiting counts as the forward pass.
        return

    @functools.wraps(original)
    def _pre_forward(self: Any, *inputs: Any, **named: Any) -> Any:
        had_rebuilt = has_rebuilt(self)
        prepared = original(self, *inputs, **named)
        _guard(session, session.ranks_met, self, had_rebuilt)
        return prepared

    DistributedDataParallel._pre_forward = uncompiled(_pre_forward, recursive=False)


def _watch_backward(session: ObservedProgram) -> None:
    original = torch.autograd.backward
    # Backward passes run within others where activations are computed again.
    running = 0

    @functools.wraps(original)
    def backward(*arguments: Any, **named: Any) -> None:
        nonlocal running
        if running > 0:
            original(*arguments, **named)
            return
        running += 1
        try:
            _guard(session, session.backward_begins)
            original(*arguments, **named)
            _guard(session, session.backward_ends)
        finally:
            running -= 1

    torch.autograd.backward = backward
