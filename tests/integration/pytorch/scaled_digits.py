"""Digits in mixed precision with a GradScaler: `scaled_digits.py DIRECTORY [--join] [--dtype …]`.

It prints the accuracy on the test images, and the scale at the end.
"""

from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel


def read_digits(directory: Path, part: str) -> tuple[Tensor, Tensor]:
    """Images and labels of MNIST's gzipped files."""
    images, labels = (
        bytearray(gzip.decompress((directory / f"{part}-{name}-ubyte.gz").read_bytes()))
        for name in ("images-idx3", "labels-idx1")
    )
    pixels = torch.frombuffer(images, dtype=torch.uint8, offset=16)
    shown = torch.frombuffer(labels, dtype=torch.uint8, offset=8)
    return pixels.view(-1, 784).float() / 255, shown.long()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--dtype", choices=["float16", "bfloat16"], default="float16")
    parser.add_argument("--steps", type=int, default=3500)
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
    images, labels = read_digits(options.directory, "train")
    layers = [nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10)]
    model = DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    # So large at first, and growing so soon, that steps are skipped.
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=50)
    if gw is not None:
        gw.attach(model, optimizer, scaler=scaler)
    random = torch.Generator().manual_seed(rank)
    skipped = 0
    for _ in range(options.steps):
        batch = torch.randint(0, len(images), (32,), generator=random)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=getattr(torch, options.dtype)):
            loss = cross_entropy(model(images[batch]), labels[batch])
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
    if rank == 0:
        images, labels = read_digits(options.directory, "t10k")
        with torch.no_grad():
            right = (model.module(images).argmax(1) == labels).float().mean()
        print(f"accuracy {right.item():.4f} skipped {skipped}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
