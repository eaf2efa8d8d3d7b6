"""Residual networks for small images, with shortcuts of option A (resnet.ts)."""

from __future__ import annotations

import torch
from torch.nn import functional as F  # noqa: N812

from ..opened import Tensors
from .dense import dense
from .images import channels_first, convolve, normalize
from .norms import Norms
from .objective import Objective, classify


def resnet(parameters: Tensors, batch: Tensors, norms: Norms) -> Objective:
    """The objective of images."""

    def layer(name: str, values: torch.Tensor, stride: int = 1) -> torch.Tensor:
        convolved = convolve(values, parameters[f"{name}.weight"], stride=stride)
        return normalize(parameters, name, convolved, norms)

    values = layer("stem", channels_first(batch["inputs"])).relu()
    stage, block = 1, 1
    while (name := f"stage{stage}.block{block}") and f"{name}.first.weight" in parameters:
        stride = 2 if stage > 1 and block == 1 else 1
        changed = layer(f"{name}.first", values, stride).relu()
        changed = layer(f"{name}.second", changed)
        values = (changed + _shortcut(values, changed.shape[1], stride)).relu()
        block += 1
        if f"stage{stage}.block{block}.first.weight" not in parameters:
            stage, block = stage + 1, 1
    scores = dense(parameters, "dense", values.mean((2, 3)))
    losses, hits = classify(scores, batch["labels"])
    return Objective(losses, (hits,))


def _shortcut(values: torch.Tensor, channels: int, stride: int) -> torch.Tensor:
    added = channels - values.shape[1]
    if stride == 1 and added == 0:
        return values
    return F.pad(values[:, :, ::stride, ::stride], (0, 0, 0, 0, 0, added))
