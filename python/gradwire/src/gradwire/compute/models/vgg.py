"""VGG for small images, with batch norms (vgg.ts)."""

from __future__ import annotations

from torch.nn import functional as F  # noqa: N812

from ..opened import Tensors
from .dense import dense
from .images import channels_first, convolve, normalize
from .norms import Norms
from .objective import Objective, classify


def vgg(parameters: Tensors, batch: Tensors, norms: Norms) -> Objective:
    """The objective of images."""
    values = channels_first(batch["inputs"])
    group = 1
    while f"group{group}.convolution1.weight" in parameters:
        number = 1
        while f"{(name := f'group{group}.convolution{number}')}.weight" in parameters:
            weights, bias = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
            values = normalize(parameters, name, convolve(values, weights, bias), norms).relu()
            number += 1
        values = F.max_pool2d(values, 2)
        group += 1
    scores = dense(parameters, "dense", values.flatten(1))
    losses, hits = classify(scores, batch["labels"])
    return Objective(losses, (hits,))
