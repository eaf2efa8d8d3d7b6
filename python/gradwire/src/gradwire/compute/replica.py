"""A replica of a model: what the agent asks to be computed of a block of samples."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .models import MODELS
from .models.norms import Norms
from .models.objective import Objective
from .opened import Opened, Slot, Tensors
from .parameters import Gradients, Parameters


class Replica:
    """A model with its parameters on a device."""

    def __init__(self, opened: Opened, device: torch.device, tell: Callable[[int], None]) -> None:
        self._model = MODELS[opened.model]
        self._opened = opened
        self._device = device
        self._tables = [tensor.name for tensor in opened.tensors if tensor.is_table]
        self._parameters = Parameters(opened, device)
        self._gradients = Gradients(opened, self._parameters, device, tell)

    def renew(self) -> None:
        """Takes over weights that the agent has changed."""
        self._parameters.renew()

    def gradient(self, rows: int, reports: bool) -> None:
        """Measures of the first rows of a batch, and the gradient of their loss."""
        slot = self._opened.slots["train"]
        used = {
            name: self._here(values[:rows]).detach().requires_grad_()
            for name, values in zip(self._tables, slot.rows)
        }
        self._gradients.begin(reports)
        objective = self._objective(slot, rows, used, Norms())
        (objective.losses.sum() / self._opened.predictions).backward()
        for name, place in zip(self._tables, slot.row_gradients):
            place[:rows].copy_(used[name].grad)
        self._write(slot, rows, objective)
        self._gradients.finish()

    def score(self, given: bool) -> None:
        """Measures of a block of test samples; with `given` by the statistics that are given."""
        slot = self._opened.slots["test"]
        rows = slot.measures[0].shape[0]
        norms = Norms([self._here(values) for values in self._opened.statistics] if given else None)
        with torch.no_grad():
            objective = self._objective(slot, rows, self._rows(slot), norms)
        self._write(slot, rows, objective)

    def statistics(self) -> None:
        """Statistics of a batch."""
        slot = self._opened.slots["statistics"]
        norms = Norms()
        norms.notes = []
        with torch.no_grad():
            self._objective(slot, slot.measures[0].shape[0], self._rows(slot), norms)
        for place, values in zip(self._opened.statistics, norms.notes):
            place.copy_(values)

    def _objective(self, slot: Slot, rows: int, used: Tensors, norms: Norms) -> Objective:
        batch = {name: self._here(values[:rows]) for name, values in slot.fields.items()}
        return self._model({**self._parameters.leaves, **used}, batch, norms)

    def _rows(self, slot: Slot) -> Tensors:
        return {name: self._here(values) for name, values in zip(self._tables, slot.rows)}

    def _here(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self._device)

    def _write(self, slot: Slot, rows: int, objective: Objective) -> None:
        for place, values in zip(slot.measures, (objective.losses, *objective.sums)):
            place[:rows].copy_(values.detach())
