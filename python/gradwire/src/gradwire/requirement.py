"""The PyTorch that Gradwire needs; to read this needs none."""

from __future__ import annotations

import re

from .errors import GradwireError

_LEAST = (2, 1)
"""The first PyTorch whose hooks tell when a gradient is complete."""


def too_old(version: object) -> str | None:
    """Why this version cannot be used, or None. A lab's own build may call itself anything."""
    found = re.match(r"(\d+)\.(\d+)", str(version))
    if found is None or (int(found[1]), int(found[2])) >= _LEAST:
        return None
    return f"PyTorch {version} is older than {'.'.join(map(str, _LEAST))}"


def require_torch() -> None:
    """Raises GradwireError `PYTORCH_MISSING` unless there is a PyTorch that is new enough."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise GradwireError(
            "PYTORCH_MISSING", "PyTorch is not installed", "Run: pip install torch"
        ) from None
    why = too_old(getattr(torch, "__version__", ""))
    if why is not None:
        raise GradwireError("PYTORCH_MISSING", why, "Run: pip install --upgrade torch")
