"""Batch norms of images whose channels are last in memory are as exact as of others."""

import unittest

from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.compute.models.norms import Norms


@needs_torch
class BatchNorms(unittest.TestCase):
    def test_gradients_of_channels_last_are_exact(self) -> None:
        drawn = torch.Generator().manual_seed(1)
        images = torch.randn(16, 32, 32, 16, generator=drawn).add(8).permute(0, 3, 1, 2)
        weights = torch.randn(16, 16, 32, 32, generator=drawn)

        def gradient(dtype: torch.dtype) -> torch.Tensor:
            values = images.to(dtype, memory_format=torch.preserve_format).requires_grad_()
            scale = torch.ones(16, dtype=dtype, requires_grad=True)
            shift = torch.zeros(16, dtype=dtype, requires_grad=True)
            normed = Norms().normalize(values, scale, shift)
            (normed * weights.to(dtype)).sum().backward()
            assert scale.grad is not None and shift.grad is not None
            return torch.cat([scale.grad, shift.grad]).double()

        exact = gradient(torch.float64)
        error = (gradient(torch.float32) - exact).abs().max() / exact.abs().max()
        self.assertLess(error.item(), 2e-6)


if __name__ == "__main__":
    unittest.main()
