"""Tensors that a program averages by a call, without DDP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .errors import GradwireError

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def named(given: Any) -> list[tuple[str, Any]]:
    """Tensors with names: those of a module's parameters, otherwise numbers."""
    if isinstance(given, torch.nn.Module):
        return [pair for pair in given.named_parameters() if pair[1].requires_grad]
    if torch.is_tensor(given):
        return [("tensor", given)]
    if isinstance(given, Mapping):
        given = list(given.values())
    if not isinstance(given, Iterable):
        raise _refused(f"a {type(given).__name__}")
    tensors = [part for one in given for part in _tensors_of(one)]
    for one in tensors:
        if not torch.is_tensor(one):
            raise _refused(f"a {type(one).__name__}")
    return [(str(index), one) for index, one in enumerate(tensors)]


def _tensors_of(one: Any) -> list[Any]:
    """A tensor, or those of a module among several."""
    if not isinstance(one, torch.nn.Module):
        return [one]
    return [parameter for parameter in one.parameters() if parameter.requires_grad]


def averaged_parts(tensors: Iterable[Any]) -> list[Any]:
    """What is averaged of each: a parameter's gradient, which is made of zeros where it is
    missing, or the tensor itself."""
    parts = []
    for one in tensors:
        part = one
        if isinstance(one, torch.nn.Parameter):
            if one.grad is None:
                one.grad = torch.zeros_like(one)
            part = one.grad
        if part.dtype not in _DTYPES or part.layout is not torch.strided:
            raise _refused(f"a tensor of {part.dtype} and {part.layout}")
        parts.append(part)
    return parts


def require_shapes(tensors: list[Any], shapes: list[tuple[int, ...]]) -> None:
    """Raises GradwireError `TENSORS_CHANGED` unless the tensors have these shapes."""
    found = [tuple(one.shape) for one in tensors]
    if found == shapes:
        return
    raise GradwireError(
        "TENSORS_CHANGED",
        f"{len(found)} tensors of {sum(map(_size, found))} elements are to be averaged, where the "
        f"first time there were {len(shapes)} of {sum(map(_size, shapes))}",
        "Average all tensors of a step in one call, in the same order: gw.allreduce([a, b]); "
        "attach models that step in turns: gw.attach([a, b], optimizer_a, optimizer_b, turns=True)",
    )


def require_same(tensors: list[Any], parameters: list[Any]) -> None:
    """Raises GradwireError `TENSORS_CHANGED` for other parameters of the same shapes: what was kept
    back of the first ones would go to these."""
    if not parameters or not any(isinstance(one, torch.nn.Parameter) for one in tensors):
        return
    if [id(one) for one in tensors] == [id(one) for one in parameters]:
        return
    raise GradwireError(
        "TENSORS_CHANGED",
        f"{len(tensors)} parameters are to be averaged that are others than the first time",
        "Average the same parameters each time, in the same order; models that step in turns are "
        "attached: gw.attach([a, b], optimizer_a, optimizer_b, turns=True)",
    )


def average_by_torch(tensors: list[Any]) -> None:
    """Averages by the program's own process group, if it has one."""
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return
    with torch.no_grad():
        for one in averaged_parts(tensors):
            dist.all_reduce(one)
            one.div_(dist.get_world_size())


def _size(shape: tuple[int, ...]) -> int:
    return int(torch.Size(shape).numel())


def _refused(what: str) -> GradwireError:
    return GradwireError(
        "TENSOR_UNSUPPORTED",
        f"Gradwire does not average {what}",
        "Give parameters or dense tensors of float32, float16 or bfloat16",
    )
