"""A program whose gradients Gradwire averages."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsFloat

import torch

from .errors import GradwireError, Stopped
from .exchange import Exchange
from .framing import invalid
from .layout import Layout
from .link import Link
from .messages import Attached, Go, Memory, Read, Write
from .model import distributed, plain_optimizer, trained_parameters
from .scaling import Scale
from .session import Session, Values, claim, current, learning_rate, set_current
from .states import state_vectors
from .step_clock import StepClock
from .timeline import Timeline
from .transfer import Transfer, transfer_for
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
        self._exchange: Exchange | None = None
        self._optimizers: list[Any] = []
        self._awaited: set[int] = set()
        """Optimisers that have not made the step of the last gradient."""
        self._is_averaged = False
        """Whether a gradient is averaged whose step has not been told."""
        self._hold = False
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

    def attach(self, model: Any, *optimizers: Any, scaler: Any = None) -> None:
        if self._exchange is not None:
            raise GradwireError(
                "ALREADY_ATTACHED",
                "a model is attached already",
                "Attach one model; wrap several in one module to train them together",
            )
        module = distributed(model)
        named = trained_parameters(module)
        layout = Layout((name, parameter.shape) for name, parameter in named)
        self._parameters = [parameter for _, parameter in named]
        self._optimizers = [plain_optimizer(optimizer) for optimizer in optimizers]
        if not self._optimizers:
            raise GradwireError(
                "OPTIMIZER_MISSING",
                "attach was given no optimiser",
                "Call gw.attach(model, optimizer)",
            )
        scale = Scale(scaler)
        tensors = [{"name": one.name, "shape": one.shape} for one in layout.tensors]
        attached = {"type": "attach", "tensors": tensors, "device": self._device()}
        self._link.send({**attached, "scaler": scale.is_given})
        memory = self._link.receive()
        if not isinstance(memory, Memory):
            raise _unexpected(memory)
        vector = Vector(memory.path, memory.bytes, layout)
        self._views = vector.views
        self._transfer = transfer_for(self._parameters, vector)
        self._exchange = Exchange(
            self._link,
            layout,
            parameters=self._parameters,
            views=self._views,
            transfer=self._transfer,
            timeline=self._timeline,
            scale=scale,
        )
        self._timeline.follow(self._parameters[0].device)
        self._register(module)
        self._link.send({"type": "mapped"})
        self._serve(Attached)

    def log(
        self,
        values: Mapping[str, SupportsFloat] | None = None,
        /,
        **named: SupportsFloat,
    ) -> None:
        self._values.add(values, named)

    def end(self) -> None:
        if self._is_over or self._exchange is None:
            return
        self._is_over = True
        if self._exchange.is_open or not self._link.is_open:
            return
        self._tell_step()
        # A last average may be on its way to a GPU, and the agent writes zeros next.
        self._transfer.settle()
        self._link.send({"type": "end"})
        self._serve(Go)
        self._link.close()

    def forget(self) -> None:
        """Leaves the connection to the process of which this one is a fork."""
        self._is_over = True
        self._link.close()

    def _device(self) -> str:
        device = self._parameters[0].device
        return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)

    def _register(self, module: Any) -> None:
        # Functions of this module, not bound methods: a module with hooks may be pickled or copied.
        # The compiler shall not look into them.
        try:
            module.register_comm_hook(None, _average_bucket)
        except RuntimeError as error:
            raise GradwireError(
                "HOOK_TAKEN",
                f"the model has a communication hook already: {str(error).splitlines()[0]}",
                "Leave out register_comm_hook: Gradwire compresses and averages",
            ) from error
        module.register_forward_pre_hook(_forward_begins)
        module.register_forward_hook(_forward_ends)
        self._parameters[0].register_post_accumulate_grad_hook(_gradient_accumulated)
        for optimizer in self._optimizers:
            optimizer.register_step_pre_hook(_step_begins)
            optimizer.register_step_post_hook(_step_ends)

    def add_bucket(self, bucket: Any) -> Any:
        """DDP's communication hook."""
        if self._is_over or self._exchange is None:
            raise GradwireError(
                "RUN_ENDED",
                "a gradient is computed after the training has ended",
                "Call gw.end() after the last step, or leave it out",
            )
        if not self._exchange.is_open:
            self._finish_step()
        future, answer = self._exchange.add(bucket)
        if answer is not None:
            self._is_averaged = True
            self._hold = answer.hold
            self._awaited = {id(optimizer) for optimizer in self._optimizers}
        return future

    def forward_begins(self) -> None:
        """A forward pass of the model begins: the step before it has ended."""
        if self._is_over:
            return
        trains = torch.is_grad_enabled()
        # An evaluation between a gradient and its step does not end the step.
        if trains or len(self._awaited) < len(self._optimizers):
            self._finish_step()
        self._timeline.computing("forward_begins" if trains else "evaluation_begins")

    def forward_ends(self) -> None:
        """The forward pass has ended."""
        if not self._is_over:
            trains = torch.is_grad_enabled()
            self._timeline.computing("forward_ends" if trains else "evaluation_ends")

    def gradient_accumulated(self) -> None:
        """The gradient of the first parameter is there, of one of several passes perhaps."""
        if not self._is_over:
            self._timeline.computing("gradient_accumulated")

    def step_begins(self) -> None:
        """An optimiser begins its step."""
        if not self._is_over:
            self._timeline.program("apply_begins")

    def step_ends(self, optimizer: Any) -> None:
        """An optimiser has ended its step; after the last one the program may be held."""
        if self._is_over:
            return
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
        go = self._serve(Go)
        self._timeline.program("held")
        if go.stop:
            self._is_over = True
            self._link.close()
            raise Stopped

    def _tell_step(self) -> None:
        if not self._is_averaged:
            return
        self._is_averaged = False
        self._awaited.clear()
        self._timeline.tell(self._timeline.take(), self._clock)
        step = self._clock.close(learning_rate(self._optimizers[0]))
        self._link.send({"type": "stepped", "step": step, "values": self._values.take()})

    def _serve(self, awaited: Any) -> Any:
        """Reads and writes weights as the agent asks, until the awaited message comes."""
        while True:
            message = self._link.receive()
            if isinstance(message, awaited):
                return message
            with torch.no_grad():
                if isinstance(message, Read):
                    states = state_vectors(self._optimizers, self._parameters)
                    self._read(_chosen([self._parameters, *states], message.vector))
                    self._link.send({"type": "written", "states": len(states)})
                elif isinstance(message, Write):
                    states = state_vectors(self._optimizers, self._parameters)
                    self._write(_chosen([self._parameters, *states], message.vector))
                    self._link.send({"type": "loaded"})
                else:
                    raise _unexpected(message)

    def _read(self, tensors: Sequence[Any]) -> None:
        self._transfer.settle()
        for view, tensor in zip(self._views, tensors):
            if tensor is None:
                view.zero_()
        self._transfer.gather(*self._pairs(tensors))
        self._transfer.arrived(wait=True)

    def _write(self, tensors: Sequence[Any]) -> None:
        views, present = self._pairs(tensors)
        self._transfer.scatter(present, views)
        self._transfer.settle()

    def _pairs(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Views of the vector, and the tensors that there are for them."""
        pairs = [pair for pair in zip(self._views, tensors) if pair[1] is not None]
        return [view for view, _ in pairs], [tensor for _, tensor in pairs]


def _chosen(vectors: Sequence[Sequence[Any]], index: int) -> Sequence[Any]:
    if index >= len(vectors):
        raise invalid(f"vector {index} of {len(vectors)}")
    return vectors[index]


def _unexpected(message: object) -> GradwireError:
    return invalid(f"{type(message).__name__} where it makes no sense")


def _not_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch.compile calls and does not trace."""
    disabled: Callable[..., Any] = torch._disable_dynamo(function)
    return disabled


def _without_annotations(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__annotations__.clear()
    return function


def _session() -> JoinedProgram | None:
    session = current()
    return session if isinstance(session, JoinedProgram) else None


# DDP compares annotations with its own classes, and those of this module are strings.
@_not_compiled
@_without_annotations
def _average_bucket(_state: object, bucket: Any) -> Any:
    session = _session()
    if session is None:
        raise GradwireError("NOT_JOINED", "this process has not joined", "Call gradwire.join()")
    return session.add_bucket(bucket)


@_not_compiled
def _forward_begins(_module: Any, _inputs: Any) -> None:
    session = _session()
    if session is not None:
        session.forward_begins()


@_not_compiled
def _forward_ends(_module: Any, _inputs: Any, _output: Any) -> None:
    session = _session()
    if session is not None:
        session.forward_ends()


@_not_compiled
def _gradient_accumulated(_parameter: Any) -> None:
    session = _session()
    if session is not None:
        session.gradient_accumulated()


@_not_compiled
def _step_begins(_optimizer: Any, _arguments: Any, _named: Any) -> None:
    session = _session()
    if session is not None:
        session.step_begins()


@_not_compiled
def _step_ends(optimizer: Any, _arguments: Any, _named: Any) -> None:
    session = _session()
    if session is not None:
        session.step_ends(optimizer)


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
        session.end()
    except GradwireError as error:
        print(f"gradwire: {error}", file=sys.stderr)
