"""A character LSTM on a text, on several ranks, joined to Gradwire.

    gradwire exec --ranks 2 -- python3 char_lstm.py tinyshakespeare.txt

Its embedding is small and its gradient dense, so a spec may leave it uncompressed by name:
`exchange: { method: topk, ratio: 0.01, layers: [{ match: 'embedding*', method: none }] }`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import gradwire


class CharacterModel(nn.Module):
    """Predicts each next character of a window."""

    def __init__(self, characters: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.lstm = nn.LSTM(32, width, num_layers=2, batch_first=True)
        self.output = nn.Linear(width, characters)

    def forward(self, codes: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(codes))
        return self.output(states)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=16, help="windows a rank and step")
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    options = parser.parse_args()

    gw = gradwire.join()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    text = options.text.read_text(encoding="utf-8")
    known = sorted(set(text))
    numbers = {character: number for number, character in enumerate(known)}
    codes = torch.tensor([numbers[character] for character in text])
    torch.manual_seed(1)
    model = DistributedDataParallel(CharacterModel(len(known), options.width))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    gw.attach(model, optimizer)

    random = torch.Generator().manual_seed(rank)
    last = len(codes) - options.window - 1
    for step in range(options.steps):
        starts = torch.randint(0, last, (options.batch,), generator=random)
        windows = codes[starts[:, None] + torch.arange(options.window + 1)]
        predicted = model(windows[:, :-1])
        loss = cross_entropy(predicted.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        # Ranks have the same average, so they clip alike.
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        gw.log(loss=loss.item())
        if step % 50 == 0 and rank == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
