"""The buckets of an observed program: what is in each is told once."""

from __future__ import annotations

import weakref
from typing import Any

from .layout import cut

_MOST_PLACES = 10_000
"""Most buckets that are told, which is the most that the agent takes."""


class SeenBuckets:
    """Numbers buckets as they are seen: DDP makes others once it knows the order of gradients."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[int, str]] = {}
        """Place and name of each parameter, by its identity."""
        self._modules: weakref.WeakSet[Any] = weakref.WeakSet()
        self._places: dict[tuple[Any, ...], int] = {}
        self._untold: list[dict[str, Any]] = []

    def add_names(self, module: Any) -> None:
        """Adds the names of a DDP module's parameters, once."""
        if module in self._modules:
            return
        self._modules.add(module)
        number = len(self._modules)
        for within, parameter in module.module.named_parameters():
            # Models often have layers of the same names.
            name = within if number == 1 else f"model {number}: {within}"
            self._names[id(parameter)] = (len(self._names), name)

    def place(
        self,
        index: int,
        parameters: list[Any],
        buffer: Any,
        *,
        is_encoded: bool,
        ranks: list[int] | None = None,
    ) -> int | None:
        """A bucket's number.

        `index`: among those of its module; `is_encoded`: whether a hook of the program decides what
        is sent; `ranks`: those that average it, if they are not all.
        """
        ends = (id(parameters[0]), id(parameters[-1])) if parameters else ()
        key = (index, buffer.numel(), is_encoded, ends)
        known = self._places.get(key)
        if known is not None:
            return known
        place = len(self._places)
        if place >= _MOST_PLACES:
            return None
        self._places[key] = place
        told = self._told(place, buffer, parameters, is_encoded)
        if ranks is not None:
            told["ranks"] = ranks
        self._untold.append(told)
        return place

    def take(self) -> dict[str, Any]:
        """Buckets that have not been told yet, as `stepped` has them."""
        if not self._untold:
            return {}
        untold, self._untold = self._untold, []
        return {"layout": untold}

    def _told(
        self, place: int, buffer: Any, parameters: list[Any], is_encoded: bool
    ) -> dict[str, Any]:
        named = sorted(self._names.get(id(one), (0, "?")) for one in parameters)
        names = [cut(name) for _, name in named] or ["?"]
        name = names[0] if len(names) < 2 else f"{names[0]} … {names[-1]}"
        return {
            "place": place,
            "name": name,
            "tensors": len(parameters),
            "length": buffer.numel(),
            "bytes": buffer.numel() * buffer.element_size(),
            "dtype": str(buffer.dtype).removeprefix("torch."),
            "encoded": is_encoded,
        }
