"""What optimisers keep beside the weights, as vectors in the order of the model's parameters.

A vector is a kind of state that has the shape of its parameter, such as a momentum: by its key, in
alphabetical order. Parameters whose optimiser keeps none of a kind have zeros there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

StateVector = list[Any]
"""A tensor, or None, for each parameter."""


def state_vectors(optimizers: Sequence[Any], parameters: Sequence[Any]) -> list[StateVector]:
    """The vectors that there are now."""
    kept: list[dict[str, Any]] = []
    misshapen = {"step"}
    for parameter in parameters:
        tensors: dict[str, Any] = {}
        for optimizer in optimizers:
            # Not by index: to read what is missing would make it.
            state = optimizer.state.get(parameter, {})
            for key, value in state.items():
                if not torch.is_tensor(value):
                    continue
                if value.shape == parameter.shape and value.is_floating_point():
                    tensors[str(key)] = value
                else:
                    misshapen.add(str(key))
        kept.append(tensors)
    keys = {key for tensors in kept for key in tensors} - misshapen
    return [[tensors.get(key) for tensors in kept] for key in sorted(keys)]
