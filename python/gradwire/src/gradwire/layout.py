"""The order of a model's tensors in one vector, and how much of it is there.

The vector has the tensors in the order of `named_parameters`, whatever buckets DDP makes and
remakes. Backward passes go from the last layers to the first, so what is ready is a growing end
of the vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tensor:
    """A tensor and its place: `size` elements from `offset` on."""

    name: str
    shape: tuple[int, ...]
    offset: int
    size: int


class Layout:
    """The places of tensors, one behind the other."""

    def __init__(self, tensors: Iterable[tuple[str, Sequence[int]]]) -> None:
        placed: list[Tensor] = []
        offset = 0
        for name, shape in tensors:
            size = math.prod(shape)
            placed.append(Tensor(name, tuple(shape), offset, size))
            offset += size
        self.tensors: tuple[Tensor, ...] = tuple(placed)
        self.length = offset


_MOST_NAME = 400
"""Characters of a name that is told; the agent takes as many, of two units each."""


def told_tensors(layout: Layout) -> list[dict[str, Any]]:
    """The tensors as `attach` has them: long names are cut."""
    return [{"name": cut(one.name), "shape": one.shape} for one in layout.tensors]


def cut(name: str) -> str:
    """A name that is not longer than what is told."""
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…"


class ReadyEnd:
    """The end of the vector in which all is ready: it grows until it is the whole."""

    def __init__(self, layout: Layout) -> None:
        self._offsets = [tensor.offset for tensor in layout.tensors]
        self._length = layout.length
        self._is_ready = bytearray()
        self._first = 0
        self.reset()

    def reset(self) -> None:
        """Nothing is ready."""
        self._first = len(self._offsets)
        self._is_ready = bytearray(self._first)

    def mark(self, index: int) -> None:
        """A tensor is ready. Whatever the order in which they come, only the end counts."""
        self._is_ready[index] = 1
        first = self._first
        while first > 0 and self._is_ready[first - 1]:
            first -= 1
        self._first = first

    @property
    def start(self) -> int:
        """The first element of the end."""
        if self._first == len(self._offsets):
            return self._length
        return self._offsets[self._first]

    @property
    def is_complete(self) -> bool:
        """Whether every tensor is ready."""
        return self._first == 0
