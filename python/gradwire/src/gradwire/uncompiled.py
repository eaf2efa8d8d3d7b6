"""Functions that torch.compile calls and does not look into.

`torch._disable_dynamo` alone costs tens of microseconds a call, compiled or not, and the hooks of a
step are ten.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_is_compiling: Any = getattr(torch.compiler, "is_dynamo_compiling", None)
"""Constant for the compiler, which leaves out the other way. Missing in PyTorch 2.1 and 2.2."""


def uncompiled(function: Callable[..., Any], *, recursive: bool = True) -> Callable[..., Any]:
    """A function that the compiler does not trace; `recursive`: nor what it calls."""
    disabled: Callable[..., Any] = torch._disable_dynamo(function, recursive)
    if _is_compiling is None:
        return disabled

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        if _is_compiling():
            return disabled(*arguments, **named)
        return function(*arguments, **named)

    return called
