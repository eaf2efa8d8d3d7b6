"""Fully connected classifiers (fnn3.ts)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ..opened import Tensors
from .dense import dense, numbered
from .layered import Given, Layered
from .objective import Objective, classify

_LAST = "layer3"


def _names(parameters: Tensors) -> Iterator[str]:
    return numbered(parameters, "layer")


def _layer(given: Given, name: str, values: torch.Tensor | None) -> torch.Tensor:
    inputs = given.batch["inputs"] if values is None else values
    sums = dense(given.parameters, name, inputs)
    return sums if name == _LAST else sums.relu()


def _head(given: Given, scores: torch.Tensor) -> Objective:
    losses, hits = classify(scores, given.batch["labels"])
    return Objective(losses, (hits,))


fnn = Layered(_names, _layer, _head)
"""The classifier of rows of numbers."""
