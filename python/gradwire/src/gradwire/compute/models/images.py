"""What networks of images share (convolution.ts): images have their channels last in memory."""

from __future__ import annotations

import torch
from torch.nn import functional as F  # noqa: N812

from ..opened import Tensors
from .norms import Norms

_KERNEL = 3


def convolve(
    images: torch.Tensor,
    weights: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int = 1,
) -> torch.Tensor:
    """A 3x3 convolution of [samples, channels, rows, columns].

    Weights are [9 * inputs, outputs], by offset, then by channel.
    """
    inputs, outputs = images.shape[1], weights.shape[1]
    kernels = weights.view(_KERNEL, _KERNEL, inputs, outputs).permute(3, 2, 0, 1)
    return F.conv2d(images, kernels, bias, stride=stride, padding=1)


def normalize(parameters: Tensors, name: str, values: torch.Tensor, norms: Norms) -> torch.Tensor:
    """The norm of a layer."""
    return norms.normalize(values, parameters[f"{name}.scale"], parameters[f"{name}.shift"])


def channels_first(images: torch.Tensor) -> torch.Tensor:
    """Images of a batch as PyTorch takes them, without a copy."""
    return images.permute(0, 3, 1, 2)
