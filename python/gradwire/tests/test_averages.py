from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from gradwire.averages import Average, Averages, SeenBucket


@needs_torch
class SeenAverages(unittest.TestCase):
    """One rank: DDP sums its buckets all the same."""

    placed: ClassVar[list[Any]] = []
    begun: ClassVar[list[Any]] = []
    ended: ClassVar[list[tuple[Any, Any]]] = []
    averages: ClassVar[Any] = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.averages = Averages(cls.place)
        cls.averages.observe(cls.begins, cls.ends)

    def setUp(self) -> None:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = dist.FileStore(str(Path(folder.name) / "store"), 1)
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

    @classmethod
    def place(cls, bucket: SeenBucket) -> int:
        cls.placed.append(bucket)
        return len(cls.placed) - 1

    @classmethod
    def begins(cls, average: Average) -> Average:
        cls.begun.append(average)
        return average

    @classmethod
    def ends(cls, average: Average, work: Any, buffer: Any) -> None:
        work.wait()
        cls.ended.append((average, buffer.clone()))

    def train(self, model: Any, *inputs: Any) -> list[Average]:
        """The buckets that are seen in one step."""
        self.begun.clear()
        self.ended.clear()
        output = model(*inputs)
        self.averages.look(model)
        output.sum().backward()
        self.assertEqual([average for average, _ in self.ended], self.begun)
        return list(self.begun)

    def layers(self, **options: Any) -> Any:
        layers = [torch.nn.Linear(300, 300) for _ in range(4)]
        return DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.5, **options)

    def test_a_model_that_some_of_the_ranks_average_has_their_numbers(self) -> None:
        self.placed.clear()
        self.train(self.layers(), torch.ones(2, 300))
        self.assertEqual({bucket.ranks for bucket in self.placed}, {None})
        model = self.layers()
        self.placed.clear()
        # This rank's group, in a world of two.
        with mock.patch("torch.distributed.get_world_size", return_value=2):
            self.averages.look(model)
        self.assertGreater(len(self.placed), 0)
        self.assertEqual([bucket.ranks for bucket in self.placed], [[0]] * len(self.placed))

    def test_every_bucket_is_seen_once_in_each_step(self) -> None:
        for options in ({}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}):
            with self.subTest(options):
                model = self.layers(**options)
                sizes = [4 * parameter.numel() for parameter in model.parameters()]
                for _ in range(4):
                    seen = self.train(model, torch.ones(2, 300))
                    self.assertEqual(sum(average.size for average in seen), sum(sizes))
                    self.assertEqual([one.is_last for one in seen][-1], True)
                    self.assertEqual(sum(one.is_last for one in seen), 1)
                self.assertGreater(len(seen), 1)
                for average, summed in self.ended:
                    self.assertEqual(4 * summed.numel(), average.size)
                    assert average.place is not None
                    parameters = self.placed[average.place].parameters
                    gradients = torch.cat([one.grad.flatten() for one in parameters])
                    self.assertEqual(sorted(gradients.tolist()), sorted(summed.tolist()))
                model.zero_grad()

    def test_buckets_that_are_made_again_have_places_of_their_own(self) -> None:
        model = self.layers()
        first = {one.place for one in self.train(model, torch.ones(2, 300))}
        later = [{one.place for one in self.train(model, torch.ones(2, 300))} for _ in range(3)]
        self.assertEqual(later, [later[0]] * 3)
        self.assertFalse(first & later[0])

    def test_other_sums_are_not_its(self) -> None:
        model = self.layers()
        self.train(model, torch.ones(2, 300))
        self.begun.clear()
        for tensor in (torch.ones(3), torch.ones(2, 3).to_sparse(), torch.ones(300 * 300 + 300)):
            dist.all_reduce(tensor)
        with model.no_sync():
            model(torch.ones(2, 300)).sum().backward()
        self.assertEqual(self.begun, [])

    def test_a_module_that_is_forgotten_is_not_seen(self) -> None:
        model = self.layers()
        self.train(model, torch.ones(2, 300))
        self.averages.forget(model)
        self.begun.clear()
        model(torch.ones(2, 300)).sum().backward()
        self.assertEqual(self.begun, [])

    def test_sparse_gradients_are_seen_once_ddp_has_made_its_buckets_again(self) -> None:
        class Words(torch.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.bag = torch.nn.EmbeddingBag(100, 8, sparse=True)
                self.out = torch.nn.Linear(8, 3)

            def forward(self, words: Any) -> Any:
                return self.out(self.bag(words))

        model = DistributedDataParallel(Words())
        words = torch.zeros(2, 3, dtype=torch.long)
        counts = [len(self.train(model, words)) for _ in range(4)]
        self.assertEqual(counts, [0, 0, 2, 2])


if __name__ == "__main__":
    unittest.main()
