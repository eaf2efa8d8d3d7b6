"""Copies between a model's tensors and the shared vector.

PyTorch makes them: it lets other threads run meanwhile, and converts between types. Those from a
GPU run beside its backward pass, on a stream of their own.
"""

from __future__ import annotations

from typing import Any

import torch

from .vector import Vector

Tensors = list[Any]


class Transfer:
    """Copies of tensors that the CPU can reach: each is done when its call returns."""

    def __init__(self) -> None:
        self._gathered = 0

    def gather(self, views: Tensors, tensors: Tensors, factor: Any = None) -> None:
        """Begins to copy tensors, times a factor, to views of the vector."""
        _copy(views, tensors, factor)
        self._gathered += 1

    def arrived(self, wait: bool) -> int:
        """How many calls of `gather` are done since the last time; `wait` waits for all of them."""
        gathered, self._gathered = self._gathered, 0
        return gathered

    def scatter(self, tensors: Tensors, views: Tensors, factor: Any = None) -> None:
        """Copies views of the vector, times a factor, to tensors."""
        _copy(tensors, views, factor)

    def settle(self) -> None:
        """Waits until all copies are made: then others may write to the vector."""


class CudaTransfer(Transfer):
    """Copies of tensors of a GPU, in the order of its streams."""

    def __init__(self, device: Any, vector: Vector) -> None:
        super().__init__()
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._events: list[Any] = []
        vector.pin()

    def gather(self, views: Tensors, tensors: Tensors, factor: Any = None) -> None:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            if factor is not None:
                # In float32, where what the scale protects has its digits.
                tensors = torch._foreach_mul([one.float() for one in tensors], factor)
            torch._foreach_copy_(views, tensors, non_blocking=True)
            self._events.append(self._stream.record_event())

    def arrived(self, wait: bool) -> int:
        if wait and self._events:
            self._events[-1].synchronize()
        done = 0
        while done < len(self._events) and (wait or self._events[done].query()):
            done += 1
        del self._events[:done]
        return done

    def scatter(self, tensors: Tensors, views: Tensors, factor: Any = None) -> None:
        # Of another type, they are converted on the GPU: the CPU would wait for that.
        copies = [view.to(self._device, non_blocking=True) for view in views]
        if factor is not None:
            torch._foreach_mul_(copies, factor)
        torch._foreach_copy_(tensors, copies)

    def settle(self) -> None:
        torch.cuda.current_stream(self._device).synchronize()


def _copy(targets: Tensors, sources: Tensors, factor: Any) -> None:
    if factor is None:
        torch._foreach_copy_(targets, sources)
        return
    for target, source in zip(targets, sources):
        # In float32, where what a scale protects has its digits.
        torch.mul(source.float(), factor, out=target)


def transfer_for(device: Any, vector: Vector) -> Transfer:
    """The way to copy tensors of a device."""
    return CudaTransfer(device, vector) if device.type == "cuda" else Transfer()
