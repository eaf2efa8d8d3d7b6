"""Transformers (transformer.ts): a language model, and one that makes a sequence of another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import torch
from torch.nn import functional as F  # noqa: N812

from ..opened import Tensors
from .layered import Given, Layered
from .norms import Norms
from .objective import Objective, classify

_MASKED = -1e9
_PADDING = 0


class _Memory(NamedTuple):
    """What a decoder attends to, and the mask that hides its padding."""

    values: torch.Tensor
    mask: torch.Tensor


class _Transformer:
    """Layers of one shape. Values are [rows, length, width]."""

    def __init__(self, parameters: Tensors, heads: int, norm_first: bool) -> None:
        self._parameters = parameters
        self._heads = heads
        self._norm_first = norm_first

    def embed(self, tokens: torch.Tensor, name: str) -> torch.Tensor:
        table = self._parameters[name]
        width = table.shape[1]
        places = _encodings(tokens.shape[1], width).to(table.device)
        return F.embedding(tokens, table) * math.sqrt(width) + places

    def layers(
        self, name: str, values: torch.Tensor, mask: torch.Tensor, memory: _Memory | None = None
    ) -> torch.Tensor:
        number = 1
        while f"{(layer := f'{name}{number}')}.network.first.weight" in self._parameters:
            values = self.layer(layer, values, mask, memory)
            number += 1
        return values

    def layer(
        self, name: str, values: torch.Tensor, mask: torch.Tensor, memory: _Memory | None = None
    ) -> torch.Tensor:
        return self.from_units(name, *self.to_units(name, values, mask, memory))

    def to_units(
        self, name: str, values: torch.Tensor, mask: torch.Tensor, memory: _Memory | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The units of a layer's feed-forward network, and what passes it."""
        part = f"{name}.attention"
        own = self._before(part, values)
        values = self._after(part, values, self._attention(part, own, own, mask))
        if memory is not None:
            part = f"{name}.cross"
            own = self._before(part, values)
            values = self._after(
                part, values, self._attention(part, own, memory.values, memory.mask)
            )
        part = f"{name}.network"
        return self._linear(f"{part}.first", self._before(part, values)).relu(), values

    def from_units(self, name: str, units: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """The rest of that layer."""
        part = f"{name}.network"
        return self._after(part, values, self._linear(f"{part}.second", units))

    def finish(self, name: str, values: torch.Tensor) -> torch.Tensor:
        return self._norm(name, values) if self._norm_first else values

    def _before(self, part: str, values: torch.Tensor) -> torch.Tensor:
        return self._norm(f"{part}.norm", values) if self._norm_first else values

    def _after(self, part: str, values: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
        added = values + change
        return added if self._norm_first else self._norm(f"{part}.norm", added)

    def _attention(
        self, part: str, source: torch.Tensor, memory: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        means = F.scaled_dot_product_attention(
            self._by_head(self._linear(f"{part}.query", source)),
            self._by_head(self._linear(f"{part}.key", memory)),
            self._by_head(self._linear(f"{part}.value", memory)),
            attn_mask=mask,
        )
        return self._linear(f"{part}.output", means.transpose(1, 2).flatten(2))

    def _by_head(self, values: torch.Tensor) -> torch.Tensor:
        return values.unflatten(2, (self._heads, -1)).transpose(1, 2)

    def _linear(self, name: str, values: torch.Tensor) -> torch.Tensor:
        weight, bias = self._parameters[f"{name}.weight"], self._parameters[f"{name}.bias"]
        return F.linear(values, weight.t(), bias)

    def _norm(self, name: str, values: torch.Tensor) -> torch.Tensor:
        scale, shift = self._parameters[f"{name}.scale"], self._parameters[f"{name}.shift"]
        return F.layer_norm(values, scale.shape, scale, shift, 1e-5)


_UNITS = ".units"
"""End of the name of a layer's first part, up to the units of its feed-forward network."""


def language_model(heads: int, norm_first: bool) -> Layered:
    """The objective of windows of tokens, each of which but the last predicts its successor."""

    def apply(given: Given, name: str, values: torch.Tensor | None) -> torch.Tensor:
        own = _Transformer(given.parameters, heads, norm_first)
        if values is None:
            return own.embed(given.batch["tokens"][:, :-1], "embedding").flatten(0, 1)
        vectors = values.unflatten(0, (given.samples, -1))
        if name == "scores":
            finished = own.finish("norm", vectors) @ given.parameters["embedding"].t()
        elif name.endswith(_UNITS):
            layer = name.removesuffix(_UNITS)
            finished = torch.cat(own.to_units(layer, vectors, _causal(vectors)), 2)
        elif f"{name}.network.first.weight" in given.parameters:
            finished = own.layer(name, vectors, _causal(vectors))
        else:
            # The stage before has its first part.
            inner = given.parameters[f"{name}.network.second.weight"].shape[0]
            finished = own.from_units(name, vectors[..., :inner], vectors[..., inner:])
        return finished.flatten(0, 1)

    return Layered(_language_names, apply, _next_tokens)


def _language_names(parameters: Tensors) -> Iterator[str]:
    yield "embedding"
    number = 1
    while f"layer{number}.network.first.weight" in parameters:
        yield f"layer{number}"
        number += 1
    yield "scores"


def _next_tokens(given: Given, scores: torch.Tensor) -> Objective:
    targets = given.batch["tokens"][:, 1:].long()
    losses = F.cross_entropy(scores, targets.flatten(), reduction="none")
    return Objective(losses.view_as(targets).sum(1))


def translator(
    parameters: Tensors, batch: Tensors, _norms: Norms, *, heads: int, norm_first: bool
) -> Objective:
    """The objective of pairs of sequences: of a pair, the mean over the tokens that count."""
    source, target = batch["source"], batch["target"]
    own = _Transformer(parameters, heads, norm_first)
    padding = (source == _PADDING)[:, None, None, :].float() * _MASKED
    values = own.layers("encoder.layer", own.embed(source, "encoder.embedding"), padding)
    memory = _Memory(own.finish("encoder.norm", values), padding)
    values = own.embed(target[:, :-1], "decoder.embedding")
    values = own.layers("decoder.layer", values, _causal(values), memory)
    scores = own.finish("decoder.norm", values) @ parameters["decoder.embedding"].t()
    labels = target[:, 1:]
    counts = (labels != _PADDING).float()
    losses, hits = classify(scores.flatten(0, 1), labels.flatten())
    counted = counts.sum(1)
    right = (hits.view_as(counts) * counts).sum(1)
    sums = (losses.view_as(counts) * counts).sum(1)
    return Objective(sums / counted.clamp(min=1), (right, counted))


def _causal(values: torch.Tensor) -> torch.Tensor:
    """Hides later positions."""
    length = values.shape[1]
    return torch.full((length, length), _MASKED, device=values.device).triu(1)


@lru_cache(maxsize=8)
def _encodings(length: int, width: int) -> torch.Tensor:
    """Sinusoidal positional encodings, [length, width]."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    pair = torch.arange(width, dtype=torch.float64) // 2
    angles = position / 10_000 ** (2 * pair / width)
    even = torch.arange(width) % 2 == 0
    return torch.where(even, angles.sin(), angles.cos()).float()
