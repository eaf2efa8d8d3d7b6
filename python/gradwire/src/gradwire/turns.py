"""Models that step in turns: which of them a step is of, and the optimisers that then step."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from .errors import GradwireError
from .model import unsupported
from .models import Models

_MOST_MODELS = 30


class Turns:
    """The attached models, of which a backward pass, or a call, has some."""

    def __init__(self, models: Models, optimizers: Sequence[Any]) -> None:
        self._spans = models.spans
        if len(self._spans) > _MOST_MODELS:
            raise unsupported(
                f"{len(self._spans)} models that step in turns", f"Use at most {_MOST_MODELS}"
            )
        self._model = {
            id(models.parameters[index][1]): number
            for number, (_, span) in enumerate(self._spans)
            for index in span
        }
        self._optimizers = [(one, self._models_of(one)) for one in optimizers]
        self._is_told = False

    @property
    def described(self) -> list[dict[str, Any]]:
        """The models as the agent is told them: each with the number of its parameters."""
        return [
            {"name": name or str(number), "tensors": len(span)}
            for number, (name, span) in enumerate(self._spans)
        ]

    def passed(self, given: Collection[int]) -> list[int]:
        """The models of which a pass had the gradients, by the parameters whose buckets DDP gave.

        Raises GradwireError `MODELS_APART` for a model of which it had some only: DDP goes on
        waiting for the others.
        """
        models = []
        for number, (name, span) in enumerate(self._spans):
            had = sum(index in given for index in span)
            if had == 0:
                continue
            if had < len(span):
                raise GradwireError(
                    "MODELS_APART",
                    f"a backward pass has ended with the gradients of {had} parameters of {name}, "
                    f"of {len(span)}",
                    "Let each pass use all parameters of a model, or give its "
                    "DistributedDataParallel find_unused_parameters=True",
                )
            models.append(number)
        return models

    def named(self, tensors: Iterable[Any]) -> list[int]:
        """The models that have these parameters. Raises GradwireError `TENSORS_CHANGED` unless the
        parameters are all of some models."""
        given = {id(one) for one in tensors}
        models = sorted({self._model[one] for one in given if one in self._model})
        whole = {one for one, number in self._model.items() if number in models}
        if models and given == whole:
            return models
        names = ", ".join(name for name, _ in self._spans)
        raise GradwireError(
            "TENSORS_CHANGED",
            f"{len(given)} tensors are to be averaged that are not the parameters of attached "
            f"models ({names})",
            "Average whole models that step in turns: gw.allreduce(model), or "
            "gw.allreduce([model_a, model_b])",
        )

    def indices(self, models: Iterable[int]) -> list[int]:
        """Their parameters."""
        return [index for number in models for index in self._spans[number][1]]

    def optimizers(self, models: Collection[int]) -> list[Any]:
        """Optimisers that change weights of these models."""
        return [one for one, own in self._optimizers if not own.isdisjoint(models)]

    def look(self, due: Sequence[Any], awaited: Collection[int]) -> None:
        """Warns, once, of a model that a step was of and whose optimiser made none, where others
        did: the generator's pass has gone through a discriminator in DDP, for example."""
        if self._is_told or not 0 < len(awaited) < len(due):
            return
        awaiting: set[int] = set()
        stepped: set[int] = set()
        for one, own in self._optimizers:
            (awaiting if id(one) in awaited else stepped).update(own)
        rested = [self._spans[number][0] for number in sorted(awaiting - stepped)]
        if not rested:
            return
        self._is_told = True
        names = ", ".join(rested)
        warnings.warn(
            f"gradwire: a backward pass has averaged the gradients of {names}, too, but no "
            "optimiser has stepped it: a method that compresses keeps a part of them for its next "
            "step. Call requires_grad_(False) on it for that pass.",
            stacklevel=2,
        )

    def _models_of(self, optimizer: Any) -> set[int]:
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        return {self._model[id(one)] for one in parameters if id(one) in self._model}
