"""Two models, each in DDP and with an optimiser of its own: in plain DDP, or joined.

    two_models.py OUT HOW

HOW is `plain`; `joined`; `by-hand`, which joins without DDP, with a backward pass for each model;
`apart`, the same under DDP; `one`, which attaches one of them and trains them in turns; or
`differ`, where rank 1 attaches the models in another order.
It writes the weights of both to OUT and its rank.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 12


def attach(gw: Any, how: str, models: dict[str, nn.Module], *optimizers: Any) -> None:
    """Attaches both models, or the first one."""
    if how == "one":
        gw.attach(next(iter(models.values())), optimizers[0])
        return
    if how == "differ" and dist.get_rank() == 1:
        models = dict(reversed(models.items()))
    gw.attach(models, *optimizers)


def main() -> None:
    out, how = sys.argv[1:]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    gw: Any = None
    if how != "plain":
        import gradwire

        gw = gradwire.join()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    encoder: nn.Module = nn.Sequential(nn.Linear(20, 60), nn.ReLU(), nn.Linear(60, 30))
    decoder: nn.Module = nn.Sequential(nn.Linear(30, 60), nn.ReLU(), nn.Linear(60, 20))
    if how != "by-hand":
        # Small buckets, so that there are many.
        encoder = DistributedDataParallel(encoder, bucket_cap_mb=0.005)
        decoder = DistributedDataParallel(decoder, bucket_cap_mb=0.005)
    momentum = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
    adam = torch.optim.Adam(decoder.parameters(), lr=0.01)
    if gw is not None:
        attach(gw, how, {"encoder": encoder, "decoder": decoder}, momentum, adam)

    random = torch.Generator().manual_seed(100 + rank)
    for _ in range(STEPS):
        images = torch.randn(8, 20, generator=random)
        codes = torch.randn(8, 30, generator=random)
        momentum.zero_grad()
        adam.zero_grad()
        first = encoder(images).square().mean()
        second = (decoder(codes) - images).square().mean()
        if how in ("by-hand", "apart", "one"):
            first.backward()
            if how == "one":
                momentum.step()
            second.backward()
        else:
            (first + second).backward()
        if how == "by-hand":
            gw.allreduce()
        if how != "one":
            momentum.step()
        adam.step()
        if gw is not None:
            gw.log(loss=(first + second).item())
    parameters = [*encoder.parameters(), *decoder.parameters()]
    weights = torch.cat([one.detach().flatten() for one in parameters])
    Path(f"{out}.{rank}").write_bytes(weights.numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
