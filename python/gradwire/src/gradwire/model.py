"""What may be attached: DDP models and optimisers of PyTorch, found inside of wrappers."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .errors import GradwireError

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)

_SHARDED = ("FullyShardedDataParallel", "DeepSpeedEngine")
"""Wrappers under which a rank has a part of each parameter. FSDP2 has DTensors."""


def plain_model(model: Any) -> Any:
    """The module that was given, or that torch.compile has wrapped."""
    module = getattr(model, "_orig_mod", model)
    if not isinstance(module, torch.nn.Module):
        raise GradwireError(
            "MODEL_UNSUPPORTED",
            f"attach was given a {type(model).__name__}, not a module of PyTorch",
            "Call gw.attach(model, optimizer)",
        )
    return module


def is_distributed(module: Any) -> bool:
    """Whether DDP averages its gradients."""
    return isinstance(module, DistributedDataParallel)


def require_averaged(module: Any) -> None:
    """Raises GradwireError `MODEL_UNSUPPORTED` for what DDP does beside averaging dense buckets."""
    if is_distributed(module) and module.process_group.size() != world_size():
        raise unsupported(
            f"DDP over {module.process_group.size()} of {world_size()} ranks",
            "Leave out process_group: Gradwire averages over all ranks of the run",
        )
    if getattr(module, "_use_python_reducer", False):
        raise unsupported(
            "DDP whose gradients the compiler averages",
            'Leave out torch._dynamo.config.optimize_ddp = "python_reducer"',
        )
    if getattr(module, "skip_all_reduce_unused_params", False):
        raise unsupported("DDP with skip_all_reduce_unused_params", "Leave that option out")
    if type(module).__name__ in _SHARDED or any(
        hasattr(one, "device_mesh") for one in module.parameters()
    ):
        raise unsupported(
            "a model whose parameters are divided among the ranks",
            "Use DistributedDataParallel, or observe the program: gradwire exec --observe",
        )
    for name, part in bare(module).named_modules():
        if isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and part.sparse:
            raise unsupported(
                f"{name}, an embedding with sparse gradients",
                "Set sparse=False: Gradwire compresses",
            )


def world_size() -> int:
    """The number of ranks of the program's default process group."""
    return int(torch.distributed.get_world_size())


def bare(module: Any) -> Any:
    """The module without DDP around it."""
    return module.module if is_distributed(module) else module


def trained_parameters(module: Any) -> list[tuple[str, Any]]:
    """Named parameters whose gradients are averaged; those with several names once."""
    ignored = getattr(module, "parameters_to_ignore", ())
    named = [
        (name, parameter)
        for name, parameter in bare(module).named_parameters()
        if parameter.requires_grad and name not in ignored
    ]
    if sum(parameter.numel() for _, parameter in named) == 0:
        raise GradwireError(
            "MODEL_EMPTY",
            "the model has no elements that are trained",
            "Set requires_grad",
        )
    for name, parameter in named:
        if parameter.dtype not in _DTYPES:
            raise unsupported(
                f"{name}, a parameter of {parameter.dtype}",
                "Use float32, float16 or bfloat16",
            )
    return named


def require_one_device(named: list[tuple[str, Any]]) -> None:
    """Raises GradwireError `MODEL_UNSUPPORTED` unless all parameters are on one device."""
    for name, parameter in named:
        if parameter.device != named[0][1].device:
            raise unsupported(
                f"{name}, a parameter on another device than {named[0][0]}",
                "Keep what is attached on one device",
            )


def plain_optimizer(optimizer: Any) -> Any:
    """The optimiser of PyTorch that was given, or that others wrap."""
    inner = getattr(optimizer, "optimizer", None)
    while isinstance(inner, torch.optim.Optimizer):
        optimizer, inner = inner, getattr(inner, "optimizer", None)
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise GradwireError(
            "OPTIMIZER_UNKNOWN",
            f"attach was given a {type(optimizer).__name__}, not an optimiser of PyTorch",
            "Call gw.attach(model, optimizer)",
        )
    return optimizer


def unsupported(what: str, next: str) -> GradwireError:
    """The error for what Gradwire does not average."""
    return GradwireError("MODEL_UNSUPPORTED", f"Gradwire does not average {what}", next)
