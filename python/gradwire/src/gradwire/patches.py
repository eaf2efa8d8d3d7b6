"""Where observing holds on to PyTorch: DDP, backward passes and optimisers.

DDP takes one communication hook. The one that observes is registered at the first forward pass, if
the program has none by then, and does what DDP does by default, to the bit; a hook of the program
runs inside of it, whenever that is registered.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from .observing import ObservedProgram
from .timeline import Bucket

# The compiler shall not trace what observes, only the model between.
_guard: Callable[..., Any] = torch._disable_dynamo(ObservedProgram.guard)


class Communication:
    """How one DDP module averages its buckets."""

    def __init__(self, session: ObservedProgram, module: Any) -> None:
        self._session = session
        self._completion = session.completion
        self._module = weakref.ref(module)
        self.hook: Any = None
        """The program's own hook and its state."""
        self.is_registered = False
        size = module.process_group.size()
        self._may_divide = module.gradient_as_bucket_view and size & (size - 1) != 0
        """Whether a gradient that is a view of its bucket is scaled to other bits than others."""
        self._side: Any = None
        self._grads: dict[int, int] = {}
        """Where the parameters' gradients were when the backward pass began."""

    def note_grads(self) -> None:
        """Notes where the gradients are before a backward pass adds to them."""
        module = self._module()
        if self._may_divide and module is not None:
            self._grads = {
                id(one): one.grad.data_ptr()
                for one in module.module.parameters()
                if one.grad is not None
            }

    def run(self, bucket: Any) -> Any:
        """The communication hook as DDP calls it."""
        encodes = self.hook is not None
        seen = _guard(self._session, self._session.bucket_begins, bucket, encodes)
        if self.hook is None:
            return self._by_default(bucket, seen)
        hook, state = self.hook
        future = hook(state, bucket)
        stream = self._stream_of(bucket.buffer())
        self._completion.after(future.wait, lambda _: self._note_end(seen), stream)
        return future

    def _by_default(self, bucket: Any, seen: Bucket | None) -> Any:
        buffer = bucket.buffer()
        module: Any = self._module()
        group = module.process_group
        self._scale(bucket, group.size())
        work = group.allreduce([buffer])
        devices = [] if buffer.is_cpu else [buffer.device]
        ended: Any = torch.futures.Future(devices=devices)
        failures: list[BaseException] = []

        def end(error: BaseException | None) -> None:
            self._note_end(seen)
            if error is not None:
                failures.append(error)
            ended.set_result(buffer)

        def average(future: Any) -> Any:
            for error in failures:
                raise error
            return future.value()

        average_of_bucket = ended.then(average)
        self._completion.after(work.wait, end, self._stream_of(buffer))
        return average_of_bucket

    def _stream_of(self, buffer: Any) -> Any:
        """A stream of its own for what waits on a GPU: on the default one the backward pass, which
        computes there, would wait as well."""
        if buffer.is_cpu:
            return None
        if self._side is None:
            self._side = torch.cuda.Stream(buffer.device)
        return torch.cuda.stream(self._side)

    def _scale(self, bucket: Any, size: int) -> None:
        """Scales a bucket to the bits that DDP makes without a hook.

        It divides what is sparse or a view of the bucket already, and multiplies by the
        reciprocal what it copies there. For powers of two that is the same.
        """
        buffer = bucket.buffer()
        if buffer.is_sparse:
            buffer.div_(size)
        elif not self._may_divide:
            buffer.mul_(1.0 / size)
        else:
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients()):
                if self._grads.get(id(parameter)) == gradient.data_ptr():
                    gradient.div_(size)
                else:
                    gradient.mul_(1.0 / size)

    def _note_end(self, seen: Bucket | None) -> None:
        if seen is not None:
            _guard(self._session, self._session.bucket_ends, seen)


def _observed_hook(communication: Communication, bucket: Any) -> Any:
    return communication.run(bucket)


def watch(session: ObservedProgram) -> None:
    """Patches PyTorch so that `session` sees what it does."""
    communications: weakref.WeakKeyDictionary[Any, Communication] = weakref.WeakKeyDictionary()
    _watch_hooks(session, communications)
    _watch_forward(session, communications)
    _watch_backward(session, communications)
    register_optimizer_step_pre_hook(
        lambda optimizer, _arguments, _named: _guard(session, session.step_begins, optimizer)
    )
    register_optimizer_step_post_hook(
        lambda optimizer, _arguments, _named: _guard(session, session.step_ends, optimizer)
    )


def _register(communication: Communication, module: Any) -> None:
    # Not by the module's own method: that would keep the hook in the module, which may be pickled.
    dist._register_comm_hook(module.reducer, communication, _observed_hook)
    communication.is_registered = True


def _watch_hooks(session: ObservedProgram, communications: Any) -> None:
    original = DistributedDataParallel.register_comm_hook
    builtin = DistributedDataParallel._register_builtin_comm_hook

    @functools.wraps(original)
    def register_comm_hook(self: Any, state: object, hook: Callable[..., Any]) -> None:
        communication = communications.setdefault(self, Communication(session, self))
        if communication.hook is not None:
            # PyTorch says that a hook can be registered once only.
            original(self, state, hook)
            return
        self._check_comm_hook(hook)
        if not communication.is_registered:
            _register(communication, self)
        self.logger._set_comm_hook_name(hook.__qualname__)
        self._comm_hooks.append((hook, state))
        communication.hook = (hook, state)

    @functools.wraps(builtin)
    def register_builtin_comm_hook(self: Any, *arguments: Any) -> None:
        builtin(self, *arguments)
        # It is not called from Python: such communication is not seen.
        communication = communications.setdefault(self, Communication(session, self))
        communication.is_registered = True

    DistributedDataParallel.register_comm_hook = register_comm_hook
    DistributedDataParallel._register_builtin_comm_hook = register_builtin_comm_hook


def _watch_forward(session: ObservedProgram, communications: Any) -> None:
    original = DistributedDataParallel.forward

    def begin(module: Any) -> None:
        session.forward_begins(module)
        communication = communications.setdefault(module, Communication(session, module))
        if not communication.is_registered and _is_by_default(module):
            _register(communication, module)

    @functools.wraps(original)
    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        _guard(session, begin, self)
        output = original(self, *inputs, **named)
        _guard(session, session.forward_ends)
        return output

    DistributedDataParallel.forward = torch._disable_dynamo(forward, recursive=False)


def _is_by_default(module: Any) -> bool:
    """Whether a hook of ours does what DDP would do without one."""
    # With the compiler's own reducer there are no buckets; in `join` the divisor may change.
    if getattr(module, "_use_python_reducer", False):
        return False
    if not getattr(module, "_divide_by_initial_world_size", True):
        return False
    return not getattr(module, "batched_grad_copy", False)


def _watch_backward(session: ObservedProgram, communications: Any) -> None:
    original = torch.autograd.backward
    # Backward passes run within others where activations are computed again.
    running = 0

    def begin() -> None:
        session.backward_begins()
        for communication in list(communications.values()):
            communication.note_grads()

    @functools.wraps(original)
    def backward(*arguments: Any, **named: Any) -> None:
        nonlocal running
        if running > 0:
            original(*arguments, **named)
            return
        running += 1
        try:
            _guard(session, begin)
            original(*arguments, **named)
            _guard(session, session.backward_ends)
        finally:
            running -= 1

    torch.autograd.backward = backward
