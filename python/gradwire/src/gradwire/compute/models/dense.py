"""Fully connected layers; their weights are [inputs, outputs]."""

from __future__ import annotations

import torch

from ..opened import Tensors


def dense(parameters: Tensors, name: str, values: torch.Tensor) -> torch.Tensor:
    """Sums of a layer, [rows, outputs]."""
    return torch.addmm(parameters[f"{name}.bias"], values, parameters[f"{name}.weight"])


def network(parameters: Tensors, name: str, values: torch.Tensor) -> torch.Tensor:
    """Layers `name`1, `name`2, … with ReLU between them, but not after the last."""
    number = 1
    values = dense(parameters, f"{name}1", values)
    while f"{name}{number + 1}.weight" in parameters:
        number += 1
        values = dense(parameters, f"{name}{number}", values.relu())
    return values
