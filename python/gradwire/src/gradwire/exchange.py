"""The averaging of one gradient after the other: as DDP's buckets become ready, or all at once.

The last bucket's hook waits for the average: the backward pass has nothing else left to compute.
It raises what goes wrong where the program called `backward()`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .errors import GradwireError
from .framing import encode_ready, invalid
from .layout import Layout, ReadyEnd
from .link import Link
from .messages import Averaged
from .scaling import Scale
from .timeline import Timeline
from .transfer import Transfer


class Exchange:
    """The gradients of what is attached, in the shared vector."""

    def __init__(
        self,
        link: Link,
        layout: Layout,
        *,
        parameters: Sequence[Any],
        views: list[Any],
        transfer: Transfer,
        timeline: Timeline,
        scale: Scale,
        in_turns: bool = False,
    ) -> None:
        self._link = link
        self._scale = scale
        self._in_turns = in_turns
        """Whether a pass may have some of the models, and says at its end which."""
        self._views = views
        self._transfer = transfer
        self._timeline = timeline
        self._parameters = parameters
        self._index = {id(parameter): index for index, parameter in enumerate(parameters)}
        self._end = ReadyEnd(layout)
        self._said = layout.length
        self._length = layout.length
        self._given: set[int] = set()
        self._arriving: list[list[int]] = []
        self._buckets: list[tuple[list[Any], list[Any]]] = []
        """Gradients that are being averaged, and their views of the vector."""
        self._owed: dict[int, Any] = {}
        """Tensors that are still to go with a gradient, by parameter: parts of a loaded residual,
        and averages that DDP has not given the program."""
        self.keeps_ungiven = False
        """Whether `keep_ungiven` is called at the end of each backward pass."""
        self._before: dict[int, tuple[Any, int]] = {}
        """`grad` of each parameter before its average, and the version of that tensor, for it."""
        self._is_finite = True
        self._futures: list[tuple[Any, Any]] = []
        """Futures of DDP's buckets, and what they will give."""

    def owe(self, residual: Any) -> None:
        """A flat vector goes with the next gradient."""
        sizes = [view.numel() for view in self._views]
        parts = residual.to("cpu", torch.float32).split(sizes)
        owed = [part.view_as(view) for part, view in zip(parts, self._views)]
        self._owed = dict(enumerate(owed))

    def owed(self) -> Any:
        """A flat vector of all that is still to go with a gradient; None if there is nothing."""
        if not self._owed:
            return None
        views = self._views
        parts = [self._owed.get(index, view.new_zeros(())) for index, view in enumerate(views)]
        return torch.cat([part.expand_as(view).flatten() for part, view in zip(parts, views)])

    def keep_ungiven(self) -> None:
        """DDP has ended a backward pass. What it was to give to a parameter that no rank has used,
        and did not, goes with that parameter's next gradient: a method had kept it back before.
        A gradient of before that the program has not cleared is its own, though DDP sent it."""
        before, self._before = self._before, {}
        if not self._is_finite:
            return
        for index, (gradient, version) in before.items():
            parameter = self._parameters[index]
            now = parameter.grad
            if now is not None and (now is not gradient or now._version != version):
                continue
            ungiven = self._views[index].clone()
            if now is not None:
                sent = in_memory_order(now, parameter).to("cpu", torch.float32)
                if self._scale.inverse is not None:
                    sent = sent * self._scale.inverse.to("cpu")
                ungiven.sub_(sent.view_as(ungiven))
            if bool(ungiven.any()):
                self._owed[index] = ungiven

    @property
    def is_open(self) -> bool:
        """Whether some of a gradient's buckets are there."""
        return bool(self._given)

    @property
    def given(self) -> frozenset[int]:
        """Parameters of which buckets are there."""
        return frozenset(self._given)

    @property
    def missing(self) -> list[int]:
        """Parameters of which no bucket is there, where some of a gradient is."""
        if not self.is_open:
            return []
        return [index for index in range(len(self._parameters)) if index not in self._given]

    def add(self, bucket: Any) -> tuple[Any, Averaged | None]:
        """Takes a bucket. Returns the future of its average; with the last one, the answer too."""
        gradients = bucket.gradients()
        try:
            indices = [self._index[id(parameter)] for parameter in bucket.parameters()]
        except KeyError:
            raise GradwireError(
                "MODEL_CHANGED",
                "DDP averages a parameter that the model did not have when it was attached",
                "Attach the model after its parameters are thawed and DDP is made",
            ) from None
        future: Any = torch.futures.Future(
            devices=[] if bucket.buffer().is_cpu else [bucket.buffer().device]
        )
        views = [self._views[index] for index in indices]
        self._buckets.append((gradients, views))
        self._futures.append((future, bucket.buffer()))
        is_first = not self.is_open
        self._given.update(indices)
        self._arriving.append(indices)
        is_last = len(self._given) == len(self._parameters) and not self._in_turns
        if self.keeps_ungiven:
            for index in indices:
                gradient = self._parameters[index].grad
                self._before[index] = (gradient, 0 if gradient is None else gradient._version)
        with torch.no_grad():
            if is_first:
                self._scale.note(bucket.buffer().device)
            self._transfer.gather(views, gradients, self._scale.inverse)
            if self._in_turns:
                return future, None
            self._tell(is_last)
            return future, self._average() if is_last else None

    def average(self, gradients: list[Any]) -> Averaged:
        """Averages one tensor for each of the layout, in place."""
        with torch.no_grad():
            self._scale.note(gradients[0].device)
            self._buckets.append((gradients, self._views))
            self._arriving.append(list(range(len(gradients))))
            self._transfer.gather(self._views, gradients, self._scale.inverse)
            self._tell(True)
            return self._average()

    def average_of(self, models: list[int], indices: list[int], gradients: list[Any]) -> Averaged:
        """Averages one tensor for each parameter of some models, in place."""
        with torch.no_grad():
            views = [self._views[index] for index in indices]
            self._scale.note(gradients[0].device)
            self._buckets.append((gradients, views))
            self._transfer.gather(views, gradients, self._scale.inverse)
            return self._average_part(models, indices)

    def end_pass(self, models: list[int]) -> Averaged:
        """Averages what a backward pass has had: all of the gradients of these models."""
        with torch.no_grad():
            return self._average_part(models, sorted(self._given))

    def _average_part(self, models: list[int], indices: list[int]) -> Averaged:
        self._transfer.arrived(wait=True)
        self._arriving.clear()
        self._add_owed(indices)
        self._timeline.program("gradient_complete")
        self._link.send({"type": "ready", "from": 0, "models": models})
        return self._average(indices)

    def _add_owed(self, indices: Iterable[int]) -> None:
        owed = [index for index in indices if index in self._owed] if self._owed else []
        if owed:
            views = [self._views[index] for index in owed]
            torch._foreach_add_(views, [self._owed[index] for index in owed])

    def _tell(self, is_last: bool) -> None:
        """Says how much of the gradient is there."""
        if self._owed and not is_last:
            return
        arrived = self._transfer.arrived(wait=is_last)
        for indices in self._arriving[:arrived]:
            for index in indices:
                self._end.mark(index)
        del self._arriving[:arrived]
        start = self._end.start
        if is_last:
            self._add_owed(range(len(self._views)))
            self._timeline.program("gradient_complete")
        if start < self._said:
            self._said = start
            self._link.send_frame(encode_ready(start))

    def _average(self, indices: Sequence[int] | None = None) -> Averaged:
        """Waits for the average, of these parameters or of all."""
        answer = self._link.receive()
        if not isinstance(answer, Averaged):
            raise invalid(f"{type(answer).__name__} where the average belongs")
        self._is_finite = answer.finite
        # A step that is skipped loses nothing.
        averaged = range(len(self._views)) if indices is None else indices
        if self._owed and answer.finite and self._are_finite(averaged):
            for index in averaged:
                self._owed.pop(index, None)
        for gradients, views in self._buckets:
            if answer.finite:
                self._transfer.scatter(gradients, views, self._scale.factor)
            else:
                # On all ranks alike, so that a GradScaler skips the step on all of them.
                torch._foreach_mul_(gradients, math.nan)
        self._timeline.program("averaged")
        for future, buffer in self._futures:
            future.set_result(buffer)
        self._futures.clear()
        self._buckets.clear()
        self._end.reset()
        self._said = self._length
        self._given.clear()
        return answer

    def _are_finite(self, indices: Iterable[int]) -> bool:
        return all(bool(self._views[index].isfinite().all()) for index in indices)


def in_memory_order(gradient: Any, parameter: Any) -> Any:
    """A gradient as DDP's buckets have it: its elements in the order of the parameter's memory."""
    strides = parameter.stride()
    order = sorted(range(parameter.dim()), key=lambda dimension: -strides[dimension])
    if not parameter.permute(order).is_contiguous():
        # It has gaps, or elements that share a place: DDP takes its own order.
        return gradient.contiguous()
    return gradient.permute(order).contiguous()
