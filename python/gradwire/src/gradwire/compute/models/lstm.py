"""LSTM language models (lstm.ts): gates and biases are those of PyTorch's own."""

from __future__ import annotations

import torch
from torch.nn import functional as F  # noqa: N812

from ..opened import Tensors
from .dense import dense
from .norms import Norms
from .objective import Objective


def lstm(parameters: Tensors, batch: Tensors, _norms: Norms) -> Objective:
    """The objective of windows of tokens, each of which but the last predicts its successor."""
    tokens = batch["tokens"].t()
    steps, rows = tokens.shape[0] - 1, tokens.shape[1]
    values = F.embedding(tokens[:-1], parameters["embedding"])
    weights: list[torch.Tensor] = []
    layers = 0
    while (name := f"layer{layers + 1}") and f"{name}.input" in parameters:
        weights += [parameters[f"{name}.input"].t(), parameters[f"{name}.state"].t()]
        weights += [parameters[f"{name}.inputBias"], parameters[f"{name}.stateBias"]]
        layers += 1
    zeros = values.new_zeros(layers, rows, parameters["layer1.state"].shape[0])
    outputs, _, _ = torch.lstm(
        values,
        (zeros, zeros),
        weights,
        has_biases=True,
        num_layers=layers,
        dropout=0.0,
        train=torch.is_grad_enabled(),
        bidirectional=False,
        batch_first=False,
    )
    scores = dense(parameters, "output", outputs.flatten(0, 1))
    losses = F.cross_entropy(scores, tokens[1:].flatten().long(), reduction="none")
    return Objective(losses.view(steps, rows).sum(0))
