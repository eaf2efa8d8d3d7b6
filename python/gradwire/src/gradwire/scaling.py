"""The scale of a GradScaler, by which gradients are divided before Gradwire gets them.

The scaler changes it, but residuals and thresholds last for many steps: they are in the unit of the
gradients themselves. Scales are powers of two unless the program wants others, so no bit is lost.
"""

from __future__ import annotations

from typing import Any

import torch

from .errors import GradwireError


class Scale:
    """Factors for the gradients of one backward pass; None where nothing is scaled."""

    def __init__(self, scaler: Any = None) -> None:
        if scaler is not None and not (hasattr(scaler, "scale") and hasattr(scaler, "is_enabled")):
            raise GradwireError(
                "SCALER_UNKNOWN",
                f"attach was given a {type(scaler).__name__} as scaler, not a GradScaler",
                "Call gw.attach(model, optimizer, scaler=scaler)",
            )
        self._scaler = scaler
        self.factor: Any = None
        """The factor of the loss of this pass, on the gradients' device."""
        self.inverse: Any = None
        """One over it."""

    @property
    def is_given(self) -> bool:
        """Whether a scaler skips steps whose gradients are not finite."""
        return self._scaler is not None and bool(self._scaler.is_enabled())

    def note(self, device: Any) -> None:
        """Takes the scale as it is now. A GPU's is not waited for."""
        if self.is_given:
            self.factor = self._scaler.scale(torch.ones((), device=device))
            self.inverse = self.factor.reciprocal()
