"""Parameters that an optimiser steps with gradients that nobody averages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any


class LeftOut:
    """Looks for them before each step and tells of them once: the ranks drift apart there."""

    def __init__(self, averaged: Iterable[Any]) -> None:
        self._averaged = {id(parameter) for parameter in averaged}
        self._is_told = False

    def look(self, optimizers: Iterable[Any]) -> None:
        """Warns of parameters with a gradient that were not attached."""
        if self._is_told:
            return
        shapes = [
            tuple(parameter.shape)
            for optimizer in optimizers
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and id(parameter) not in self._averaged
        ]
        if not shapes:
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
