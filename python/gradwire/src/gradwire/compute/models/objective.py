"""What a model computes of samples, and objectives that models share."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional as F  # noqa: N812


class Objective(NamedTuple):
    """The loss of each sample, and what the metric sums up, each [rows]."""

    losses: torch.Tensor
    sums: tuple[torch.Tensor, ...] = ()


def classify(scores: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax cross-entropy, and 1 where the highest score is the right class, else 0."""
    right = labels.long()
    losses = F.cross_entropy(scores, right, reduction="none")
    return losses, (scores.argmax(1) == right).float()


def logistic_loss(margins: torch.Tensor) -> torch.Tensor:
    """log(1 + exp(-m)) of margins m."""
    return -F.logsigmoid(margins)
