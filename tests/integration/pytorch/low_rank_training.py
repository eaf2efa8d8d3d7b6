"""A training by PyTorch's PowerSGD hook, or joined: it writes its weights after each step.

    low_rank_training.py OUT RANK START [--join] [--dense OUT]

From step START on gradients travel with factors of RANK columns. In that step each rank has one
sample, so with RANK ranks the average gradient of a matrix has that rank, and its factors hold
all of it, whatever they start from. From then on the factors are those of the last step.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import (
    PowerSGDState,
    powerSGD_hook,
)
from torch.nn.parallel import DistributedDataParallel

BATCH = 32


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("rank", type=int)
    parser.add_argument("start", type=int)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--dense", type=Path, metavar="OUT", help="once more, without any hook")
    parser.add_argument("--steps", type=int, default=24)
    options = parser.parse_args()

    torch.set_num_threads(1)
    gw: Any = None
    if options.join:
        import gradwire

        gw = gradwire.join()
    dist.init_process_group("gloo")
    state = PowerSGDState(
        process_group=None,
        matrix_approximation_rank=options.rank,
        start_powerSGD_iter=options.start,
        min_compression_rate=1,
    )
    train(options.out, options, gw, state if gw is None else None)
    if options.dense is not None:
        train(options.dense, options, None, None)
    dist.destroy_process_group()


def train(out: Path, options: argparse.Namespace, gw: Any, state: PowerSGDState | None) -> None:
    torch.manual_seed(0)
    layers = [nn.Linear(64, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 12)]
    model = DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if gw is not None:
        gw.attach(model, optimizer)
    if state is not None:
        model.register_comm_hook(state, powerSGD_hook)

    noise = torch.Generator().manual_seed(1 + dist.get_rank())
    truth = torch.randn(64, 12, generator=torch.Generator().manual_seed(7))
    written = out.with_name(f"{out.name}.{dist.get_rank()}").open("wb")
    for step in range(options.steps):
        samples = 1 if step == options.start else BATCH
        batch = torch.randn(samples, 64, generator=noise)
        loss = nn.functional.cross_entropy(model(batch), (batch @ truth).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weights = [parameter.detach().flatten() for parameter in model.parameters()]
        written.write(torch.cat(weights).numpy().tobytes())
    written.close()


if __name__ == "__main__":
    main()
