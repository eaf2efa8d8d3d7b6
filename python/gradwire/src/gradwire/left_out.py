"""Parameters that an optimiser steps with gradients that nobody averages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import GradwireError


class LeftOut:
    """Looks for them before each step and tells of them once: the ranks drift apart there."""

    def __init__(self, averaged: Iterable[Any], frozen: Mapping[int, str] | None = None) -> None:
        self._averaged = {id(parameter) for parameter in averaged}
        self._frozen = dict(frozen or {})
        """Names of what needed no gradient when it was attached, by identity."""
        self._is_told = False
        self._is_own_step_told = False

    def look_by_itself(self, optimizer: Any) -> None:
        """Warns once of an optimiser that steps where nothing was averaged for it."""
        if self._is_own_step_told or all(
            parameter.grad is None
            for group in optimizer.param_groups
            for parameter in group["params"]
        ):
            return
        self._is_own_step_told = True
        warnings.warn(
            "gradwire: an optimiser has made a step with a gradient that Gradwire has not "
            "averaged: DDP was made again after gw.attach, or the backward pass was within "
            "no_sync(). Such steps are no iterations, and no method compresses them.",
            stacklevel=2,
        )

    def look(self, optimizers: Iterable[Any]) -> None:
        """Warns of parameters with a gradient that were not attached. Raises GradwireError
        `MODEL_CHANGED` for those of the attached models that were thawed since: the replicas would
        drift apart, and the run would say that they are the same."""
        if self._is_told and not self._frozen:
            return
        left_out = [
            parameter
            for optimizer in optimizers
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and id(parameter) not in self._averaged
        ]
        thawed = [
            self._frozen[id(one)]
            for one in left_out
            if id(one) in self._frozen and one.requires_grad
        ]
        if thawed:
            shown = f"{', '.join(thawed[:3])}{', …' if len(thawed) > 3 else ''}"
            raise GradwireError(
                "MODEL_CHANGED",
                f"{shown}: frozen when the model was attached, and stepped now with a gradient "
                "that nobody averages",
                "Let what is thawed later need gradients from the start, in a group of the "
                "optimiser whose lr is 0 until then",
            )
        shapes = [tuple(parameter.shape) for parameter in left_out]
        if not shapes or self._is_told:
            return
        self._is_told = True
        shown = ", ".join(str(shape) for shape in shapes[:3])
        more = "" if len(shapes) <= 3 else ", …"
        what = "a parameter that is" if len(shapes) == 1 else f"{len(shapes)} parameters that are"
        warnings.warn(
            f"gradwire: the optimiser steps {what} not averaged "
            f"(shapes {shown}{more}): they were added or unfrozen after gw.attach, or belong to "
            "another model. Attach the whole model, after its last change.",
            stacklevel=2,
        )
