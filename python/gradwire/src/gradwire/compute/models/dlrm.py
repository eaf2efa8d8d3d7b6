"""DLRM, a model of clicks (dlrm.ts)."""

from __future__ import annotations

import torch

from ..opened import Tensors
from .dense import network
from .norms import Norms
from .objective import Objective, logistic_loss


def dlrm(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
    """The objective of samples with numbers and categories."""
    vector = network(parameters, "bottom", batch["dense"]).relu()
    vectors = torch.cat([vector.unsqueeze(1), parameters["embedding"]], 1)
    joined = torch.cat([vector, _pair_products(vectors)], 1)
    scores = network(parameters, "top", joined).view(-1)
    clicks = batch["labels"].float()
    return Objective(logistic_loss(scores * (2 * clicks - 1)), (scores, clicks))


def _pair_products(vectors: torch.Tensor) -> torch.Tensor:
    """Dot products of all pairs of an odd number of vectors: of each with the next half of them."""
    count = vectors.shape[1]
    half = (count - 1) // 2
    first = torch.arange(count, device=vectors.device).repeat_interleave(half)
    second = (first + torch.arange(1, half + 1, device=vectors.device).repeat(count)) % count
    products = torch.bmm(vectors, vectors.transpose(1, 2))
    return products.flatten(1).index_select(1, first * count + second)
