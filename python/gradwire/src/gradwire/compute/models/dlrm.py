"""DLRM, a model of clicks (dlrm.ts)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ..opened import Tensors
from .dense import dense, numbered
from .layered import Given, Layered
from .objective import Objective, logistic_loss

_TABLE = "embedding"


def _names(parameters: Tensors) -> Iterator[str]:
    yield from numbered(parameters, "bottom")
    yield _TABLE
    yield from numbered(parameters, "top")


def _layer(given: Given, name: str, values: torch.Tensor | None) -> torch.Tensor:
    if name == _TABLE:
        assert values is not None
        vectors = torch.cat([values.unsqueeze(1), given.parameters[_TABLE]], 1)
        return torch.cat([values, _pair_products(vectors)], 1)
    sums = dense(given.parameters, name, given.batch["dense"] if values is None else values)
    # The last layer has one score for each sample.
    return sums if sums.shape[1] == 1 else sums.relu()


def _head(given: Given, values: torch.Tensor) -> Objective:
    scores = values.view(-1)
    clicks = given.batch["labels"].float()
    return Objective(logistic_loss(scores * (2 * clicks - 1)), (scores, clicks))


def _pair_products(vectors: torch.Tensor) -> torch.Tensor:
    """Dot products of all pairs of an odd number of vectors: of each with the next half of them."""
    count = vectors.shape[1]
    half = (count - 1) // 2
    first = torch.arange(count, device=vectors.device).repeat_interleave(half)
    second = (first + torch.arange(1, half + 1, device=vectors.device).repeat(count)) % count
    products = torch.bmm(vectors, vectors.transpose(1, 2))
    return products.flatten(1).index_select(1, first * count + second)


dlrm = Layered(_names, _layer, _head)
"""The model of samples with numbers and categories."""
