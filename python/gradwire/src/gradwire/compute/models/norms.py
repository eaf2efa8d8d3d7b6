"""Batch norms (batch-norm.ts): by the batch's own moments, or by given ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.nn import functional as F  # noqa: N812

_EPSILON = 1e-5


class Norms:
    """The norms of one pass through a model, in their order."""

    def __init__(self, given: Sequence[torch.Tensor] | None = None) -> None:
        self._given: Iterator[torch.Tensor] | None = None if given is None else iter(given)
        self.notes: list[torch.Tensor] | None = None
        """Mean and variance of each norm, if they are to be noted."""

    def normalize(
        self, images: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor
    ) -> torch.Tensor:
        """Images [samples, channels, rows, columns], each channel normalised."""
        if self._given is not None:
            mean, variance = next(self._given), next(self._given)
            return F.batch_norm(images, mean, variance, scale, shift, False, 0.0, _EPSILON)
        if images.is_cpu:
            # PyTorch's batch norm of images with their channels last in memory has larger errors.
            images = images.contiguous()
        if self.notes is not None:
            variance, mean = torch.var_mean(images, dim=(0, 2, 3), correction=0)
            self.notes += [mean, variance]
        return F.batch_norm(images, None, None, scale, shift, True, 0.0, _EPSILON)
