"""A scale is taken out of the gradients on their way to the agent, and put in again."""

import unittest

from gradwire.errors import GradwireError

from .needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.scaling import Scale
    from gradwire.transfer import Transfer


@needs_torch
class Scaling(unittest.TestCase):
    def test_gradients_come_back_with_their_bits(self) -> None:
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
        scale = Scale(scaler)
        scale.note(torch.device("cpu"))
        random = torch.Generator().manual_seed(0)
        scaled = [
            torch.randn(5, 3, generator=random),
            torch.randn(7, generator=random).bfloat16(),
            torch.randn(4, 6, generator=random).t(),
            torch.zeros(0, 2),
        ]
        transfer = Transfer()
        views = [torch.empty(one.shape) for one in scaled]
        transfer.gather(views, scaled, scale.inverse)
        for view, one in zip(views, scaled):
            self.assertTrue(torch.equal(view, one.float() / 2**20))
        again = [torch.empty_like(one) for one in scaled]
        transfer.scatter(again, views, scale.factor)
        for one, other in zip(again, scaled):
            self.assertTrue(torch.equal(one, other))

    def test_halves_are_scaled_in_float32(self) -> None:
        scale = Scale(torch.amp.GradScaler("cpu", init_scale=2.0**16))
        scale.note(torch.device("cpu"))
        scaled = [torch.full((3,), 6.55e-4, dtype=torch.float16)]
        views = [torch.empty(3)]
        transfer = Transfer()
        transfer.gather(views, scaled, scale.inverse)
        self.assertTrue(torch.equal(views[0], scaled[0].float() / 2**16))
        again = [torch.empty_like(one) for one in scaled]
        transfer.scatter(again, views, scale.factor)
        self.assertTrue(torch.equal(again[0], scaled[0]))

    def test_a_scaler_that_is_off_changes_nothing(self) -> None:
        scale = Scale(torch.amp.GradScaler("cpu", enabled=False))
        scale.note(torch.device("cpu"))
        self.assertEqual((scale.is_given, scale.factor, scale.inverse), (False, None, None))

    def test_anything_else_is_refused(self) -> None:
        with self.assertRaises(GradwireError) as caught:
            Scale(1024.0)
        self.assertEqual(caught.exception.code, "SCALER_UNKNOWN")
