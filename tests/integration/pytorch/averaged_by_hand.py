"""A training without DDP, which averages its gradients by a call: averaged_by_hand.py OUT HOW.

HOW is `model` (attached, then allreduce), `parameters` (allreduce of what is not attached),
`tensor` (the gradients as one vector, by exchange), or `forgotten` (attached, and never averaged).
Outside of a run gradwire averages by torch.distributed. Rank by rank, its weights go to OUT.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy

import gradwire


def main() -> None:
    out, how = sys.argv[1:]
    torch.set_num_threads(1)
    gw = gradwire.join()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    layers = {"first": nn.Linear(20, 30), "relu": nn.ReLU(), "last": nn.Linear(30, 5)}
    model = nn.Sequential()
    for name, layer in layers.items():
        model.add_module(name, layer)
    unused = nn.Parameter(torch.ones(3))
    model.register_parameter("unused", unused)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if how in ("model", "forgotten"):
        gw.attach(model, optimizer)
    random = torch.Generator().manual_seed(100 + rank)
    for _ in range(12):
        batch = torch.randn(8, 20, generator=random)
        labels = torch.randint(0, 5, (8,), generator=random)
        optimizer.zero_grad()
        loss = cross_entropy(model(batch), labels)
        loss.backward()
        if how == "model":
            gw.allreduce()
        elif how == "parameters":
            gw.allreduce(model.parameters())
        elif how == "tensor":
            gradients = [one.grad for one in model.parameters() if one.grad is not None]
            flat = gw.exchange(torch.cat([one.flatten() for one in gradients]))
            for one, part in zip(gradients, flat.split([one.numel() for one in gradients])):
                one.copy_(part.view_as(one))
        optimizer.step()
        gw.log(loss=loss.item())
    weights = torch.cat([one.detach().flatten() for one in model.parameters()])
    Path(f"{out}.{rank}").write_bytes(weights.numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
