"""Models that step in turns: which of them a pass or a call is of, and which optimisers step."""

import unittest
import warnings

from gradwire.errors import GradwireError
from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.models import Models
    from gradwire.turns import Turns


@needs_torch
class InTurns(unittest.TestCase):
    def setUp(self) -> None:
        self.actor, self.critic = torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)
        self.models = Models({"actor": self.actor, "critic": self.critic})
        self.sgd = torch.optim.SGD(self.actor.parameters(), lr=1)
        self.adam = torch.optim.Adam(self.critic.parameters())
        self.turns = Turns(self.models, [self.sgd, self.adam])

    def test_the_agent_is_told_the_models_and_their_parameters(self) -> None:
        self.assertEqual(
            self.turns.described,
            [{"name": "actor", "tensors": 2}, {"name": "critic", "tensors": 2}],
        )

    def test_more_models_than_a_number_has_bits_are_refused(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            Turns(Models([torch.nn.Linear(1, 1) for _ in range(31)]), [self.sgd])
        self.assertEqual(raised.exception.code, "MODEL_UNSUPPORTED")

    def test_a_pass_is_of_the_models_whose_buckets_are_there(self) -> None:
        self.assertEqual(self.turns.passed({0, 1}), [0])
        self.assertEqual(self.turns.passed({3, 2}), [1])
        self.assertEqual(self.turns.passed({0, 1, 2, 3}), [0, 1])
        with self.assertRaises(GradwireError) as raised:
            self.turns.passed({0, 1, 3})
        self.assertEqual(raised.exception.code, "MODELS_APART")
        self.assertIn("1 parameters of critic, of 2", raised.exception.message)

    def test_a_call_is_of_whole_models(self) -> None:
        weight, bias = self.critic.parameters()
        self.assertEqual(self.turns.named([bias, weight]), [1])
        self.assertEqual(self.turns.named([*self.actor.parameters(), bias, weight]), [0, 1])
        self.assertEqual(self.turns.indices([1]), [2, 3])
        for given in ([bias], [torch.ones(2)], [weight, bias, torch.ones(2)], []):
            with self.assertRaises(GradwireError) as raised:
                self.turns.named(given)
            self.assertEqual(raised.exception.code, "TENSORS_CHANGED")

    def test_the_optimisers_of_a_step_are_those_of_its_models(self) -> None:
        self.assertEqual(self.turns.optimizers([0]), [self.sgd])
        self.assertEqual(self.turns.optimizers([1]), [self.adam])
        both = torch.optim.SGD([*self.actor.parameters(), *self.critic.parameters()], lr=1)
        self.assertEqual(Turns(self.models, [both]).optimizers([1]), [both])

    def test_a_model_without_any_gradient_is_not_averaged_as_zeros(self) -> None:
        self.actor.bias.grad = torch.ones(3)
        self.models.require_gradients([0])
        for numbers in (None, [0, 1], [1]):
            with self.assertRaises(GradwireError) as raised:
                self.models.require_gradients(numbers)
            self.assertEqual(raised.exception.code, "MODELS_APART")
            self.assertIn("critic has no gradient", raised.exception.message)
        alone = Models(self.critic)
        alone.require_gradients()

    def test_a_model_that_was_averaged_and_not_stepped_is_told_once(self) -> None:
        due = [self.sgd, self.adam]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.turns.look(due, set())
            self.turns.look(due, {id(self.sgd), id(self.adam)})
            self.turns.look([self.sgd], {id(self.sgd)})
            self.assertEqual(told, [])
            self.turns.look(due, {id(self.adam)})
            self.turns.look(due, {id(self.adam)})
        self.assertEqual(len(told), 1)
        self.assertIn("gradients of critic, too", str(told[0].message))


if __name__ == "__main__":
    unittest.main()
