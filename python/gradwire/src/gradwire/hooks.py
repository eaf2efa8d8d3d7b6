"""Hooks of a joined program in its model and optimisers, by which its session sees each step.

They are not bound methods: a module with hooks may be pickled or copied. The compiler does not look
into them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import Any

from .comm_hooks import hook_of, note_hook
from .errors import GradwireError
from .session import current
from .uncompiled import uncompiled


def hook_model(module: Any, first: Any) -> None:
    """Hooks on forward passes, and on the gradient of the first parameter."""
    module.register_forward_pre_hook(_forward_begins)
    module.register_forward_hook(_forward_ends)
    first.register_post_accumulate_grad_hook(_gradient_accumulated)


def hook_optimizers(optimizers: Iterable[Any]) -> None:
    """Hooks on the steps of optimisers."""
    for optimizer in optimizers:
        optimizer.register_step_pre_hook(_step_begins)
        optimizer.register_step_post_hook(_step_ends)


def hook_communication(module: Any) -> None:
    """The hook that averages DDP's buckets. Raises GradwireError `HOOK_TAKEN`."""
    try:
        module.register_comm_hook(None, _average_bucket)
    except RuntimeError as error:
        said = str(error).splitlines()[0].rstrip(".")
        why = f"the model has a communication hook already: {said}"
        raise _hook_taken(why) from error
    note_hook(module, _average_bucket)
    _refuse_later_hooks(type(module))


def _hook_taken(why: str) -> GradwireError:
    next = "Leave out register_comm_hook: Gradwire compresses and averages"
    return GradwireError("HOOK_TAKEN", why, next)


def _refuse_later_hooks(kind: Any) -> None:
    """Says which hook a model has where PyTorch says only that there is one."""
    original = kind.register_comm_hook
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def register_comm_hook(self: Any, state: object, hook: Callable[..., Any]) -> None:
        if hook_of(self) is _average_bucket:
            raise _hook_taken("the model is attached, and has Gradwire's communication hook")
        original(self, state, hook)

    kind.register_comm_hook = register_comm_hook


def _without_annotations(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__annotations__.clear()
    return function


class _Hook:
    """A hook that stays with this process: in a module that is saved or copied, what stands in its
    place does nothing, and needs no Gradwire to be loaded."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        # A method that takes anything and does nothing, in every Python.
        return getattr, (contextlib.nullcontext(), "__exit__")


def _session() -> Any:
    session = current()
    return session if session is not None and session.is_joined else None


# DDP compares annotations with its own classes, and those of this module are strings.
@_Hook
@uncompiled
@_without_annotations
def _average_bucket(_state: object, bucket: Any) -> Any:
    session = _session()
    if session is None:
        raise GradwireError("NOT_JOINED", "this process has not joined", "Call gradwire.join()")
    return session.add_bucket(bucket)


@_Hook
@uncompiled
def _forward_begins(_module: Any, _inputs: Any) -> None:
    session = _session()
    if session is not None:
        session.forward_begins()


@_Hook
@uncompiled
def _forward_ends(_module: Any, _inputs: Any, output: Any) -> None:
    session = _session()
    if session is not None:
        session.forward_ends(output)


@_Hook
@uncompiled
def _gradient_accumulated(_parameter: Any) -> None:
    session = _session()
    if session is not None:
        session.gradient_accumulated()


@_Hook
@uncompiled
def _step_begins(_optimizer: Any, _arguments: Any, _named: Any) -> None:
    session = _session()
    if session is not None:
        session.step_begins()


@_Hook
@uncompiled
def _step_ends(optimizer: Any, _arguments: Any, _named: Any) -> None:
    session = _session()
    if session is not None:
        session.step_ends(optimizer)
