"""A program whose gradients Gradwire averages."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import torch

from .awaiting import rank_and_world
from .backward_end import BackwardEnd
from .checkpoint import chosen, restored, state_of
from .errors import GradwireError, Stopped
from .exchange import Exchange
from .held_weights import HeldWeights, unexpected
from .hooks import hook_optimizers
from .layout import Layout, told_tensors
from .left_out import LeftOut
from .link import Link
from .messages import Attached, Averaged, Go, Memory, Saved
from .model import plain_optimizer
from .models import Models, at_end_of_backward, is_in_backward
from .scaling import Scale
from .session import Session, Values, claim, current, learning_rate, set_current
from .step_clock import StepClock
from .tensors import averaged_parts, require_same, require_shapes
from .tensors import named as named_tensors
from .timeline import Timeline
from .transfer import Transfer, transfer_for
from .turns import Turns
from .vector import Vector


class JoinedProgram(Session):
    """A rank's program, from its connection to its end."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._clock = StepClock()
        self._timeline = Timeline()
        self._values = Values()
        self._parameters: list[Any] = []
        self._views: list[Any] = []
        self._transfer = Transfer()
        self._weights = HeldWeights(link, [], [], views=[], transfer=self._transfer)
        self._exchange: Exchange | None = None
        self._layout: Layout | None = None
        self._has_averaged = False
        self._models: Models | None = None
        self._optimizers: list[Any] = []
        self._turns: Turns | None = None
        """The models, if they step in turns."""
        self._left_out = LeftOut([])
        self._due: list[Any] = []
        """Optimisers whose step the last gradient is for."""
        self._awaited: set[int] = set()
        """Optimisers that have not made the step of the last gradient."""
        self._may_step: set[int] = set()
        """Optimisers that have not made a step since an average was there for them."""
        self._backward_end = BackwardEnd(self._end_pass)
        self._is_averaged = False
        """Whether a gradient is averaged whose step has not been told."""
        self._hold = False
        self._traces = False
        """Whether the step is told with its spans."""
        self._is_over = False

    @classmethod
    def connect(cls, path: str) -> JoinedProgram:
        """Connects with the agent that listens at `path`."""
        pid = os.getpid()
        link = Link.connect(path, mode="join", pid=pid, torch=str(torch.__version__))
        claim()
        session = cls(link)
        # The registered function lives as long as the process, so it must not keep the session.
        os.register_at_fork(after_in_child=_forget)
        atexit.register(_end_with_program)
        return session

    @property
    def is_joined(self) -> bool:
        return True

    def attach(self, model: Any, *optimizers: Any, scaler: Any = None, turns: bool = False) -> None:
        if self._exchange is not None:
            raise GradwireError(
                "ALREADY_ATTACHED",
                "a model is attached already",
                "Attach all models in one call: "
                "gw.attach([model_a, model_b], optimizer_a, optimizer_b); layers that thaw later "
                "need gradients from the start, with lr=0 until then",
            )
        models = Models(model)
        if not optimizers:
            raise GradwireError(
                "OPTIMIZER_MISSING",
                "attach was given no optimiser",
                "Call gw.attach(model, optimizer)",
            )
        plain = [plain_optimizer(optimizer) for optimizer in optimizers]
        in_turns = Turns(models, plain) if turns and models.are_several else None
        # What is refused so far leaves nothing behind: the program may attach another model.
        models.hook_communication()
        self._parameters = [parameter for _, parameter in models.parameters]
        self._left_out = LeftOut(self._parameters, models.frozen)
        self._optimizers = plain
        self._turns = in_turns
        exchange = self._open(models.parameters, Scale(scaler))
        exchange.keeps_ungiven = models.may_leave_out
        self._models = models
        models.hook_passes()
        hook_optimizers(self._optimizers)
        self._begin()

    @property
    def _is_distributed(self) -> bool:
        """Whether DDP calls for averages; otherwise the program does."""
        return self._models is not None and self._models.is_distributed

    def allreduce(self, tensors: Any = None) -> None:
        named = named_tensors(self._parameters if tensors is None else tensors)
        if self._exchange is None:
            if not named:
                raise GradwireError(
                    "TENSORS_MISSING",
                    "there is nothing to average",
                    "Attach a model, or call gw.allreduce(parameters)",
                )
            if all(isinstance(one, torch.nn.Parameter) for _, one in named):
                self._parameters = [one for _, one in named]
            self._open(named, Scale())
            self._begin()
        if self._is_distributed:
            raise GradwireError(
                "ALREADY_AVERAGED",
                "the gradients of a DistributedDataParallel are averaged in its backward pass",
                "Leave out the call, or attach the module without DDP",
            )
        self._average([one for _, one in named])

    def state_dict(self) -> dict[str, Any]:
        layout = self._attached_layout()
        exchange = self._next()
        if exchange.is_open:
            raise GradwireError(
                "STATE_UNSETTLED",
                "the state is asked for within a backward pass",
                "Call gw.state_dict() after the optimiser's step",
            )
        self._transfer.settle()
        self._link.send({"type": "save"})
        saved = self._link.receive()
        if not isinstance(saved, Saved):
            raise unexpected(saved)
        residual = exchange.owed()
        if saved.residual:
            kept = torch.cat([view.flatten() for view in self._views])
            residual = kept if residual is None else residual + kept
        return state_of(saved, layout, residual, *_place())

    def load_state_dict(self, state: Any) -> None:
        layout = self._attached_layout()
        if self._has_averaged or self._exchange is None:
            raise GradwireError(
                "STATE_LATE",
                "a state is loaded after the first gradient was averaged",
                "Call gw.load_state_dict(state) right after gw.attach(model, optimizer)",
            )
        residual, first = chosen(state, layout, *_place())
        if residual is not None:
            self._exchange.owe(residual)
        if first is not None and first["states"]:
            self._link.send(restored(first, *_place()))

    def _attached_layout(self) -> Layout:
        if self._layout is None:
            raise GradwireError(
                "NOT_ATTACHED",
                "there is no state before a model is attached",
                "Call gw.attach(model, optimizer) first",
            )
        return self._layout

    def _open(self, named: Sequence[tuple[str, Any]], scale: Scale) -> Exchange:
        """Tells the agent what is averaged, and maps the memory for it."""
        layout = Layout((name, tensor.shape) for name, tensor in named)
        self._layout = layout
        device = named[0][1].device
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
        tensors = told_tensors(layout)
        attached: dict[str, Any] = {"type": "attach", "tensors": tensors, "device": name}
        if self._turns is not None:
            attached["turns"] = self._turns.described
        self._link.send({**attached, "scaler": scale.is_given})
        memory = self._link.receive()
        if not isinstance(memory, Memory):
            raise unexpected(memory)
        vector = Vector(memory.path, memory.bytes, layout)
        self._views = vector.views
        self._transfer = transfer_for(device, vector)
        exchange = Exchange(
            self._link,
            layout,
            parameters=self._parameters,
            views=self._views,
            transfer=self._transfer,
            timeline=self._timeline,
            scale=scale,
            in_turns=self._turns is not None,
        )
        self._exchange = exchange
        self._weights = HeldWeights(
            self._link,
            self._parameters,
            self._optimizers,
            views=self._views,
            transfer=self._transfer,
        )
        self._timeline.follow(device)
        return exchange

    def _begin(self) -> None:
        """Waits until all ranks have attached the same."""
        self._link.send({"type": "mapped"})
        self._weights.serve(Attached)

    def _average(self, tensors: list[Any]) -> None:
        """Averages tensors that all are there."""
        if self._turns is not None:
            self._average_models(self._turns, self._turns.named(tensors))
            return
        require_shapes(tensors, [one.shape for one in self._attached_layout().tensors])
        require_same(tensors, self._parameters)
        if self._models is not None:
            self._models.require_gradients()
        exchange = self._next()
        self._take(exchange.average(averaged_parts(tensors)))

    def _average_models(self, turns: Turns, models: list[int]) -> None:
        """Averages the gradients of some of the models."""
        if self._models is not None:
            self._models.require_gradients(models)
        exchange = self._next()
        indices = turns.indices(models)
        gradients = averaged_parts(self._parameters[index] for index in indices)
        self._take(exchange.average_of(models, indices, gradients), turns.optimizers(models))

    def _next(self) -> Exchange:
        """The exchange, ready for the next gradient."""
        if self._is_over or self._exchange is None:
            raise GradwireError(
                "RUN_ENDED",
                "a gradient is computed after the training has ended",
                "Call gw.end() after the last step, or leave it out",
            )
        if not self._exchange.is_open:
            self._finish_step()
        return self._exchange

    def _take(self, answer: Averaged, due: Sequence[Any] | None = None) -> None:
        """An average is there, for the steps of these optimisers, or of all."""
        self._is_averaged = self._has_averaged = True
        self._hold = answer.hold
        self._traces = answer.trace
        self._due = list(self._optimizers if due is None else due)
        self._awaited = {id(optimizer) for optimizer in self._due}
        self._may_step = set(self._awaited)

    def log(
        self,
        values: Mapping[str, SupportsFloat] | None = None,
        /,
        **named: SupportsFloat,
    ) -> None:
        self._values.add(values, named)

    def end(self) -> None:
        self.finish(is_last=False)

    def finish(self, *, is_last: bool) -> None:
        """Ends the training, and tells whether all of the program has run."""
        if self._is_over or self._exchange is None:
            return
        self._is_over = True
        if self._exchange.is_open or not self._link.is_open:
            return
        self._tell_step()
        # A last average may be on its way to a GPU, and the agent writes zeros next.
        self._transfer.settle()
        self._link.send({"type": "end", "last": is_last})
        self._weights.serve(Go)
        self._link.close()

    def forget(self) -> None:
        """Leaves the connection to the process of which this one is a fork."""
        self._is_over = True
        self._link.close()

    def add_bucket(self, bucket: Any) -> Any:
        """DDP's communication hook."""
        exchange = self._next()
        if self._models is not None:
            self._models.require_usual_divisor()
            if self._models.are_several:
                self._backward_end.await_end()
        future, answer = exchange.add(bucket)
        if answer is not None:
            if exchange.keeps_ungiven and self._models is not None and not self._models.are_several:
                self._keep_ungiven_after(exchange)
            self._take(answer)
        return future

    def _keep_ungiven_after(self, exchange: Exchange) -> None:
        """DDP ends its pass in a call that is due after the one that is asked for here."""
        if is_in_backward():
            at_end_of_backward(lambda: at_end_of_backward(exchange.keep_ungiven))

    def _watch_outputs(self, output: Any) -> None:
        """The end of the backward pass that begins with these outputs calls back."""
        if not self._is_distributed:
            return
        # Of one model, only what DDP has been made for has to be looked at, once.
        if self._has_averaged and self._models is not None and not self._models.are_several:
            return
        self._backward_end.watch(output)

    def _end_pass(self) -> None:
        """A backward pass has computed all: no attached model may be left out of it, unless they
        step in turns."""
        if self._models is None or self._exchange is None:
            return
        if self._exchange.keeps_ungiven and self._models.are_several:
            # DDP ends its pass in a call of its own, which is due before this one.
            at_end_of_backward(self._exchange.keep_ungiven)
        if not self._exchange.is_open:
            return
        if self._turns is None:
            self._models.require_all(self._exchange.missing)
            return
        models = self._turns.passed(self._exchange.given)
        self._take(self._exchange.end_pass(models), self._turns.optimizers(models))

    def forward_begins(self) -> None:
        """A forward pass of the model begins: the step before it has ended."""
        if self._is_over:
            return
        trains = torch.is_grad_enabled()
        self._backward_end.reset()
        # An evaluation between a gradient and its step does not end the step.
        if trains or len(self._awaited) < len(self._due):
            self._finish_step()
        self._timeline.computing("forward_begins" if trains else "evaluation_begins")

    def forward_ends(self, output: Any) -> None:
        """The forward pass has ended."""
        if not self._is_over:
            trains = torch.is_grad_enabled()
            self._timeline.computing("forward_ends" if trains else "evaluation_ends")
            self._watch_outputs(output)

    def gradient_accumulated(self) -> None:
        """The gradient of the first parameter is there, of one of several passes perhaps."""
        if not self._is_over:
            self._timeline.computing("gradient_accumulated")

    def step_begins(self) -> None:
        """An optimiser begins its step, within which it may call for a gradient."""
        if self._is_over:
            return
        if not self._awaited:
            self._finish_step()
        self._left_out.look(self._optimizers)
        self._timeline.program("apply_begins")

    def step_ends(self, optimizer: Any) -> None:
        """An optimiser has ended its step; after the last one the program may be held."""
        if self._is_over:
            return
        # Not before: a closure of the optimiser may compute the gradient.
        may_step = id(optimizer) in self._may_step
        if self._is_distributed and not may_step:
            self._left_out.look_by_itself(optimizer)
        elif not may_step:
            raise GradwireError(
                "GRADIENT_NOT_AVERAGED",
                "an optimiser has made a step with a gradient that was not averaged",
                "Attach what DistributedDataParallel(…) has returned, not the module inside it, or "
                "call gw.allreduce() after loss.backward()",
            )
        self._timeline.program("apply_ends")
        self._awaited.discard(id(optimizer))
        if self._hold and not self._awaited:
            self._finish_step()

    def _finish_step(self) -> None:
        """Tells the step, and waits if that is wanted."""
        self._tell_step()
        if not self._hold or self._is_over:
            return
        self._hold = False
        go = self._weights.serve(Go)
        self._timeline.program("held")
        if go.stop:
            self._is_over = True
            self._link.close()
            raise Stopped

    def _tell_step(self) -> None:
        if not self._is_averaged:
            return
        self._is_averaged = False
        if self._turns is not None:
            self._turns.look(self._due, self._awaited)
        self._may_step = set(self._awaited)
        self._awaited.clear()
        if self._traces:
            self._clock.trace()
        self._timeline.tell(self._timeline.take(), self._clock)
        self._timeline.follow_again()
        rate = learning_rate(self._due[0]) if self._due else 0.0
        step = self._clock.close(rate)
        self._link.send({"type": "stepped", "step": step, "values": self._values.take()})


def _place() -> tuple[int, int]:
    """Rank and number of ranks."""
    return rank_and_world() or (0, 1)


def _session() -> JoinedProgram | None:
    session = current()
    return session if isinstance(session, JoinedProgram) else None


def _forget() -> None:
    session = _session()
    if session is not None:
        session.forget()
        set_current(None)


def _end_with_program() -> None:
    session = _session()
    # The interpreter keeps the error with which the main module ended.
    if session is None or getattr(sys, "last_type", None) is not None:
        return
    try:
        session.finish(is_last=True)
    except GradwireError as error:
        print(f"gradwire: {error}", file=sys.stderr)
