"""Tensors of all kinds go to the shared vector and come back, each at its place."""

import mmap
import tempfile
import unittest
from pathlib import Path
from typing import Any

from gradwire.errors import GradwireError
from gradwire.layout import Layout
from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.transfer import Transfer
    from gradwire.vector import Vector


@needs_torch
class SharedVector(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "memory"

    def vector(self, shapes: "list[tuple[int, ...]]") -> "tuple[Vector, Any]":
        layout = Layout((str(index), shape) for index, shape in enumerate(shapes))
        self.file.write_bytes(bytes(4 * layout.length))
        with self.file.open("r+b") as file:
            other = torch.frombuffer(mmap.mmap(file.fileno(), 0), dtype=torch.float32)
        return Vector(str(self.file), 4 * layout.length, layout), other

    def test_both_sides_see_the_same_numbers_in_the_order_of_the_tensors(self) -> None:
        vector, other = self.vector([(2, 3), (), (0, 4), (4,)])
        tensors = [
            torch.arange(6.0).view(3, 2).t(),
            torch.tensor(7.5, dtype=torch.bfloat16),
            torch.empty(0, 4),
            torch.tensor([1.0, -2.0, float("inf"), 3.0], dtype=torch.float16),
        ]
        transfer = Transfer()
        transfer.gather(vector.views, tensors)
        self.assertEqual(transfer.arrived(wait=False), 1)
        expected = [0, 2, 4, 1, 3, 5, 7.5, 1, -2, float("inf"), 3]
        self.assertEqual(other.tolist(), expected)
        other.copy_(torch.arange(11.0))
        transfer.scatter(tensors, vector.views)
        self.assertEqual(tensors[0].tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(tensors[1].item(), 6)
        self.assertEqual(tensors[3].tolist(), [7, 8, 9, 10])
        self.assertEqual(tensors[3].dtype, torch.float16)

    def test_memory_of_another_size_is_refused(self) -> None:
        layout = Layout([("a", (3,))])
        self.file.write_bytes(bytes(8))
        for size in (12, 8, 0):
            with self.subTest(size=size), self.assertRaises(GradwireError) as raised:
                Vector(str(self.file), size, layout)
            self.assertEqual(raised.exception.code, "BRIDGE_INVALID")

    def test_memory_that_cannot_be_opened_is_named(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            Vector("/nonexistent/memory", 4, Layout([("a", (1,))]))
        self.assertEqual(raised.exception.code, "BRIDGE_UNAVAILABLE")
        self.assertIn("/nonexistent/memory", raised.exception.message)


if __name__ == "__main__":
    unittest.main()
