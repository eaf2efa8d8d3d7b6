"""State of Gradwire in a program's own checkpoint, and its loading.

A rank has kept back a part of its gradients, its residual. All ranks' residuals matter by their
mean, which is what the model has not got yet. So each rank saves its own; as many ranks get their
own back, and any other number gets the mean of all.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .errors import GradwireError
from .layout import Layout
from .messages import Saved

_VERSION = 1

State = Mapping[str, Any]


def state_of(saved: Saved, layout: Layout, residual: Any, rank: int, world: int) -> dict[str, Any]:
    """The state as the program keeps it: numbers, texts and tensors on the CPU."""
    return {
        "version": _VERSION,
        "rank": rank,
        "world": world,
        "iteration": saved.iteration,
        "method": saved.method,
        "tensors": _named(layout),
        "residual": residual,
        "states": [_tensor(base64.b64decode(one)) for one in saved.states],
    }


def chosen(given: Any, layout: Layout, rank: int, world: int) -> tuple[Any, State | None]:
    """The residual for this rank, or None, and the state with which the method goes on.

    `given` is a state, or those of all ranks. Raises GradwireError `STATE_MISFIT`.
    """
    states: Any = [given] if isinstance(given, Mapping) else given
    if not isinstance(states, Iterable):
        raise _misfit(f"a {type(given).__name__} is no state")
    total: Any = None
    first: State | None = None
    count = 0
    for state in states:
        if not state:
            continue
        _require(state, layout)
        if state["world"] == world and state["rank"] == rank:
            return state["residual"], state
        first = state if first is None else first
        count += 1
        if state["residual"] is not None:
            total = state["residual"] + (0 if total is None else total)
    return (None if total is None else total / count), first


def restored(state: State, rank: int, world: int) -> dict[str, Any]:
    """The message with methods' state."""
    return {
        "type": "restore",
        "method": state["method"],
        "iteration": state["iteration"],
        "own": state["world"] == world and state["rank"] == rank,
        "states": [base64.b64encode(bytes(one.tolist())).decode() for one in state["states"]],
    }


def _require(state: Any, layout: Layout) -> None:
    if not isinstance(state, Mapping) or state.get("version") != _VERSION:
        raise _misfit("this is no state of gw.state_dict()")
    saved = [(name, tuple(shape)) for name, shape in state["tensors"]]
    if saved != _named(layout):
        raise _misfit(f"the state is of another model, with {len(saved)} tensors")


def _named(layout: Layout) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.name, one.shape) for one in layout.tensors]


def _tensor(content: bytes) -> Any:
    # Loading weights only, torch.load takes tensors, not bytes.
    return torch.tensor(list(content), dtype=torch.uint8)


def _misfit(problem: str) -> GradwireError:
    return GradwireError(
        "STATE_MISFIT", problem, "Load what gw.state_dict() of the same model has returned"
    )
