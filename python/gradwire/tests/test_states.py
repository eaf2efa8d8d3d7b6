"""States of optimisers become vectors: one a kind, in the order of the parameters."""

import unittest
from typing import Any

from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.states import state_vectors


@needs_torch
class States(unittest.TestCase):
    def setUp(self) -> None:
        self.model = torch.nn.Linear(3, 2)
        self.parameters = list(self.model.parameters())

    def step(self, *optimizers: Any) -> None:
        self.model(torch.ones(1, 3)).sum().backward()
        for optimizer in optimizers:
            optimizer.step()

    def test_without_state_there_is_no_vector(self) -> None:
        plain = torch.optim.SGD(self.parameters, lr=0.1)
        self.assertEqual(state_vectors([plain], self.parameters), [])
        # To ask has made no state.
        self.assertEqual(len(plain.state), 0)
        self.step(plain)
        self.assertEqual(state_vectors([plain], self.parameters), [])

    def test_adam_has_two_and_not_its_count_of_steps(self) -> None:
        adam = torch.optim.Adam(self.parameters)
        self.step(adam)
        first, second = state_vectors([adam], self.parameters)
        self.assertIs(first[1], adam.state[self.parameters[1]]["exp_avg"])
        self.assertIs(second[0], adam.state[self.parameters[0]]["exp_avg_sq"])

    def test_a_count_with_the_shape_of_a_scalar_parameter_is_none_either(self) -> None:
        scalar = torch.nn.Parameter(torch.ones(()))
        adam = torch.optim.Adam([scalar])
        scalar.square().backward()
        adam.step()
        self.assertEqual(len(state_vectors([adam], [scalar])), 2)

    def test_kinds_of_several_optimisers_are_in_the_order_of_their_keys(self) -> None:
        weight, bias = self.parameters
        momentum = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        adam = torch.optim.Adam([bias])
        self.step(momentum, adam)
        vectors = state_vectors([momentum, adam], self.parameters)
        buffer, average = momentum.state[weight]["momentum_buffer"], adam.state[bias]["exp_avg"]
        self.assertIs(vectors[0][1], average)
        self.assertIs(vectors[2][0], buffer)
        missing = [[one is None for one in vector] for vector in vectors]
        self.assertEqual(missing, [[True, False], [True, False], [False, True]])

    def test_what_has_another_shape_is_no_vector(self) -> None:
        lbfgs = torch.optim.LBFGS(self.parameters)

        def closure() -> Any:
            lbfgs.zero_grad()
            loss = self.model(torch.ones(1, 3)).square().sum()
            loss.backward()
            return loss

        lbfgs.step(closure)
        self.assertEqual(state_vectors([lbfgs], self.parameters), [])


if __name__ == "__main__":
    unittest.main()
