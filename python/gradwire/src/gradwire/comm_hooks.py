"""Communication hooks of DDP modules, which PyTorch 2.1 does not keep in them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

_seen: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
"""Hooks that were seen to be registered, by module."""


def hook_of(module: Any) -> Any:
    """A module's hook, or None."""
    for hook, _ in getattr(module, "_comm_hooks", ()):
        return hook
    return _seen.get(module)


def note_hook(module: Any, hook: Callable[..., Any]) -> None:
    """Notes that a module has a hook."""
    _seen[module] = hook
