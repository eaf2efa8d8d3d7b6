"""The vector that a program shares with its rank's agent.

It is plain memory: other processes see what is copied there without a call.
"""

from __future__ import annotations

import mmap
import os

import torch

from .errors import GradwireError
from .framing import invalid
from .layout import Layout

_F32_BYTES = 4


class Vector:
    """Views of the shared memory, one a tensor of the layout."""

    def __init__(self, path: str, size: int, layout: Layout) -> None:
        if size != _F32_BYTES * layout.length:
            raise invalid(f"memory of {size} bytes for {layout.length} elements")
        memory = map_memory(path, size)
        self._flat = torch.frombuffer(memory, dtype=torch.float32)
        self.views = [
            self._flat[tensor.offset : tensor.offset + tensor.size].view(tensor.shape)
            for tensor in layout.tensors
        ]

    def pin(self) -> bool:
        """Lets a GPU copy to and from the memory by itself. Returns whether it can."""
        return pin(self._flat)


def pin(values: torch.Tensor) -> bool:
    """Lets a GPU copy to and from shared memory by itself. Returns whether it can."""
    size = values.numel() * _F32_BYTES
    try:
        status = torch.cuda.cudart().cudaHostRegister(values.data_ptr(), size, 0)
    except RuntimeError:
        return False
    return int(status) == 0


def map_memory(path: str, size: int) -> mmap.mmap:
    """Maps memory that the agent shares under a path. Raises GradwireError."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise GradwireError(
            "BRIDGE_UNAVAILABLE",
            f"the memory shared with Gradwire's agent cannot be opened: {path}: {error.strerror}",
            "Run the program as the user of the agent, and in its container",
        ) from None
    try:
        present = os.fstat(descriptor).st_size
        if present < size:
            raise invalid(f"memory of {size} bytes, of which {present} are there")
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
