"""Trainers of Hugging Face under Gradwire:

    from gradwire.huggingface import GradwireCallback

    trainer = Trainer(model, arguments, train_dataset=data)
    trainer.add_callback(GradwireCallback(trainer))

A loop with Accelerate attaches what `prepare` returns:

    model, optimizer = accelerator.prepare(model, optimizer)
    gw.attach(model, optimizer, scaler=accelerator.scaler)
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from transformers import TrainerCallback

import gradwire

from .model import is_distributed, plain_model


class GradwireCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Gives the averaging of gradients to Gradwire, with the loss whenever the trainer logs it.

    The trainer uses DDP, as it does with several processes, or one process. Outside of a run
    nothing changes.
    """

    def __init__(self, trainer: Any) -> None:
        self._gw = gradwire.join()
        self._trainer = trainer
        self._averages = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The trainer has wrapped the model; no step was made yet."""
        if not self._gw.is_joined:
            return
        trainer = self._trainer
        model = trainer.model_wrapped
        self._gw.attach(model, trainer.optimizer, scaler=trainer.accelerator.scaler)
        # Of one process there is no DDP that would call for averages.
        self._averages = not is_distributed(plain_model(model))

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The gradients of a step are there."""
        if self._averages:
            self._gw.allreduce()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """The trainer logs numbers, every `logging_steps`; the loss of training is one of them."""
        loss = (logs or {}).get("loss")
        if isinstance(loss, Real):
            self._gw.log(loss=float(loss))
