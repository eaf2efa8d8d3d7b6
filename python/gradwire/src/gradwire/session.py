"""What a program holds of Gradwire: a session, of which a process has at most one."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, SupportsFloat

from .awaiting import awaiting_bridge
from .errors import GradwireError
from .framing import Number, encode_number

NEXT = "Call gw.log(loss=loss.item())"


class Session:
    """A program that is not run by Gradwire: nothing happens."""

    _module: Any = ()
    """The attached model."""

    @property
    def is_joined(self) -> bool:
        """Whether Gradwire averages this program's gradients."""
        return False

    def attach(self, model: Any, *optimizers: Any, scaler: Any = None, turns: bool = False) -> None:
        """Gives Gradwire the averaging of a model's gradients, and waits until all ranks have.

        `model` is a DistributedDataParallel that has not run yet, with no communication hook, or a
        module whose gradients the program averages by `allreduce`; or a list of such models, or a
        dict of them by name, which all take part in each backward pass, unless `turns`: then each
        pass has some of them, and the optimisers of these step after it;
        `optimizers` are all that change its weights: their steps end an iteration;
        `scaler` is the GradScaler, if the program has one.
        """
        self._module = model

    def allreduce(self, tensors: Any = None) -> None:
        """Averages gradients over the ranks, in place: a call is an iteration.

        `tensors` are parameters, whose gradients are meant, other tensors, or a module; by default
        the attached module. In every call they are the same; of models that step in turns, those
        of one or more whole models. Outside of a run they are averaged
        by the process group of torch.distributed, if there is one.
        """
        from .tensors import average_by_torch, named

        given = named(self._module if tensors is None else tensors)
        average_by_torch([one for _, one in given])

    def exchange(self, tensor: Any) -> Any:
        """Averages one tensor over the ranks, in place, and returns it; as `allreduce` does."""
        self.allreduce(tensor)
        return tensor

    def state_dict(self) -> dict[str, Any]:
        """What this rank has kept back, for the program's own checkpoint: its residual, and state
        of the method. Between two steps; other ranks need not take part. Empty outside of a run.
        """
        return {}

    def load_state_dict(self, state: Any) -> None:
        """Goes on with what `state_dict` has returned; after `attach`, before the first gradient.

        `state` is what this rank has saved, if there are as many ranks as then; otherwise give an
        iterable of the states of all ranks, whose residuals' mean every rank then has.
        """

    def log(
        self,
        values: Mapping[str, SupportsFloat] | None = None,
        /,
        **named: SupportsFloat,
    ) -> None:
        """Shows numbers beside the step that was made last, such as `loss=loss.item()`."""

    def end(self) -> None:
        """Ends the training now; without a call it ends with the program."""


class Values:
    """Numbers that a program has logged since the last step."""

    def __init__(self) -> None:
        self._values: dict[str, Number] = {}

    def add(
        self,
        values: Mapping[str, SupportsFloat] | None,
        named: Mapping[str, SupportsFloat],
    ) -> None:
        """Takes numbers; of one name the last one counts."""
        if values is not None and not isinstance(values, Mapping):
            raise GradwireError(
                "LOG_INVALID", f"log takes numbers by name, not {values!r:.40}", NEXT
            )
        for name, value in [*(values or {}).items(), *named.items()]:
            try:
                number = float(value)
            except (OverflowError, TypeError, ValueError, RuntimeError) as error:
                raise GradwireError(
                    "LOG_INVALID", f"{name!s:.40} is no number: {error}", NEXT
                ) from error
            self._values[str(name)] = encode_number(number)

    def take(self) -> dict[str, Number]:
        """The numbers, which are then gone."""
        values, self._values = self._values, {}
        return values


_current: Session | None = None


def current() -> Session | None:
    """The session of this process."""
    return _current


def set_current(session: Session | None) -> None:
    """Sets the session of this process; a child has none of its parent's."""
    global _current
    _current = session


def learning_rate(optimizer: Any) -> float:
    """That of the first group of parameters; 0 if it has none."""
    groups = getattr(optimizer, "param_groups", None) or [{}]
    try:
        rate = float(groups[0].get("lr", 0.0))
    except (TypeError, ValueError, RuntimeError):
        return 0.0
    return rate if math.isfinite(rate) else 0.0


CLAIMED = "GRADWIRE_BRIDGE_PROCESS"
"""Variable with the process that speaks for its rank: those that it starts have no part in it."""


def bridge() -> str | None:
    """Path of the agent's socket, unless another process of this rank uses it."""
    if os.environ.get(CLAIMED, str(os.getpid())) != str(os.getpid()):
        return None
    return os.environ.get("GRADWIRE_BRIDGE") or awaiting_bridge()


def claim() -> None:
    """This process speaks for its rank."""
    os.environ[CLAIMED] = str(os.getpid())
