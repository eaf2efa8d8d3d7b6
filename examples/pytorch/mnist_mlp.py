"""Handwritten digits with a multilayer perceptron on several ranks, joined to Gradwire.

    gradwire exec --ranks 2 -- python3 mnist_mlp.py DIRECTORY

DIRECTORY has MNIST's four IDX files, gzipped or not. mnist_mlp_ddp.py is the same program without
Gradwire.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import gradwire


def read_idx(directory: Path, name: str) -> Tensor:
    """An IDX file of bytes: two zeros, the type 8, the rank, the shape, then the values."""
    file = directory / name
    packed = Path(f"{file}.gz")
    content = file.read_bytes() if file.exists() else gzip.decompress(packed.read_bytes())
    if content[:3] != b"\0\0\x08":
        raise SystemExit(f"{file} is no IDX file of bytes")
    header = 4 + 4 * content[3]
    shape = [int.from_bytes(content[at : at + 4], "big") for at in range(4, header, 4)]
    return torch.frombuffer(bytearray(content), dtype=torch.uint8, offset=header).view(shape)


def read_digits(directory: Path, part: str) -> tuple[Tensor, Tensor]:
    """Images as vectors of numbers from 0 to 1, and the digits that they show."""
    images = read_idx(directory, f"{part}-images-idx3-ubyte").flatten(1).float() / 255
    return images, read_idx(directory, f"{part}-labels-idx1-ubyte").long()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="where MNIST's IDX files are")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, help="steps of an epoch, if not all of them")
    parser.add_argument("--batch", type=int, default=64, help="images a rank and step")
    parser.add_argument("--lr", type=float, default=0.1)
    options = parser.parse_args()

    gw = gradwire.join()
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = read_digits(options.directory, "train")
    torch.manual_seed(1)
    layers = [nn.Linear(784, 300), nn.ReLU(), nn.Linear(300, 100), nn.ReLU(), nn.Linear(100, 10)]
    model = DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9)
    gw.attach(model, optimizer)

    step = 0
    for epoch in range(options.epochs):
        shuffled = torch.randperm(len(images), generator=torch.Generator().manual_seed(epoch))
        # Each rank has its share, and all have equally many batches.
        batches = shuffled[: len(images) // ranks * ranks][rank::ranks].split(options.batch)
        for batch in batches[: options.steps]:
            loss = cross_entropy(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            gw.log(loss=loss.item())
            if step % 100 == 0 and rank == 0:
                print(f"epoch {epoch}, step {step}: loss {loss.item():.4f}", flush=True)
            step += 1

    # Weights that a method lets drift are averaged now, before they are looked at.
    gw.end()
    if rank == 0:
        images, labels = read_digits(options.directory, "t10k")
        with torch.no_grad():
            right = (model.module(images).argmax(1) == labels).float().mean()
        print(f"accuracy {right.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
