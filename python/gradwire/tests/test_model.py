"""What cannot be attached is refused, with its name and what to do."""

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

from gradwire.errors import GradwireError
from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from gradwire.model import (
        is_distributed,
        plain_model,
        plain_optimizer,
        require_averaged,
        trained_parameters,
    )


@needs_torch
class Attaching(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = f"file://{Path(folder.name) / 'store'}"
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        dist.init_process_group("gloo", init_method=store, rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

    def refused(self, code: str, named: str, *modules: Any) -> None:
        model = DistributedDataParallel(torch.nn.Sequential(*modules))
        with self.assertRaises(GradwireError) as raised:
            require_averaged(model)
            trained_parameters(model)
        self.assertEqual(raised.exception.code, code)
        self.assertIn(named, raised.exception.message)
        self.assertNotEqual(raised.exception.next, "")

    def test_trained_parameters_have_their_names_in_order_and_once(self) -> None:
        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        second.weight = first.weight
        first.bias.requires_grad_(False)
        model = DistributedDataParallel(torch.nn.Sequential(first, second))
        names = [name for name, _ in trained_parameters(model)]
        self.assertEqual(names, ["0.weight", "1.bias"])
        within = [name for name, _ in trained_parameters(model.module)]
        self.assertEqual(within, names)

    def test_a_compiled_model_is_the_model_within(self) -> None:
        model = DistributedDataParallel(torch.nn.Linear(2, 2))
        self.assertIs(plain_model(torch.compile(model)), model)
        self.assertTrue(is_distributed(model))
        self.assertFalse(is_distributed(model.module))

    def test_what_is_no_model_is_refused(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            plain_model([torch.ones(2)])
        self.assertEqual(raised.exception.code, "MODEL_UNSUPPORTED")

    def test_what_gradwire_does_not_average_is_refused(self) -> None:
        double = torch.nn.Linear(2, 2).double()
        self.refused("MODEL_UNSUPPORTED", "0.weight, a parameter of torch.float64", double)
        sparse = torch.nn.Embedding(2, 2, sparse=True)
        self.refused("MODEL_UNSUPPORTED", "0, an embedding", sparse)

        empty = torch.nn.Module()
        empty.none = torch.nn.Parameter(torch.empty(0))
        self.refused("MODEL_EMPTY", "no elements", empty)

    def test_an_optimiser_is_found_within_what_wraps_it(self) -> None:
        plain = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)

        class Wrapper:
            optimizer = plain

        self.assertIs(plain_optimizer(plain), plain)
        self.assertIs(plain_optimizer(Wrapper()), plain)
        with self.assertRaises(GradwireError) as raised:
            plain_optimizer("adam")
        self.assertEqual(raised.exception.code, "OPTIMIZER_UNKNOWN")


if __name__ == "__main__":
    unittest.main()
