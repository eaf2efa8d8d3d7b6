"""A training that goes on from its own checkpoint: resumed_training.py FOLDER FIRST LAST.

Steps FIRST to LAST - 1 are made; from 1 on, with the checkpoint that was written before. With the
argument `owed` it makes no steps: it prints how far what another number of ranks is owed is from
what was given and not yet got.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

import gradwire


def main() -> None:
    folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    gw = gradwire.join()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 40), nn.Tanh(), nn.Linear(40, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    gw.attach(model, optimizer)
    parameters = list(model.parameters())
    # What this rank has given, less what it has got.
    missing = torch.zeros(sum(one.numel() for one in parameters))

    def checkpoint(of: int) -> dict:
        return torch.load(folder / f"checkpoint.{of}", weights_only=True)

    if "owed" in sys.argv:
        saved = [checkpoint(of) for of in range(2)]
        gw.load_state_dict(one["gradwire"] for one in saved)
        for one in parameters:
            one.grad = torch.zeros_like(one)
        gw.allreduce()
        got = torch.cat([one.grad.flatten() for one in parameters])
        expected = (saved[0]["missing"] + saved[1]["missing"]) / 2
        apart = (got - expected).abs().max() / expected.abs().max()
        print(f"apart {apart.item():.2e} of {expected.abs().max().item():.2e}", flush=True)
        return
    if first > 0:
        saved_here = checkpoint(rank)
        model.load_state_dict(saved_here["model"])
        optimizer.load_state_dict(saved_here["optimizer"])
        gw.load_state_dict(saved_here["gradwire"])
    for step in range(first, last):
        random = torch.Generator().manual_seed(1000 * step + rank)
        batch = torch.randn(16, 30, generator=random)
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        missing += torch.cat([one.grad.flatten() for one in parameters])
        gw.allreduce()
        missing -= torch.cat([one.grad.flatten() for one in parameters])
        optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    more = {"gradwire": gw.state_dict(), "missing": missing}
    torch.save({**state, **more}, folder / f"checkpoint.{rank}")
    weights = torch.cat([one.detach().flatten() for one in parameters])
    print(f"weights {hashlib.sha256(weights.numpy().tobytes()).hexdigest()}", flush=True)


if __name__ == "__main__":
    main()
