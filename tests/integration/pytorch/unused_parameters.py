"""A DDP program some of whose parameters no rank uses in some steps.

    unused_parameters.py [--views] [--keep] [--state FOLDER] [--steps N]

Each gradient is known beforehand, and the optimiser subtracts what it gets. It prints what of the
gradients' means is neither in the weights nor in the mean of the ranks' residuals. With a FOLDER it
goes on from the state that is there, and saves its own.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

import gradwire

SIZES = {"matrix": (40, 30), "sometimes": (500,), "rarely": (7, 9), "scalar": ()}


class Sums(nn.Module):
    """The gradient of each parameter is its input."""

    def __init__(self) -> None:
        super().__init__()
        for name, size in SIZES.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(size)))

    def forward(self, given: dict[str, Tensor]) -> Tensor:
        return sum((getattr(self, name) * one).sum() for name, one in given.items())


def used(step: int, rank: int) -> list[str]:
    """One is used by all ranks or by none, another by one rank or by none."""
    names = ["matrix", "scalar"]
    if step % 2 == 0:
        names.append("sometimes")
    if step % 4 == 1 and rank == 1:
        names.append("rarely")
    return names


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--views", action="store_true", help="gradients are views of buckets")
    parser.add_argument("--keep", action="store_true", help="gradients are set to zero")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--steps", type=int, default=15)
    options = parser.parse_args()
    gw = gradwire.join()
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    module = Sums()
    model = DistributedDataParallel(
        module,
        find_unused_parameters=True,
        bucket_cap_mb=0.002,
        gradient_as_bucket_view=options.views,
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    gw.attach(model, optimizer)
    random = torch.Generator().manual_seed(5 + rank)
    totals = {name: torch.zeros(size) for name, size in SIZES.items()}
    first = 0
    if options.state is not None and options.state.exists():
        states = [torch.load(one, weights_only=True) for one in sorted(options.state.iterdir())]
        module.load_state_dict(states[0]["model"])
        totals, first = states[0]["totals"], states[0]["step"]
        gw.load_state_dict(one["gradwire"] for one in states)
        report("loaded", module, totals, gw.state_dict()["residual"])
        dist.barrier()
    for step in range(first, first + options.steps):
        optimizer.zero_grad(set_to_none=not options.keep)
        given = {name: torch.randn(size, generator=random) for name, size in SIZES.items()}
        mine = {name: given[name] for name in used(step, rank)}
        model(mine).backward()
        optimizer.step()
        for name, total in totals.items():
            mean = mine.get(name, torch.zeros(SIZES[name])) / world
            dist.all_reduce(mean)
            total.add_(mean)
    state = gw.state_dict()
    report("kept", module, totals, state["residual"])
    if options.state is not None:
        options.state.mkdir(exist_ok=True)
        mine = {"model": module.state_dict(), "totals": totals, "gradwire": state}
        torch.save({**mine, "step": first + options.steps}, options.state / str(rank))
    dist.destroy_process_group()


def report(word: str, module: nn.Module, totals: dict[str, Tensor], residual: Tensor) -> None:
    mean = residual.clone() / dist.get_world_size()
    dist.all_reduce(mean)
    start = 0
    for name, one in module.named_parameters():
        kept = mean[start : start + one.numel()].view_as(one)
        start += one.numel()
        lost = (totals[name] + one.detach() - kept).abs().max().item()
        print(f"{word} {name} {lost:.1e} {kept.abs().max().item():.1e}", flush=True)


if __name__ == "__main__":
    main()
