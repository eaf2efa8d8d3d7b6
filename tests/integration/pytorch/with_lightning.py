"""A LightningModule under Gradwire: with_lightning.py STEPS."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from gradwire.lightning import GradwireCallback


class Classifier(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 4))

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        inputs, labels = batch
        return nn.functional.cross_entropy(self.layers(inputs), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.manual_seed(0)
    inputs = torch.randn(4000, 20)
    labels = (inputs @ torch.randn(20, 4)).argmax(1)
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    trainer = Trainer(
        accelerator="cpu",
        devices=ranks,
        strategy="ddp" if ranks > 1 else "auto",
        max_steps=int(sys.argv[1]),
        callbacks=[GradwireCallback()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    model = Classifier()
    trainer.fit(model, DataLoader(TensorDataset(inputs, labels), batch_size=16, shuffle=True))
    weights = torch.cat([one.detach().flatten() for one in model.parameters()])
    print(f"weights {hashlib.sha256(weights.numpy().tobytes()).hexdigest()}", flush=True)


if __name__ == "__main__":
    main()
