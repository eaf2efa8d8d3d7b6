"""One stage of a model that several ranks train together: its layers, by micro-batch."""

from __future__ import annotations

import torch

from .models import LAYERED
from .models.layered import Given, run
from .opened import Opened, Slot, StageEntry, Tensors
from .parameters import Parameters


class _Passed:
    """A micro-batch between its forward pass and its backward pass."""

    def __init__(self, before: torch.Tensor | None, rows: Tensors, after: torch.Tensor) -> None:
        self.before = before
        self.rows = rows
        self.after = after


class Stage:
    """Layers with their parameters on a device. Gradients of micro-batches are added up there."""

    def __init__(self, opened: Opened, entry: StageEntry, device: torch.device) -> None:
        self._model = LAYERED[opened.model]
        self._opened = opened
        self._entry = entry
        self._device = device
        self._tables = [tensor.name for tensor in opened.tensors if tensor.is_table]
        self._parameters = Parameters(opened, device)
        self._borrowed = {name: self._leaf(one.values) for name, one in entry.borrowed.items()}
        self._passed: dict[int, _Passed] = {}

    def renew(self) -> None:
        """Takes over weights that the agent has changed."""
        self._parameters.renew()
        with torch.no_grad():
            for name, one in self._entry.borrowed.items():
                self._borrowed[name].copy_(one.values)

    def forward(self, batch: int) -> None:
        """Passes what the stage before has given through the layers."""
        slot, part = self._opened.slots["train"], self._part(batch)
        before, rows = self._given_before(), self._rows(slot, part)
        after = self._run(self._given(slot, part, rows), before)
        self._passed[batch] = _Passed(before, rows, after)
        self._pass_on(after)

    def backward(self, batch: int) -> None:
        """The gradient of what the layers were given, from that of what they gave."""
        assert self._entry.after is not None
        passed = self._passed.pop(batch)
        passed.after.backward(self._here(self._entry.after))
        self._pass_back(batch, passed.before, passed.rows)

    def losses(self, batch: int) -> None:
        """Measures of a micro-batch in the last stage, and its gradient."""
        slot, part = self._opened.slots["train"], self._part(batch)
        before, rows = self._given_before(), self._rows(slot, part)
        given = self._given(slot, part, rows)
        objective = self._model.head(given, self._run(given, before))
        (objective.losses.sum() / self._opened.predictions).backward()
        for place, values in zip(slot.measures, (objective.losses, *objective.sums)):
            place[part].copy_(values.detach())
        self._pass_back(batch, before, rows)

    def finish(self) -> None:
        """Writes the gradients of all micro-batches to where the agent reads them."""
        leaves = iter(self._parameters.leaves.values())
        start = 0
        for tensor in self._opened.tensors:
            size = torch.Size(tensor.shape).numel()
            if not tensor.is_table:
                _move(next(leaves), self._opened.gradient[start : start + size])
            start += size
        for name, one in self._entry.borrowed.items():
            _move(self._borrowed[name], one.gradient)

    def score(self) -> None:
        """Test samples: what the layers give of them, or in the last stage their measures."""
        slot = self._opened.slots["test"]
        part = slice(0, self._entry.samples)
        with torch.no_grad():
            given = self._given(slot, part, self._rows(slot, part))
            values = self._run(given, self._given_before())
            if not self._entry.has_head:
                self._pass_on(values)
                return
            objective = self._model.head(given, values)
        for place, measure in zip(slot.measures, (objective.losses, *objective.sums)):
            place.copy_(measure)

    def _part(self, batch: int) -> slice:
        samples = self._entry.samples
        return slice(batch * samples, (batch + 1) * samples)

    def _run(self, given: Given, before: torch.Tensor | None) -> torch.Tensor:
        return run(self._model, given, iter(self._entry.layers), before)

    def _given(self, slot: Slot, part: slice, rows: Tensors) -> Given:
        parameters = {**self._parameters.leaves, **self._borrowed, **rows}
        batch = {name: self._here(values[part]) for name, values in slot.fields.items()}
        return Given(parameters, batch, self._entry.samples)

    def _given_before(self) -> torch.Tensor | None:
        before = self._entry.before
        return None if before is None else self._leaf(before)

    def _rows(self, slot: Slot, part: slice) -> Tensors:
        return {name: self._leaf(values[part]) for name, values in zip(self._tables, slot.rows)}

    def _pass_on(self, values: torch.Tensor) -> None:
        assert self._entry.after is not None
        self._entry.after.copy_(values.detach())

    def _pass_back(self, batch: int, before: torch.Tensor | None, rows: Tensors) -> None:
        part = self._part(batch)
        for name, place in zip(self._tables, self._opened.slots["train"].row_gradients):
            place[part].copy_(rows[name].grad)
        if before is not None and self._entry.before is not None:
            self._entry.before.copy_(before.grad)

    def _leaf(self, values: torch.Tensor) -> torch.Tensor:
        """A copy to differentiate by: the agent writes the next micro-batch to the same place."""
        return values.to(self._device, copy=True).requires_grad_()

    def _here(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self._device)


def _move(leaf: torch.Tensor, place: torch.Tensor) -> None:
    """Writes a gradient, and begins a new one."""
    if leaf.grad is None:
        place.zero_()
        return
    place.copy_(leaf.grad.view_as(place))
    leaf.grad = None
