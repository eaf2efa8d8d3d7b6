"""Rare doings of programs, one by name: each prints `said` and what came of it.

rare_programs.py CASE
"""

from __future__ import annotations

import atexit
import io
import os
import sys
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

import gradwire


class Heads(nn.Module):
    """A trunk with two heads, of which a pass uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(4, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])
        # Its memory has another order than its shape.
        self.heads[0].weight = nn.Parameter(torch.randn(4, 1).t())

    def forward(self, x: Tensor, head: int) -> Tensor:
        return self.heads[head](self.trunk(x)).mean()


class Checkpointed(nn.Module):
    """Layers whose activations are computed again in the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(512, 512) for _ in range(6))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)
        return x


def ddp(module: nn.Module, **options: Any) -> DistributedDataParallel:
    return DistributedDataParallel(module, **options)


def sgd(*modules: nn.Module, lr: float = 0.1) -> torch.optim.SGD:
    return torch.optim.SGD([p for module in modules for p in module.parameters()], lr=lr)


def kept(gw: gradwire.Session) -> str:
    """Gradients are not cleared between passes that use one head each."""
    model = ddp(Heads(), find_unused_parameters=True)
    optimizer = sgd(model, lr=0.0)
    gw.attach(model, optimizer)
    norms = []
    for _ in range(4):
        optimizer.zero_grad()
        for head in range(2):
            model(torch.ones(2, 4), head).backward()
        norms.append(model.module.heads[0].weight.grad.norm().item())
        optimizer.step()
    return " ".join(f"{norm / norms[0]:.6f}" for norm in norms)


def checkpointed(gw: gradwire.Session, **options: Any) -> str:
    """Buckets are ready within passes that compute activations again."""
    model = ddp(Checkpointed(), bucket_cap_mb=1, **options)
    optimizer = sgd(model, lr=0.01)
    gw.attach(model, optimizer)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(8, 512, requires_grad=True)).square().mean().backward()
        optimizer.step()
    return "5 steps"


def late(gw: gradwire.Session) -> str:
    """A parameter is unfrozen after DDP was made."""
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    net[0].requires_grad_(False)
    model = ddp(net)
    net[0].requires_grad_(True)
    gw.attach(model, sgd(model))
    model(torch.ones(2, 4)).sum().backward()
    return "trained"


def thawed(gw: gradwire.Session) -> str:
    """A layer is thawed after the model was attached."""
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    net[0].requires_grad_(False)
    optimizer = sgd(net)
    model = ddp(net)
    gw.attach(model, optimizer)
    for step in range(4):
        net[0].requires_grad_(step >= 2)
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    return "trained"


def remade(gw: gradwire.Session) -> str:
    """DDP is made again after the model was attached."""
    net = nn.Linear(4, 1)
    optimizer = sgd(net)
    model = ddp(net)
    gw.attach(model, optimizer)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(4):
            if step == 2:
                model = ddp(net)
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    told = [str(one.message) for one in caught if "gradwire:" in str(one.message)]
    return f"{len(told)}: {told[0]}"


def uneven(gw: gradwire.Session, **options: Any) -> str:
    """A rank has fewer batches than the other, under DDP's `join`."""
    model = ddp(nn.Linear(4, 1), find_unused_parameters=True)
    optimizer = sgd(model)
    gw.attach(model, optimizer)
    with model.join(**options):
        for _ in range(3 + dist.get_rank()):
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    return "joined"


def static_pair(gw: gradwire.Session) -> str:
    """Two models, each with a static graph."""
    models = [ddp(nn.Linear(4, 4), static_graph=True) for _ in range(2)]
    gw.attach(models, *(sgd(one) for one in models))
    return "attached"


def evaluated(gw: gradwire.Session) -> str:
    """Without DDP, the model is evaluated between the steps of its optimisers."""
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    first, second = (sgd(part) for part in net)
    gw.attach(net, first, second)
    for _ in range(2):
        net(torch.ones(2, 4)).sum().backward()
        gw.allreduce()
        first.step()
        with torch.no_grad():
            net(torch.ones(2, 4))
        second.step()
    net(torch.ones(2, 4)).sum().backward()
    try:
        first.step()
    except gradwire.GradwireError as error:
        return f"2 steps, then {error.code}"
    return "3 steps"


def half(gw: gradwire.Session) -> str:
    """Parameters in float16 whose gradients a scaler keeps from vanishing."""

    class Tiny(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1000, dtype=torch.float16))

        def forward(self) -> Tensor:
            return (self.weight.float() * 1e-8).sum()

    model = ddp(Tiny())
    scaler = torch.amp.GradScaler("cpu")
    gw.attach(model, torch.optim.Adam(model.parameters(), fused=True), scaler=scaler)
    scaler.scale(model()).backward()
    return f"{model.module.weight.grad[0].item():.2e}"


def saved(gw: gradwire.Session) -> str:
    """A whole model is saved, and loaded where Gradwire is not installed."""
    model = ddp(nn.Linear(4, 1))
    optimizer = sgd(model)
    gw.attach(model, optimizer)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save(model, file)
    return f"gradwire {'is' if b'gradwire' in file.getvalue() else 'is not'} in it"


def crashing(gw: gradwire.Session) -> str:
    """The interpreter is aborted once all of the program has run."""
    model = ddp(nn.Linear(4, 1))
    optimizer = sgd(model)
    gw.attach(model, optimizer)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    return "all"


def clipped(gw: gradwire.Session) -> str:
    """Gradients arrive in many buckets, and are clipped by the norm of all."""
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(256, 256), nn.Tanh())]
    model = ddp(nn.Sequential(*layers, nn.Linear(256, 10)), bucket_cap_mb=0.2)
    optimizer = sgd(model, lr=0.0)
    gw.attach(model, optimizer)
    largest = 0.0
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(16, 256)).square().sum().backward()
        squares = sum(p.grad.square().sum().item() for p in model.parameters())
        largest = max(largest, squares**0.5)
        optimizer.step()
    return "clipped" if largest <= 1.001e-6 else f"a norm of {largest:.1e}"


CASES = {
    "clipped": clipped,
    "crashing": crashing,
    "kept": kept,
    "checkpointed": checkpointed,
    "checkpointed-static": lambda gw: checkpointed(gw, static_graph=True),
    "late": late,
    "uneven": uneven,
    "uneven-divisor": lambda gw: uneven(gw, divide_by_initial_world_size=False),
    "static-pair": static_pair,
    "evaluated": evaluated,
    "half": half,
    "saved": saved,
    "thawed": thawed,
    "remade": remade,
}


def main() -> None:
    if sys.argv[1] == "crashing":
        # What is registered first is called last.
        atexit.register(os.abort)
    gw = gradwire.join()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    try:
        print("said", CASES[sys.argv[1]](gw), flush=True)
    except gradwire.GradwireError as error:
        print("said", error, flush=True)
        # The others of its run cannot go on.
        os._exit(0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
