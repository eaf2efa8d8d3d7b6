"""Several models are attached as one: their names, and what is refused."""

import unittest
from typing import Any

from gradwire.errors import GradwireError
from tests.needs_torch import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch

    from gradwire.models import Models, at_end_of_backward
    from gradwire.tensors import named, require_same


def names(given: Any) -> list[str]:
    return [name for name, _ in Models(given).parameters]


@needs_torch
class Attaching(unittest.TestCase):
    def refused(self, code: str, named: str, given: Any) -> None:
        with self.assertRaises(GradwireError) as raised:
            Models(given)
        self.assertEqual(raised.exception.code, code)
        self.assertIn(named, raised.exception.message)
        self.assertNotEqual(raised.exception.next, "")

    def test_parameters_have_the_name_of_their_model_before_theirs(self) -> None:
        first, second = torch.nn.Linear(2, 3), torch.nn.Linear(3, 2, bias=False)
        self.assertEqual(names(first), ["weight", "bias"])
        self.assertEqual(names([first, second]), ["0.weight", "0.bias", "1.weight"])
        self.assertEqual(
            names({"actor": first, "critic": second}),
            ["actor.weight", "actor.bias", "critic.weight"],
        )

    def test_one_container_of_modules_is_one_model(self) -> None:
        both = torch.nn.ModuleList([torch.nn.Linear(2, 2, bias=False)])
        self.assertEqual(names(both), ["0.weight"])
        self.assertFalse(Models(both).are_several)

    def test_what_cannot_be_averaged_together_is_refused(self) -> None:
        one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.refused("MODEL_EMPTY", "no model", [])
        self.refused("MODEL_UNSUPPORTED", "Tensor", [one, torch.ones(2)])
        self.refused("MODEL_UNSUPPORTED", "1.weight", [one, other.to("meta")])
        tied = torch.nn.Linear(2, 2)
        tied.weight = one.weight
        self.refused("MODEL_UNSUPPORTED", "b.weight, a parameter that two", {"a": one, "b": tied})
        self.refused("MODEL_UNSUPPORTED", "1.weight, a parameter that two", [one, one])

    def test_models_without_a_part_in_a_backward_pass_are_named(self) -> None:
        models = Models({"actor": torch.nn.Linear(2, 2), "critic": torch.nn.Linear(2, 2)})
        models.require_all([])
        with self.assertRaises(GradwireError) as raised:
            models.require_all([2, 3])
        self.assertEqual(raised.exception.code, "MODELS_APART")
        self.assertIn("of actor without those of critic", raised.exception.message)
        self.assertIn("backward()", raised.exception.next)

    def test_parameters_that_ddp_does_not_have_are_named(self) -> None:
        models = Models(torch.nn.Linear(2, 2))
        models.require_all([])
        with self.assertRaises(GradwireError) as raised:
            models.require_all([1])
        self.assertEqual(raised.exception.code, "MODEL_CHANGED")
        self.assertIn("does not average bias", raised.exception.message)

    def test_what_is_raised_at_the_end_of_a_backward_pass_is_raised_there(self) -> None:
        weight = torch.ones(1, requires_grad=True)

        def refuse() -> None:
            raise GradwireError("MODELS_APART", "apart")

        weight.register_hook(lambda _gradient: at_end_of_backward(refuse))
        with self.assertRaises(GradwireError):
            (2 * weight).sum().backward()
        self.assertEqual(weight.grad, torch.full((1,), 2.0))

    def test_a_call_averages_the_parameters_of_several_models(self) -> None:
        first, second = torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)
        second.bias.requires_grad_(False)
        for given in ([first, second], {"actor": first, "critic": second}):
            found = [id(one) for _, one in named(given)]
            self.assertEqual(found, [id(first.weight), id(first.bias), id(second.weight)])

    def test_other_parameters_of_the_same_shapes_are_refused(self) -> None:
        first, second = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
        parameters = list(first.parameters())
        require_same(list(first.parameters()), parameters)
        require_same([torch.ones(3, 2), torch.ones(3)], parameters)
        require_same(list(second.parameters()), [])
        for given in (list(second.parameters()), parameters[::-1]):
            with self.assertRaises(GradwireError) as raised:
                require_same(given, parameters)
            self.assertEqual(raised.exception.code, "TENSORS_CHANGED")


if __name__ == "__main__":
    unittest.main()
