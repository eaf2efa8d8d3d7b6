"""A training whose gradients are not finite in some steps.

    scaled_training.py OUT [--join] [--guard scaler|own|none] [--bad STEP…] [--omit STEP…]

In a bad step the gradient of the first layer is infinite on rank 1, after the gradients of all
other layers are there. An omitted step does not take place. Rank by rank, its weights go to OUT.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--guard", choices=["scaler", "own", "none"], default="scaler")
    parser.add_argument("--bad", type=int, nargs="*", default=[])
    parser.add_argument("--omit", type=int, nargs="*", default=[])
    parser.add_argument("--steps", type=int, default=18)
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
    first = nn.Linear(64, 48)
    layers = [first, nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4)]
    model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=0.005)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", enabled=options.guard == "scaler")
    if gw is not None:
        gw.attach(model, optimizer, scaler=scaler)

    is_bad = False

    def spoil(gradient: Tensor) -> Tensor:
        return gradient * float("inf") if is_bad and rank == 1 else gradient

    first.weight.register_hook(spoil)
    random = torch.Generator().manual_seed(100 + rank)
    truth = torch.randn(64, 4, generator=torch.Generator().manual_seed(7))
    scales = []
    for step in range(options.steps):
        batch = torch.randn(16, 64, generator=random)
        if step in options.omit:
            continue
        is_bad = step in options.bad
        optimizer.zero_grad()
        loss = cross_entropy(model(batch), (batch @ truth).argmax(1))
        scaler.scale(loss).backward()
        gradients = [one.grad for one in model.parameters() if one.grad is not None]
        is_finite = all(bool(one.isfinite().all()) for one in gradients)
        if options.guard != "own" or is_finite:
            scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        if gw is not None:
            gw.log(loss=loss.item())
    print(f"scales {scales}", flush=True)
    weights = torch.cat([one.detach().flatten() for one in model.parameters()])
    Path(f"{options.out}.{rank}").write_bytes(weights.numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
