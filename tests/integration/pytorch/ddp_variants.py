"""Ways to use DDP beside the usual one, each a short training.

    ddp_variants.py OUT CASES [--join]

CASES have commas between them; a program that joins has one. The weights of each go to OUT.CASE and
its rank, as float32 in the order of `named_parameters`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

STEPS = 4
MICRO_BATCHES = 3


class Awkward(nn.Module):
    """Parameters whose memory has gaps, another order than their shape, or no elements."""

    def __init__(self) -> None:
        super().__init__()
        self.empty = nn.Parameter(torch.zeros(3, 0))
        self.first = nn.Linear(20, 40)
        self.gaps = nn.Parameter(torch.randn(40, 80)[:, ::2])
        self.transposed = nn.Parameter(torch.randn(8, 40).t())
        self.none = nn.Parameter(torch.zeros(0))

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.first(x)) @ self.gaps * 0.1 + self.empty.sum() + self.none.sum()
        return hidden @ self.transposed


class Mixed(nn.Module):
    """Layers in bfloat16 between others in float32."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(20, 40)
        self.middle = nn.Linear(40, 40).bfloat16()
        self.norm = nn.LayerNorm(40)
        self.last = nn.Linear(40, 8).bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.middle(torch.relu(self.first(x)).bfloat16())
        return self.last(self.norm(hidden.float()).bfloat16()).float()


class InBfloat16(nn.Module):
    """Layers that all are in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = layers().bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x.bfloat16()).float()


class Wide(nn.Module):
    """A model of more than one bucket of DDP's least size that the compiler knows."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(width=512)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def layers(width: int = 40) -> nn.Sequential:
    middle = [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), *middle, nn.Linear(width, 8))


class Training:
    """A model in DDP, whose buckets are so small that there are many."""

    def __init__(self, gw: Any, module: nn.Module, cap: float = 0.004, **options: Any) -> None:
        self.module = module
        self.ddp = DistributedDataParallel(module, bucket_cap_mb=cap, **options)
        self.model: Any = self.ddp
        self.optimizer = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
        if gw is not None:
            gw.attach(self.ddp, self.optimizer)
        self.random = torch.Generator().manual_seed(100 + dist.get_rank())

    def loss(self) -> Tensor:
        images = torch.randn(8, 20, generator=self.random)
        labels = torch.randint(0, 8, (8,), generator=self.random)
        return cross_entropy(self.model(images), labels)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        self.optimizer.zero_grad()
        yield
        self.optimizer.step()

    def train(self) -> nn.Module:
        for _ in range(STEPS):
            with self.step():
                self.loss().backward()
        return self.module

    def accumulate(self) -> nn.Module:
        """Passes of several batches before each step, averaged in the last."""
        for _ in range(STEPS):
            with self.step():
                for micro in range(MICRO_BATCHES):
                    last = micro == MICRO_BATCHES - 1
                    with contextlib.nullcontext() if last else self.ddp.no_sync():
                        self.loss().backward()
        return self.module


def static_graph(gw: Any) -> nn.Module:
    """DDP sees its graph in a step before the first that accumulates."""
    training = Training(gw, layers(), static_graph=True)
    with training.step():
        training.loss().backward()
    return training.accumulate()


def static_graph_at_once(gw: Any) -> nn.Module:
    """DDP fails at such a pass before it has averaged, with or without Gradwire."""
    return Training(gw, layers(), static_graph=True).accumulate()


def by_flag(gw: Any) -> nn.Module:
    """The program itself sets the flag that `no_sync` sets."""
    training = Training(gw, layers())
    for _ in range(STEPS):
        with training.step():
            for micro in range(MICRO_BATCHES):
                training.ddp.require_backward_grad_sync = micro == MICRO_BATCHES - 1
                training.loss().backward()
    return training.module


def forward_outside(gw: Any) -> nn.Module:
    """DDP decides in its forward pass, and averages what `no_sync` has around backward alone."""
    training = Training(gw, layers())
    for _ in range(STEPS):
        with training.step():
            for _ in range(MICRO_BATCHES):
                loss = training.loss()
                with training.ddp.no_sync():
                    loss.backward()
    return training.module


def compiled(gw: Any, of: str) -> nn.Module:
    """The compiler divides the model where DDP's buckets end."""
    graphs = 0
    compile_graph: Any = torch._dynamo.lookup_backend("aot_eager")

    def backend(graph: Any, inputs: Any) -> Any:
        nonlocal graphs
        graphs += 1
        return compile_graph(graph, inputs)

    torch._dynamo.reset()
    module = Wide()
    if of == "module":
        return Training(gw, torch.compile(module, backend=backend), cap=1).train()
    training = Training(gw, module, cap=1)
    training.model = torch.compile(training.ddp, backend=backend)
    training.train()
    print("graphs", graphs, flush=True)
    return module


def python_reducer(gw: Any) -> nn.Module:
    """The compiler averages gradients, not DDP."""
    torch._dynamo.config.optimize_ddp = "python_reducer"
    return Training(gw, layers()).train()


def cast(gw: Any, changes_type: bool) -> nn.Module:
    """A hook of each parameter rounds its gradient, or changes its type, which PyTorch refuses."""
    module = layers()
    for parameter in module.parameters():
        parameter.register_hook(
            lambda one: one.bfloat16() if changes_type else one.bfloat16().float()
        )
    return Training(gw, module).train()


def endless(gw: Any) -> nn.Module:
    """Steps until the process is killed."""
    training = Training(gw, layers())
    while True:
        training.train()


CASES: dict[str, Callable[[Any], nn.Module]] = {
    "usual": lambda gw: Training(gw, layers()).train(),
    "static": static_graph,
    "static-at-once": static_graph_at_once,
    "flag": by_flag,
    "outside": forward_outside,
    "bfloat16": lambda gw: Training(gw, InBfloat16()).train(),
    "mixed": lambda gw: Training(gw, Mixed()).train(),
    "mixed-views": lambda gw: Training(gw, Mixed(), gradient_as_bucket_view=True).train(),
    "awkward": lambda gw: Training(gw, Awkward()).train(),
    "awkward-views": lambda gw: Training(gw, Awkward(), gradient_as_bucket_view=True).train(),
    "compiled": lambda gw: compiled(gw, "ddp"),
    "compiled-inside": lambda gw: compiled(gw, "module"),
    "python-reducer": python_reducer,
    "rounded": lambda gw: cast(gw, False),
    "cast": lambda gw: cast(gw, True),
    "endless": endless,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("cases")
    parser.add_argument("--join", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    gw: Any = None
    if options.join:
        import gradwire

        gw = gradwire.join()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    for case in options.cases.split(","):
        torch.manual_seed(0)
        module = CASES[case](gw)
        weights = torch.cat([one.detach().flatten().float() for one in module.parameters()])
        Path(f"{options.out}.{case}.{dist.get_rank()}").write_bytes(weights.numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
