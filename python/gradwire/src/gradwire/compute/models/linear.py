"""Linear classifiers of sparse samples (linear.ts)."""

from __future__ import annotations

import torch

from ..opened import Tensors
from .norms import Norms
from .objective import Objective, logistic_loss


def logistic(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
    """Logistic regression."""
    margins = _margins(parameters, batch)
    return Objective(logistic_loss(margins), ((margins > 0).float(),))


def hinge(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
    """A support vector machine."""
    margins = _margins(parameters, batch)
    return Objective((1 - margins).relu(), ((margins > 0).float(),))


def _margins(parameters: Tensors, batch: Tensors) -> torch.Tensor:
    scores = (parameters["weight"] * batch["values"]).sum(1) + parameters["bias"]
    return scores * (2 * batch["labels"].float() - 1)
