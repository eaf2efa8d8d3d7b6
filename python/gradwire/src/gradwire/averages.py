"""The averages that DDP makes by itself, seen where PyTorch hands them to the network.

DDP without a communication hook scales gradients while it copies them into a bucket and has the
bucket summed in place. A hook that does the same needs one more pass over the gradient, and its
thread stands between the sum and the program. Here the operator of that sum is observed instead:
what DDP computes, and when, stays its own. A bucket is known by where its memory is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

_DEVICES = ("AutogradCPU", "AutogradCUDA")
"""Dispatch keys at which the operator is observed, where PyTorch has no kernel of its own."""

_Key = tuple[Any, ...]


class Average(NamedTuple):
    """A bucket that DDP averages."""

    size: int
    """Bytes."""
    place: int | None
    """The bucket's number in what was told of buckets."""
    is_last: bool
    """Whether no gradient is computed after it."""


class SeenBucket(NamedTuple):
    """A bucket as a reducer has it."""

    number: int
    parameters: list[Any]
    buffer: Any
    ranks: list[int] | None
    """The ranks that average it; None: all of them."""


class Averages:
    """The buckets of DDP modules without a hook, by their memory."""

    def __init__(self, place: Callable[[SeenBucket], int | None]) -> None:
        self._place = place
        self._averages: dict[_Key, Average] = {}
        self._known: weakref.WeakKeyDictionary[Any, tuple[Any, list[_Key]]] = (
            weakref.WeakKeyDictionary()
        )
        """Each module's state at which its buckets were looked at, and their keys."""
        self._library: Any = None

    def look(self, module: Any) -> None:
        """Looks at a module's buckets, if they are others than at the last look.

        DDP makes them again once it knows the order of its gradients.
        """
        state = (id(module.reducer), getattr(module, "_has_rebuilt_buckets", None))
        known = self._known.get(module)
        if known is not None and known[0] == state:
            return
        self.forget(module)
        try:
            buckets = _buckets_of(module)
        except RuntimeError:
            # A bucket of a sparse gradient has no memory before the first backward pass.
            return
        keys = [_key(bucket.buffer) for bucket in buckets]
        self._known[module] = (state, keys)
        for key, bucket in zip(keys, buckets):
            is_last = bucket.number == len(buckets) - 1
            size = bucket.buffer.numel() * bucket.buffer.element_size()
            self._averages[key] = Average(size, self._place(bucket), is_last)

    def forget(self, module: Any) -> None:
        """Makes a module's buckets unknown."""
        _, keys = self._known.pop(module, (None, []))
        for key in keys:
            self._averages.pop(key, None)

    def of(self, tensors: list[Any]) -> Average | None:
        """The bucket that is summed, if it is one."""
        if len(tensors) != 1 or type(tensors[0]) is not torch.Tensor:
            return None
        return self._averages.get(_key(tensors[0]))

    def observe(self, begins: Callable[[Average], Any], ends: Callable[..., None]) -> None:
        """Has `begins` called before the sum of a bucket, and `ends` after it has begun, with what
        `begins` returned, the work and the bucket's memory."""
        self._library = torch.library.Library("c10d", "IMPL")
        operator = torch.ops.c10d.allreduce_.default

        def allreduce(tensors: list[Any], *rest: Any) -> Any:
            average = self.of(tensors)
            seen = None if average is None else begins(average)
            with torch._C._AutoDispatchBelowAutograd():
                summed = operator(tensors, *rest)
            if seen is not None:
                ends(seen, summed[1], tensors[0])
            return summed

        for device in _DEVICES:
            self._library.impl("allreduce_", allreduce, device)


def _buckets_of(module: Any) -> list[SeenBucket]:
    """The buckets of a module's reducer. It gives them with zeros in place of their memory: whose
    zeros it asks for is noted, and none are made."""
    # Not there in a PyTorch that is too old, which is said only later.
    from torch.utils._python_dispatch import TorchDispatchMode

    buffers: list[Any] = []

    class Noted(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, _types: Any, arguments: Any = (), named: Any = None
        ) -> Any:
            if function is torch.ops.aten.zeros_like.default:
                buffers.append(arguments[0])
                return torch.empty(0)
            return function(*arguments, **(named or {}))

    with Noted():
        buckets = module.reducer._get_zeros_like_grad_buckets()
    ranks = _part_of_ranks(module)
    return [
        SeenBucket(bucket.index(), list(bucket.parameters()), buffer, ranks)
        for bucket, buffer in zip(buckets, buffers)
    ]


def _part_of_ranks(module: Any) -> list[int] | None:
    """The ranks that average a module's gradients, if these are not all."""
    from torch import distributed

    ranks = distributed.get_process_group_ranks(module.process_group)
    return None if len(ranks) == distributed.get_world_size() else ranks


def _key(tensor: Any) -> _Key:
    """A key that tells a bucket from others. A sparse gradient is a new tensor in each pass."""
    if tensor.layout is not torch.strided:
        return (tensor.layout, tuple(tensor.shape))
    return (tensor.data_ptr(), tensor.numel())
