"""An observed program whose communication no hook sees is told so, once."""

import contextlib
import io
import os
import socket
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import torch.distributed as dist

    from gradwire.averages import Average
    from gradwire.observing import ObservedProgram

TOLD = (
    "gradwire: this program's communication is not measured, and counts as backward or other: {}\n"
)
FSDP = TOLD.format("its parameters are divided among the ranks, such as by FSDP")
OTHER = TOLD.format("no average of DistributedDataParallel has been seen yet")


@needs_torch
class Unmeasured(unittest.TestCase):
    def setUp(self) -> None:
        self.said = io.StringIO()
        self.enter(contextlib.redirect_stderr(self.said))
        path = str(Path(self.enter(tempfile.TemporaryDirectory())) / "bridge")
        # Messages wait there for an agent that never reads them.
        agent = self.enter(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        agent.bind(path)
        agent.listen()
        self.enter(mock.patch.dict(os.environ, {"GRADWIRE_BRIDGE": path}))
        self.session = ObservedProgram(path)
        self.addCleanup(self.session.forget)

    def enter(self, context: Any) -> Any:
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def ranks(self, count: int, rank: int = 0) -> None:
        """A process group whose other ranks are none: it communicates nothing."""
        from torch.testing._internal.distributed.fake_pg import FakeStore

        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=count)
        self.addCleanup(dist.destroy_process_group)

    def train(self, model: Any, steps: int) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            model(torch.ones(1, 4)).sum().backward()
            self.session.step_begins(optimizer)
            optimizer.step()
            self.session.step_ends(optimizer)

    def average_a_bucket(self) -> None:
        self.session.average_begins(Average(size=32, place=None, is_last=False))

    def test_fsdp_is_named_once(self) -> None:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        self.ranks(2)
        model = torch.nn.Linear(4, 4)
        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        self.train(model, 2)
        self.assertEqual(self.said.getvalue(), "")
        self.train(model, 8)
        self.assertEqual(self.said.getvalue(), FSDP)

    def test_so_is_a_program_that_averages_by_itself(self) -> None:
        self.ranks(2)
        self.train(torch.nn.Linear(4, 1), 10)
        self.assertEqual(self.said.getvalue(), OTHER)

    def test_steps_without_gradients_say_nothing(self) -> None:
        self.ranks(2)
        optimizer = torch.optim.SGD(torch.nn.Linear(4, 1).parameters(), lr=0.1)
        for _ in range(10):
            self.session.step_begins(optimizer)
            self.session.step_ends(optimizer)
        self.assertEqual(self.said.getvalue(), "")

    def test_with_ddp_all_is_measured(self) -> None:
        self.ranks(2)
        model = torch.nn.Linear(4, 1)
        self.train(model, 1)
        self.average_a_bucket()
        self.train(model, 10)
        self.assertEqual(self.said.getvalue(), "")

    def test_one_process_has_nothing_to_measure(self) -> None:
        self.train(torch.nn.Linear(4, 1), 10)
        self.ranks(1)
        self.train(torch.nn.Linear(4, 1), 10)
        self.assertEqual(self.said.getvalue(), "")

    def test_the_first_rank_says_it_for_all(self) -> None:
        self.ranks(2, rank=1)
        self.train(torch.nn.Linear(4, 1), 10)
        self.assertEqual(self.said.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
