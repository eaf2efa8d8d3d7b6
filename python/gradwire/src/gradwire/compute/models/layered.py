"""A model as a chain of named layers, which may be split after any of them (layered.ts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch

from ..opened import Tensors
from .norms import Norms
from .objective import Objective


class Given(NamedTuple):
    """A layer's parameters and samples, besides the values of the layer before."""

    parameters: Tensors
    """Tensors by name; a stage has those of its layers."""
    batch: Tensors
    samples: int


class Layered(NamedTuple):
    """Layers and what makes losses of the last one's values.

    Values between layers are [samples * rows, width], as the agent's definitions have them.
    """

    names: Callable[[Tensors], Iterator[str]]
    """Layers of a whole model, in their order."""
    apply: Callable[[Given, str, torch.Tensor | None], torch.Tensor]
    """One layer, or the part of one that a stage has. The first gets no values."""
    head: Callable[[Given, torch.Tensor], Objective]


def whole(model: Layered) -> Callable[[Tensors, Tensors, Norms], Objective]:
    """The model in one piece."""

    def compute(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
        samples = next(iter(batch.values())).shape[0]
        given = Given(parameters, batch, samples)
        return model.head(given, run(model, given, model.names(parameters), None))

    return compute


def run(
    model: Layered, given: Given, names: Iterator[str], values: torch.Tensor | None
) -> torch.Tensor:
    """Layers one after the other."""
    for name in names:
        values = model.apply(given, name, values)
    assert values is not None
    return values
