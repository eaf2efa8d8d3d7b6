"""Parameters that are stepped and not averaged are told once."""

import unittest
import warnings
from typing import Any

from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.errors import GradwireError
    from gradwire.left_out import LeftOut
    from gradwire.models import Models


@needs_torch
class LeftOutParameters(unittest.TestCase):
    def told(self, looks: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            looks()
        return [str(warning.message) for warning in caught]

    def test_what_was_added_or_unfrozen_later_is_told_once(self) -> None:
        model = torch.nn.Linear(2, 3)
        model.bias.requires_grad_(False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        left_out = LeftOut([model.weight])

        def step() -> None:
            model(torch.ones(1, 2)).sum().backward()
            left_out.look([optimizer])

        self.assertEqual(self.told(step), [])
        model.bias.requires_grad_(True)
        (message,) = self.told(step)
        self.assertIn("a parameter that is not averaged (shapes (3,))", message)
        self.assertEqual(self.told(step), [])
        other = torch.nn.Linear(3, 1)
        optimizer.add_param_group({"params": list(other.parameters())})
        left_out = LeftOut(model.parameters())
        self.assertEqual(self.told(step), [])
        other(model(torch.ones(1, 2))).sum().backward()
        (message,) = self.told(lambda: left_out.look([optimizer]))
        self.assertIn("2 parameters", message)

    def test_a_layer_that_is_thawed_after_it_was_attached_is_refused(self) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
        model[0].requires_grad_(False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        models = Models(model)
        left_out = LeftOut([one for _, one in models.parameters], models.frozen)

        def step() -> None:
            model(torch.ones(1, 2)).sum().backward()
            left_out.look([optimizer])

        step()
        model[0].requires_grad_(True)
        with self.assertRaises(GradwireError) as raised:
            step()
        self.assertIn("0.weight, 0.bias: frozen when the model was attached", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
