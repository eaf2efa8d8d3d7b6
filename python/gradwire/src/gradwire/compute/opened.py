"""A model and the memory it computes in, as the agent states them once."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..vector import map_memory

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class TensorEntry:
    """A tensor of the model. Of a table a batch brings the rows that it uses."""

    name: str
    shape: tuple[int, ...]
    is_table: bool


@dataclass(frozen=True)
class Slot:
    """Room for a block of samples and for what is computed of them: views of shared memory."""

    fields: Tensors
    rows: Sequence[torch.Tensor]
    """Rows of the model's tables that the samples use, table by table."""
    row_gradients: Sequence[torch.Tensor]
    measures: Sequence[torch.Tensor]
    """The losses of the samples, then the sums of the metric."""


@dataclass(frozen=True)
class Borrowed:
    """A tensor of another stage, and the gradient that this one adds to it."""

    values: torch.Tensor
    gradient: torch.Tensor


@dataclass(frozen=True)
class StageEntry:
    """One stage of a pipeline, of the layers between two splits."""

    layers: Sequence[str]
    has_head: bool
    """Whether it is the last, which has losses."""
    samples: int
    """Samples of a micro-batch."""
    before: torch.Tensor | None
    """Values from the stage before, and where their gradient goes; None in the first stage."""
    after: torch.Tensor | None
    """Values for the stage after, and where their gradient comes from; None in the last one."""
    borrowed: Mapping[str, Borrowed]


@dataclass(frozen=True)
class Opened:
    """What the agent wants computed, and where."""

    model: str
    predictions: int
    """Predictions of a batch: the loss that is differentiated is their mean."""
    tensors: Sequence[TensorEntry]
    weights: torch.Tensor
    """Values of all tensors that are no tables, one behind the other."""
    gradient: torch.Tensor
    """Flat, of all tensors. The agent writes those of tables."""
    slots: Mapping[str, Slot]
    statistics: Sequence[torch.Tensor]
    stage: StageEntry | None
    """None: the whole model."""


def opened(message: Mapping[str, Any]) -> Opened:
    """Maps the memory that a message names."""
    memory = {
        name: map_memory(place["path"], place["bytes"]) for name, place in message["memory"].items()
    }
    desk = memory["desk"]
    return Opened(
        model=message["model"],
        predictions=message["predictions"],
        tensors=[
            TensorEntry(one["name"], tuple(one["shape"]), one["isTable"])
            for one in message["tensors"]
        ],
        weights=torch.frombuffer(memory["weights"], dtype=torch.float32),
        gradient=torch.frombuffer(memory["gradient"], dtype=torch.float32),
        slots={name: _slot(desk, slot) for name, slot in message["slots"].items()},
        statistics=_views(desk, message["statistics"]),
        stage=_stage(desk, message.get("stage")),
    )


def _stage(desk: mmap.mmap, stage: Mapping[str, Any] | None) -> StageEntry | None:
    if stage is None:
        return None
    before, after = stage.get("before"), stage.get("after")
    return StageEntry(
        layers=stage["layers"],
        has_head=stage["hasHead"],
        samples=stage["samples"],
        before=None if before is None else _view(desk, before),
        after=None if after is None else _view(desk, after),
        borrowed={
            one["name"]: Borrowed(_view(desk, one["values"]), _view(desk, one["gradient"]))
            for one in stage["borrowed"]
        },
    )


def _slot(desk: mmap.mmap, slot: Mapping[str, Any]) -> Slot:
    return Slot(
        fields={name: _view(desk, place) for name, place in slot["fields"].items()},
        rows=_views(desk, slot["rows"]),
        row_gradients=_views(desk, slot["rowGradients"]),
        measures=_views(desk, slot["measures"]),
    )


def _views(desk: mmap.mmap, places: Sequence[Mapping[str, Any]]) -> Sequence[torch.Tensor]:
    return [_view(desk, place) for place in places]


def _view(desk: mmap.mmap, place: Mapping[str, Any]) -> torch.Tensor:
    shape = place["shape"]
    count = 1
    for size in shape:
        count *= size
    dtype = torch.float32 if place["type"] == "f32" else torch.int32
    return torch.frombuffer(desk, dtype=dtype, count=count, offset=place["offset"]).view(shape)
