"""Fully connected classifiers (fnn3.ts)."""

from __future__ import annotations

from ..opened import Tensors
from .dense import network
from .norms import Norms
from .objective import Objective, classify


def fnn(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
    """The objective of rows of numbers."""
    losses, hits = classify(network(parameters, "layer", batch["inputs"]), batch["labels"])
    return Objective(losses, (hits,))
