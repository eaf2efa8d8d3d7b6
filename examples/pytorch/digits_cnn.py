"""Handwritten digits with a small convolutional network in mixed precision, joined to Gradwire.

    gradwire exec --ranks 2 -- python3 digits_cnn.py DIRECTORY

DIRECTORY has MNIST's four IDX files. A GradScaler may skip steps: all ranks then do.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from mnist_mlp import read_digits
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import gradwire


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="where MNIST's IDX files are")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=64, help="images a rank and step")
    parser.add_argument("--lr", type=float, default=0.05)
    options = parser.parse_args()

    gw = gradwire.join()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        # Each rank of a machine has a GPU of its own, where there are enough.
        place = int(os.environ.get("LOCAL_RANK", "0"))
        torch.cuda.set_device(place % torch.cuda.device_count())
    images, labels = read_digits(options.directory, "train")
    torch.manual_seed(1)
    network = nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 10),
    )
    model = DistributedDataParallel(network.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    gw.attach(model, optimizer, scaler=scaler)

    random = torch.Generator().manual_seed(rank)
    for step in range(options.steps):
        batch = torch.randint(0, len(images), (options.batch,), generator=random)
        optimizer.zero_grad()
        dtype = torch.float16 if device == "cuda" else torch.bfloat16
        with torch.autocast(device, dtype=dtype):
            output = model(images[batch].to(device))
            loss = cross_entropy(output, labels[batch].to(device))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        gw.log(loss=loss.item())
        if step % 50 == 0 and rank == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)

    # Weights that a method lets drift are averaged now, before they are looked at.
    gw.end()
    if rank == 0:
        images, labels = read_digits(options.directory, "t10k")
        with torch.no_grad():
            right = (network(images.to(device)).argmax(1).cpu() == labels).float().mean()
        print(f"accuracy {right.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
