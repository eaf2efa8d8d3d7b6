"""Communication hooks of modules, in a PyTorch that keeps them and in one that does not."""

from __future__ import annotations

import unittest
from typing import Any

from gradwire.comm_hooks import hook_of, note_hook


class Module:
    """A DDP module of PyTorch 2.1."""


class KeepingModule(Module):
    def __init__(self) -> None:
        self._comm_hooks: list[tuple[Any, Any]] = []


def average(_state: object, _bucket: object) -> None:
    """A hook."""


class Hooks(unittest.TestCase):
    def test_a_module_without_one_has_none(self) -> None:
        for module in (Module(), KeepingModule()):
            self.assertIsNone(hook_of(module))

    def test_one_that_was_seen_is_known_where_the_module_does_not_keep_it(self) -> None:
        module = Module()
        note_hook(module, average)
        self.assertIs(hook_of(module), average)
        self.assertIsNone(hook_of(Module()))

    def test_one_that_nobody_saw_is_known_where_the_module_keeps_it(self) -> None:
        module = KeepingModule()
        module._comm_hooks.append((average, None))
        self.assertIs(hook_of(module), average)


if __name__ == "__main__":
    unittest.main()
