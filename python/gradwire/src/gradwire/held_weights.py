"""Weights of a program that waits, and its optimisers' state, as the agent asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .errors import GradwireError
from .framing import invalid
from .link import Link
from .messages import Read, Write
from .states import state_vectors
from .transfer import Transfer


class HeldWeights:
    """Parameters and vectors of state, which go through the shared vector."""

    def __init__(
        self,
        link: Link,
        parameters: Sequence[Any],
        optimizers: Sequence[Any],
        *,
        views: Sequence[Any],
        transfer: Transfer,
    ) -> None:
        self._link = link
        self._parameters = parameters
        """The weights; empty where only tensors are averaged."""
        self._optimizers = optimizers
        self._views = views
        self._transfer = transfer

    def serve(self, awaited: Any) -> Any:
        """Does what the agent asks, until the awaited message comes. Returns it."""
        while True:
            message = self._link.receive()
            if isinstance(message, awaited):
                return message
            with torch.no_grad():
                if isinstance(message, (Read, Write)) and not self._parameters:
                    self._keep_average(message)
                elif isinstance(message, Read):
                    states = state_vectors(self._optimizers, self._parameters)
                    self._read(_chosen([self._parameters, *states], message.vector))
                    self._link.send({"type": "written", "states": len(states)})
                elif isinstance(message, Write):
                    states = state_vectors(self._optimizers, self._parameters)
                    self._write(_chosen([self._parameters, *states], message.vector))
                    self._link.send({"type": "loaded"})
                else:
                    raise unexpected(message)

    def _keep_average(self, message: Read | Write) -> None:
        """Without weights the last average, which is in the vector, stands for them."""
        if isinstance(message, Read):
            self._link.send({"type": "written", "states": 0})
            return
        raise GradwireError(
            "WEIGHTS_MISSING",
            "the method lets replicas drift apart, and there are no weights to average",
            "Attach the model: gw.attach(model, optimizer); or choose another method",
        )

    def _read(self, tensors: Sequence[Any]) -> None:
        self._transfer.settle()
        for view, tensor in zip(self._views, tensors):
            if tensor is None:
                view.zero_()
        self._transfer.gather(*self._pairs(tensors))
        self._transfer.arrived(wait=True)

    def _write(self, tensors: Sequence[Any]) -> None:
        views, present = self._pairs(tensors)
        self._transfer.scatter(present, views)
        self._transfer.settle()

    def _pairs(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Views of the vector, and the tensors that there are for them."""
        pairs = [pair for pair in zip(self._views, tensors) if pair[1] is not None]
        return [view for view, _ in pairs], [tensor for _, tensor in pairs]


def _chosen(vectors: Sequence[Sequence[Any]], index: int) -> Sequence[Any]:
    if index >= len(vectors):
        raise invalid(f"vector {index} of {len(vectors)}")
    return vectors[index]


def unexpected(message: object) -> GradwireError:
    """The error for a message that the agent must not send now."""
    return invalid(f"{type(message).__name__} where it makes no sense")
