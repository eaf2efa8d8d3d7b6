"""What Python imports first in a program that Gradwire observes: its folder is on PYTHONPATH.

Nothing happens before the program imports PyTorch. The sitecustomize that the user has runs as
always, and finds itself under its name.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = os.path.dirname(os.path.dirname(_HERE))


class _PyTorchFinder(importlib.abc.MetaPathFinder):
    """Lets others find PyTorch, and observes it as soon as it is imported."""

    def __init__(self) -> None:
        self._is_asking = False

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_asking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_observe(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _observe()

        # An attribute of this one loader, which otherwise stays what it is.
        spec.loader.exec_module = execute_and_observe  # type: ignore[method-assign]
        return spec


def _observe() -> None:
    if _PACKAGES not in sys.path:
        # Last, so that an installed one is preferred and nothing of the program's is hidden.
        sys.path.append(_PACKAGES)
    try:
        from gradwire.observing import observe

        observe()
    except Exception as error:
        print(f"gradwire: the program is not observed: {error!r}", file=sys.stderr)


def _give_way() -> None:
    """Imports the sitecustomize that Python would have found without this one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)


if "RANK" in os.environ and ("GRADWIRE_BRIDGE" in os.environ or "GRADWIRE_RUN" in os.environ):
    sys.meta_path.insert(0, _PyTorchFinder())
_give_way()
