"""A small GAN that learns points on a ring, on several ranks, joined to Gradwire.

    gradwire exec --ranks 2 -- python3 gan.py

Critic and generator step in turns, so each step of either is an iteration.
"""

from __future__ import annotations

import argparse
import math

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import softplus
from torch.nn.parallel import DistributedDataParallel

import gradwire

NOISE = 8


def network(inputs: int, outputs: int, width: int) -> nn.Module:
    """Two hidden layers."""
    hidden = [nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    return DistributedDataParallel(nn.Sequential(*hidden, nn.Linear(width, outputs)))


def ring(count: int, random: torch.Generator) -> Tensor:
    """Points near the circle of radius 1."""
    angles = 2 * math.pi * torch.rand(count, generator=random)
    points = torch.stack([angles.cos(), angles.sin()], dim=1)
    return points + 0.02 * torch.randn(count, 2, generator=random)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--critics", type=int, default=1, help="critic's steps a round")
    parser.add_argument("--batch", type=int, default=128, help="points a rank and step")
    parser.add_argument("--width", type=int, default=128)
    options = parser.parse_args()

    gw = gradwire.join()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    generator = network(NOISE, 2, options.width)
    critic = network(2, 1, options.width)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    models = {"generator": generator, "critic": critic}
    gw.attach(models, generator_optimizer, critic_optimizer, turns=True)

    random = torch.Generator().manual_seed(rank)
    for round_ in range(options.rounds):
        for _ in range(options.critics):
            with torch.no_grad():
                made = generator(torch.randn(options.batch, NOISE, generator=random))
            # One call of the critic for both halves: DDP averages once.
            said = critic(torch.cat([ring(options.batch, random), made]))
            loss = (softplus(-said[: options.batch]) + softplus(said[options.batch :])).mean()
            critic_optimizer.zero_grad()
            loss.backward()
            critic_optimizer.step()
            gw.log(loss=loss.item())
        # The generator's pass goes through the critic, whose gradients nobody wants then.
        critic.requires_grad_(False)
        made = generator(torch.randn(options.batch, NOISE, generator=random))
        loss = softplus(-critic(made)).mean()
        generator_optimizer.zero_grad()
        loss.backward()
        generator_optimizer.step()
        critic.requires_grad_(True)
        gw.log(loss=loss.item())
        if rank == 0 and (round_ + 1) % 100 == 0:
            radii = made.detach().norm(dim=1)
            print(f"round {round_ + 1}: radius {radii.mean():.3f} ± {radii.std():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
