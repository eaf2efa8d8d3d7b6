"""Parameters of a replica on its device, and their gradients on the way to the agent."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..layout import Layout, ReadyEnd
from ..vector import pin
from .opened import Opened


class Parameters:
    """The tensors that are no tables.

    On the CPU they are the shared memory itself; a GPU has a copy, renewed when they have changed.
    """

    def __init__(self, opened: Opened, device: torch.device) -> None:
        self._host = opened.weights
        self._flat = self._host
        if device.type != "cpu":
            pin(self._host)
            self._flat = torch.empty_like(self._host, device=device)
        self.leaves: dict[str, torch.Tensor] = {}
        whole = [tensor for tensor in opened.tensors if not tensor.is_table]
        layout = Layout((tensor.name, tensor.shape) for tensor in whole)
        for place in layout.tensors:
            part = self._flat[place.offset : place.offset + place.size]
            self.leaves[place.name] = part.view(place.shape).detach().requires_grad_()

    def renew(self) -> None:
        """Takes over what the agent has changed."""
        if self._flat is not self._host:
            self._flat.copy_(self._host, non_blocking=True)


class Gradients:
    """Takes the gradients of a backward pass one by one, as they come, to where the agent reads.

    From a GPU they are fetched at once when all are there, unless the agent wants to know early.
    """

    def __init__(
        self,
        opened: Opened,
        parameters: Parameters,
        device: torch.device,
        tell: Callable[[int], None],
    ) -> None:
        self._tell = tell
        layout = Layout((tensor.name, tensor.shape) for tensor in opened.tensors)
        self._end = ReadyEnd(layout)
        self.reports = False
        places = [i for i, tensor in enumerate(opened.tensors) if not tensor.is_table]
        self._host = [
            opened.gradient[one.offset : one.offset + one.size].view(one.shape)
            for one in (layout.tensors[i] for i in places)
        ]
        self._kept: list[torch.Tensor] | None = None
        if device.type != "cpu":
            pin(opened.gradient)
            self._kept = [torch.empty_like(leaf) for leaf in parameters.leaves.values()]
        for which, (place, leaf) in enumerate(zip(places, parameters.leaves.values())):
            leaf.register_post_accumulate_grad_hook(self._taker(which, place))

    def begin(self, reports: bool) -> None:
        """Begins a pass. With `reports` the agent is told of the growing end that is ready."""
        self.reports = reports
        self._end.reset()

    def finish(self) -> None:
        """Ends a pass: all is where the agent reads."""
        if self._kept is None or self.reports:
            return
        torch._foreach_copy_(self._host, self._kept, non_blocking=True)
        torch.cuda.synchronize()

    def _taker(self, which: int, place: int) -> Callable[[torch.Tensor], None]:
        host = self._host[which]
        kept = host if self._kept is None else self._kept[which]

        def take(leaf: torch.Tensor) -> None:
            (host if self.reports else kept).copy_(leaf.grad)
            leaf.grad = None
            if self.reports:
                before = self._end.start
                self._end.mark(place)
                start = self._end.start
                # That all is ready, the end of the pass says.
                if 0 < start < before:
                    self._tell(start)

        return take
