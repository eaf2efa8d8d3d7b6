"""Fully connected layers; their weights are [inputs, outputs]."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ..opened import Tensors


def dense(parameters: Tensors, name: str, values: torch.Tensor) -> torch.Tensor:
    """Sums of a layer, [rows, outputs]."""
    return torch.addmm(parameters[f"{name}.bias"], values, parameters[f"{name}.weight"])


def numbered(parameters: Tensors, name: str) -> Iterator[str]:
    """The layers `name`1, `name`2, … that there are."""
    number = 1
    while f"{name}{number}.weight" in parameters:
        yield f"{name}{number}"
        number += 1
