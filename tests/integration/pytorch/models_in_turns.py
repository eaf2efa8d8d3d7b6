"""A generator and a discriminator, which step in turns: in plain DDP, or joined.

    models_in_turns.py OUT [--join] [--critics N…] [--way WAY] [--fault FAULT] [--watch] …

After N steps of the discriminator comes one of the generator, whose pass goes through the
discriminator: with its parameters `frozen`, through the `module` without DDP, or `through` DDP;
`by-hand` joins without DDP. It writes the weights of both to OUT, N and its rank; without
Gradwire for several N. With `--watch` the residual of the model at rest must stay as it is, to
the bit. `--save` writes a checkpoint after the last round, with which `--load` begins.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

ROUNDS = 12


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--critics", type=int, nargs="*", default=[1])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--way", default="frozen")
    parser.add_argument("--fault", default="")
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--load", type=Path)
    parser.add_argument("--bad", type=int, nargs="*", default=[])
    parser.add_argument("--omit", type=int, nargs="*", default=[])
    return parser.parse_args()


class Game:
    """Both models with their optimisers."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rank = dist.get_rank()
        self.gw: Any = None
        if options.join:
            import gradwire

            self.gw = gradwire.join()
        torch.manual_seed(0)
        self.generator: Any = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 20))
        self.critic: Any = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 1))
        if options.way != "by-hand":
            # Small buckets, so that there are many.
            self.generator = DistributedDataParallel(self.generator, bucket_cap_mb=0.002)
            self.critic = DistributedDataParallel(self.critic, bucket_cap_mb=0.002)
        self.adam = torch.optim.Adam(self.generator.parameters(), lr=0.01)
        self.sgd = torch.optim.SGD(self.critic.parameters(), lr=0.05, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu", enabled=bool(options.bad or options.omit))
        self.random = torch.Generator().manual_seed(100 + self.rank)
        self.step = 0
        if self.gw is not None:
            models = {"generator": self.generator, "critic": self.critic}
            turns = options.fault != "together" and (options.fault != "mixed" or self.rank == 0)
            self.gw.attach(models, self.adam, self.sgd, scaler=self.scaler, turns=turns)

    def noise(self, size: int) -> Tensor:
        return torch.randn(16, size, generator=self.random)

    def critic_steps(self) -> None:
        """The critic tells data from what the generator makes of noise."""
        real = self.noise(20).abs()
        with torch.no_grad():
            fake = self.generator(self.noise(8))
        self.sgd.zero_grad()
        gap = self.critic(torch.cat([real, fake])).tanh()
        loss = gap[16:].mean() - gap[:16].mean()
        self.stepped(loss, self.critic, self.sgd, "critic")

    def generator_steps(self) -> None:
        """The generator makes what the critic takes for data."""
        way = self.options.way
        if way == "frozen":
            self.critic.requires_grad_(False)
        critic = self.critic.module if way == "module" else self.critic
        self.adam.zero_grad()
        loss = -critic(self.generator(self.noise(8))).tanh().mean()
        self.stepped(loss, self.generator, self.adam, "generator")
        self.critic.requires_grad_(True)

    def stepped(self, loss: Tensor, model: nn.Module, optimizer: Any, name: str) -> None:
        """A backward pass and the step of a model."""
        step, self.step = self.step, self.step + 1
        if step in self.options.omit:
            return
        before = self.residuals()
        if step in self.options.bad and self.rank == 1:
            loss = loss * float("inf")
        self.scaler.scale(loss).backward()
        if self.options.way == "by-hand":
            self.gw.allreduce() if self.options.fault == "all" else self.gw.allreduce(model)
        self.scaler.step(optimizer)
        self.scaler.update()
        if self.gw is not None:
            self.gw.log(loss=loss.item())
        self.compare(before, self.residuals(), name)

    def residuals(self) -> dict[str, Tensor] | None:
        """Residuals that Gradwire keeps of each model."""
        if not self.options.watch:
            return None
        residual = self.gw.state_dict()["residual"]
        if residual is None:
            return None
        own = sum(one.numel() for one in self.generator.parameters())
        return {"generator": residual[:own], "critic": residual[own:]}

    def compare(
        self, before: dict[str, Tensor] | None, after: dict[str, Tensor] | None, name: str
    ) -> None:
        """The model at rest keeps its residual, and the other one does not."""
        if before is None or after is None:
            return
        for model, residual in after.items():
            is_same = torch.equal(residual, before[model])
            if is_same is not (model != name):
                raise SystemExit(f"residual of {model} in a step of {name}: same is {is_same}")
        print(f"watched {name}", flush=True)

    def parts(self) -> dict[str, Any]:
        """Parts of a checkpoint, besides Gradwire's state."""
        models = {"generator": self.generator, "critic": self.critic}
        return {**models, "adam": self.adam, "sgd": self.sgd}

    def save(self, path: str) -> None:
        states = {name: one.state_dict() for name, one in self.parts().items()}
        random = {"random": self.random.get_state(), "gradwire": self.gw.state_dict()}
        torch.save({**states, **random}, path)

    def load(self, path: str) -> None:
        saved = torch.load(path)
        for name, one in self.parts().items():
            one.load_state_dict(saved[name])
        self.random.set_state(saved["random"])
        self.gw.load_state_dict(saved["gradwire"])


def play(options: argparse.Namespace, critics: int) -> None:
    """All rounds, from the same weights on."""
    game = Game(options)
    if options.load is not None:
        game.load(f"{options.load}.saved.{game.rank}")
    for number in range(options.rounds):
        if options.fault == "order" and game.rank == 1 and number == 3:
            game.generator_steps()
        if options.fault == "early" and game.rank == 1 and number == 3:
            break
        for _ in range(critics):
            game.critic_steps()
        game.generator_steps()
    if options.save:
        game.save(f"{options.out}.saved.{game.rank}")
    parameters = [*game.generator.parameters(), *game.critic.parameters()]
    weights = torch.cat([one.detach().flatten() for one in parameters])
    Path(f"{options.out}.{critics}.{game.rank}").write_bytes(weights.numpy().tobytes())


def main() -> None:
    options = parsed()
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    for critics in options.critics:
        play(options, critics)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
