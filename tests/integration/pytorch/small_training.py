"""A training for tests, with what makes models awkward: run in plain DDP, observed, or joined.

    small_training.py OUT [--join] [--views] [--print] [--steps N]

It writes its weights to OUT and its rank, in the order of `named_parameters`, and the word
"finally" to that name with .end once it ends, however it ends.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


class Awkward(nn.Module):
    """Shared, transposed, empty, scalar, frozen and, in turns, unused parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.empty = nn.Parameter(torch.zeros(0, 3))
        self.first = nn.Linear(20, 60)
        self.second = nn.Linear(60, 60)
        self.shared = self.second.weight
        self.transposed = nn.Parameter(torch.randn(60, 60).t())
        self.scalar = nn.Parameter(torch.ones(()))
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.sometimes = nn.Linear(60, 60)
        self.last = nn.Linear(60, 10)

    def forward(self, images: Tensor, uses_all: bool) -> Tensor:
        hidden = torch.relu(self.second(torch.relu(self.first(images))))
        hidden = hidden + self.scalar * (hidden @ self.transposed * 0.05) + self.empty.sum()
        if uses_all:
            hidden = hidden + self.sometimes(hidden)
        return self.last(hidden @ self.shared)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--views", action="store_true", help="gradients are views of buckets")
    parser.add_argument("--print", action="store_true", help="each step's loss")
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    gw: Any = None
    if options.join:
        import gradwire

        gw = gradwire.join()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    module = Awkward()
    # Small buckets, so that there are many.
    model = DistributedDataParallel(
        module,
        find_unused_parameters=True,
        bucket_cap_mb=0.02,
        gradient_as_bucket_view=options.views,
    )
    matrices = [one for one in module.parameters() if one.ndim == 2 and one.requires_grad]
    others = [one for one in module.parameters() if one.ndim != 2 and one.requires_grad]
    momentum = torch.optim.SGD(matrices, lr=0.05, momentum=0.9)
    adam = torch.optim.Adam(others, lr=0.01)
    if gw is not None:
        gw.attach(model, momentum, adam)

    random = torch.Generator().manual_seed(100 + rank)
    out = f"{options.out}.{rank}"
    try:
        for step in range(options.steps):
            momentum.zero_grad(set_to_none=not options.views)
            adam.zero_grad(set_to_none=not options.views)
            for part in range(2):
                images = torch.randn(8, 20, generator=random)
                labels = torch.randint(0, 10, (8,), generator=random)
                with model.no_sync() if part == 0 else contextlib.nullcontext():
                    # Each rank uses another part of the model, by turns.
                    output = model(images, uses_all=step % 2 == rank)
                    loss = nn.functional.cross_entropy(output, labels)
                    loss.backward()
            momentum.step()
            adam.step()
            if options.print:
                print(f"step {step} loss {loss.item():.4f}")
            if gw is not None:
                gw.log(loss=loss.item(), endless=float("inf"))
            with torch.no_grad():
                model(images, uses_all=True)
    finally:
        Path(f"{out}.end").write_text("finally")
    weights = torch.cat([one.detach().flatten() for one in module.parameters()])
    Path(out).write_bytes(weights.numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
