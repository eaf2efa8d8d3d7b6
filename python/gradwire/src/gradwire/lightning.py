"""Lightning under Gradwire:

from gradwire.lightning import GradwireCallback

trainer = Trainer(strategy="ddp", devices=2, callbacks=[GradwireCallback()])
"""

from __future__ import annotations

from typing import Any

import torch

import gradwire

from .model import is_distributed, plain_model

try:
    from lightning.pytorch import Callback
except ModuleNotFoundError:
    from pytorch_lightning import Callback


class GradwireCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Gives the averaging of gradients to Gradwire, with the loss of each step.

    The strategy is `ddp`, or one device. Outside of a run nothing changes.
    """

    def __init__(self) -> None:
        self._gw = gradwire.join()
        self._averages = False

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The strategy has wrapped the model; no backward pass was made yet."""
        if not self._gw.is_joined:
            return
        model = trainer.strategy.model
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        self._gw.attach(model, *trainer.optimizers, scaler=scaler)
        # Of one device there is no DDP that would call for averages.
        self._averages = not is_distributed(plain_model(model))

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """The gradients of a step are there."""
        if self._averages:
            self._gw.allreduce()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """A batch is done, of which `outputs` has the loss."""
        loss: Any = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if torch.is_tensor(loss) and loss.numel() == 1:
            self._gw.log(loss=loss.item())
