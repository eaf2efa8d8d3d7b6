"""The models that a program has attached: one, or several whose parameters lie in one vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .errors import GradwireError
from .hooks import hook_communication, hook_model
from .model import (
    bare,
    is_distributed,
    plain_model,
    require_averaged,
    require_one_device,
    trained_parameters,
    unsupported,
)


class Models:
    """What is trained, with the name of each model before those of its parameters."""

    def __init__(self, given: Any) -> None:
        self._modules: list[Any] = []
        self.spans: list[tuple[str, range]] = []
        """The models' names, and the indices of their parameters."""
        self.parameters: list[tuple[str, Any]] = []
        for name, model in named_models(given):
            self._add(name, plain_model(model))
        require_one_device(self.parameters)
        self.is_distributed = is_distributed(self._modules[0])
        """Whether DDP calls for averages; otherwise the program does."""
        self._require_no_static_graph()

    def _add(self, name: str, module: Any) -> None:
        if self._modules and is_distributed(module) is not is_distributed(self._modules[0]):
            raise unsupported(
                f"{name}, which is with DistributedDataParallel where another model is without, "
                "or the other way round",
                "Wrap all models in it, or none",
            )
        require_averaged(module)
        known = {id(parameter) for _, parameter in self.parameters}
        first = len(self.parameters)
        for within, parameter in trained_parameters(module):
            path = f"{name}.{within}" if name else within
            if id(parameter) in known:
                raise unsupported(
                    f"{path}, a parameter that two of the models share",
                    "Put both into one module, and attach that",
                )
            self.parameters.append((path, parameter))
        self._modules.append(module)
        self.spans.append((name, range(first, len(self.parameters))))

    @property
    def frozen(self) -> dict[int, str]:
        """Names of parameters that need no gradient now, by identity."""
        return {
            id(parameter): f"{name}.{within}" if name else within
            for (name, _), module in zip(self.spans, self._modules)
            for within, parameter in bare(module).named_parameters()
            if not parameter.requires_grad
        }

    @property
    def are_several(self) -> bool:
        """Whether a backward pass may leave out some of them."""
        return len(self._modules) > 1

    @property
    def may_leave_out(self) -> bool:
        """Whether DDP gives no average to a parameter that no rank has used."""
        return any(
            is_distributed(module) and (module.find_unused_parameters or module.static_graph)
            for module in self._modules
        )

    def _require_no_static_graph(self) -> None:
        """Raises GradwireError `MODEL_UNSUPPORTED` for DDP whose first backward pass waits for
        averages, which wait for another model's gradients."""
        for (name, _), module in zip(self.spans, self._modules):
            if self.are_several and getattr(module, "static_graph", False):
                raise unsupported(
                    f"{name}, DDP with static_graph beside another model", "Leave static_graph out"
                )

    def require_usual_divisor(self) -> None:
        """Raises GradwireError `MODEL_UNSUPPORTED` within DDP's `join` for another divisor."""
        for module in self._modules:
            if not getattr(module, "_divide_by_initial_world_size", True):
                raise unsupported(
                    "with the number of ranks that still have data",
                    "Leave out divide_by_initial_world_size=False",
                )

    def hook_communication(self) -> None:
        """Lets the session average the buckets of DDP. Raises GradwireError `HOOK_TAKEN`."""
        if self.is_distributed:
            for module in self._modules:
                hook_communication(module)

    def hook_passes(self) -> None:
        """Lets the session see their passes."""
        for module, (_, span) in zip(self._modules, self.spans):
            hook_model(module, self.parameters[span.start][1])

    def require_all(self, missing: Iterable[int]) -> None:
        """Raises GradwireError `MODELS_APART` for models, or `MODEL_CHANGED` for parameters of one,
        that had no part in a backward pass.

        DDP waits for its averages at the end of the pass, and would wait for ever.
        """
        without = set(missing)
        if without and not self.are_several:
            names = [self.parameters[index][0] for index in sorted(without)]
            raise GradwireError(
                "MODEL_CHANGED",
                f"DDP does not average {', '.join(names[:3])}{', …' if len(names) > 3 else ''}: "
                "frozen, or not there, when DDP was made",
                "Make DDP, and attach it, after the last change of the model",
            )
        absent = [name for name, span in self.spans if not without.isdisjoint(span)]
        if not absent:
            return
        present = [name for name, _ in self.spans if name not in absent]
        with_those = f" with gradients of {', '.join(present)}" if present else ""
        raise GradwireError(
            "MODELS_APART",
            f"a backward pass has ended{with_those} without those of {', '.join(absent)}: "
            "gradients of all attached models are averaged at once",
            "Call (loss_a + loss_b).backward(); or, if the models step in turns, "
            "gw.attach(models, *optimizers, turns=True)",
        )

    def require_gradients(self, numbers: Iterable[int] | None = None) -> None:
        """Raises GradwireError `MODELS_APART` for one of several models without any gradient.

        Zeros would stand for it, and what a method has kept back of it would go with them.
        `numbers` are those of the models that are averaged; by default all are.
        """
        spans = self.spans if numbers is None else [self.spans[number] for number in numbers]
        for name, span in spans if self.are_several else []:
            if any(self.parameters[index][1].grad is not None for index in span):
                continue
            raise GradwireError(
                "MODELS_APART",
                f"gw.allreduce averages {', '.join(one for one, _ in spans)}, but {name} has no "
                "gradient",
                "If the models step in turns, call gw.attach(models, *optimizers, turns=True), and "
                "gw.allreduce(model) with those that step",
            )


def named_models(given: Any) -> list[tuple[str, Any]]:
    """Each of the models with its name: a number in a list, none if it is the only one."""
    if not isinstance(given, (Mapping, list, tuple)):
        return [("", given)]
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
    named = [(str(name), model) for name, model in pairs]
    if not named:
        raise GradwireError(
            "MODEL_EMPTY",
            "attach was given no model",
            "Call gw.attach([model_a, model_b], optimizer_a, optimizer_b)",
        )
    return named


def is_in_backward() -> bool:
    """Whether this thread computes a backward pass."""
    return bool(torch._C._current_graph_task_id() != -1)


def at_end_of_backward(call: Any) -> None:
    """Calls back when the backward pass in progress has computed all, before DDP waits.

    Within a pass that computes activations again, this is the inner one.
    """
    engine: Any = torch.autograd.Variable._execution_engine
    engine.queue_callback(call)
