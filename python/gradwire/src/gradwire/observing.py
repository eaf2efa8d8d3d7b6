"""A program that Gradwire only observes: it keeps its own communication, and no value changes.

Hooks of PyTorch note moments. Whatever goes wrong in them is said once, and observing ends; the
program goes on.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, SupportsFloat

import torch

from .averages import Average, Averages, SeenBucket
from .buckets import SeenBuckets
from .comm_hooks import hook_of
from .completion import CompletionThread, Wait
from .framing import encode_number
from .layout import Layout, cut, told_tensors
from .link import Link
from .messages import Message, Trace
from .printed import LineReader, watch_stream
from .requirement import too_old
from .session import Session, Values, bridge, claim, learning_rate, set_current
from .step_clock import StepClock
from .telling import TellingThread
from .timeline import Bucket, Timeline
from .unmeasured import Unmeasured

_LAST_SECONDS = 5.0


class ObservedProgram(Session):
    """A rank's program, as hooks see it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._link: Link | None = None
        self._telling: TellingThread | None = None
        self._clock = StepClock()
        self._told_steps = 0
        self._traced = range(0)
        """Steps that are told with their spans."""
        self._timeline = Timeline()
        self._completion = CompletionThread()
        self._side: Any = None
        """The stream on which what other threads wait for is waited for."""
        self.averages = Averages(self._place_of)
        self._values = Values()
        self._unmeasured = Unmeasured()
        self._buckets = SeenBuckets()
        self._logs_loss = False
        self._printed: tuple[float, str] | None = None
        """The loss that was printed first in this step, and its line."""
        self._has_told_line = False
        self._stepped: dict[int, Any] = {}
        """Optimisers that have made a step since the last one was closed."""
        self._is_complete = False
        """Whether the last gradient of a backward pass is there, and its average is not."""
        self._is_over = False
        self._is_forked = False

    def log(
        self, values: Mapping[str, SupportsFloat] | None = None, /, **named: SupportsFloat
    ) -> None:
        if not self._is_over:
            self._values.add(values, named)

    def printed(self, loss: float, line: str) -> None:
        """The program has printed a loss: the first of a step counts, as sums of all may follow it.

        Before the first step it tells of something else.
        """
        if self._link is not None and self._printed is None:
            self._printed = (loss, line)

    def end(self) -> None:
        """Nothing: an observed program ends when it ends."""

    def forward_begins(self, module: Any) -> None:
        """A forward pass of a DDP module begins."""
        if self._link is None:
            self._open(_named(module))
        self._buckets.add_names(module)
        if torch.is_grad_enabled():
            self._close_step()
            self._timeline.computing("forward_begins")
        else:
            self._timeline.computing("evaluation_begins")

    def ranks_met(self, module: Any, had_rebuilt: bool) -> None:
        """All ranks may have got rank 0's buffers, or its order of gradients, before a pass."""
        takes_buffers = getattr(module, "_check_sync_bufs_pre_fwd", lambda: False)
        if not torch.is_grad_enabled() or not (
            has_rebuilt(module) != had_rebuilt or takes_buffers()
        ):
            return
        if module.process_group.size() == torch.distributed.get_world_size():
            self._timeline.computing("ranks_met")

    def forward_ends(self, module: Any) -> None:
        """The pass ends; DDP has its buckets for the backward pass."""
        trains = torch.is_grad_enabled()
        if trains and hook_of(module) is None and not _has_own_reducer(module):
            self.averages.look(module)
        self._timeline.computing("forward_ends" if trains else "evaluation_ends")

    def backward_begins(self) -> None:
        """A backward pass begins, of whatever model."""
        self._close_step()
        self._timeline.computing("backward_begins")

    def backward_ends(self) -> None:
        """A backward pass has ended; DDP has waited in it for its averages."""
        if self._is_complete:
            self._averaged()
        else:
            self._timeline.computing("gradient_accumulated")

    def average_begins(self, average: Average) -> Bucket:
        """DDP hands over a bucket to be summed."""
        return self._bucket_begins(average.size, average.place, is_last=average.is_last)

    def average_begun(self, bucket: Bucket, work: Any, buffer: Any) -> None:
        """The sum of a bucket is under way."""
        self.bucket_begun(bucket, functools.partial(_wait, work), buffer)

    def hooked_bucket_begins(self, bucket: Any) -> Bucket:
        """DDP hands over a bucket to a hook of the program, which sends anything."""
        buffer = bucket.buffer()
        parameters = bucket.parameters()
        place = self._buckets.place(bucket.index(), parameters, buffer, is_encoded=True)
        size = buffer.numel() * buffer.element_size()
        return self._bucket_begins(size, place, is_last=bucket.is_last())

    def bucket_begun(self, bucket: Bucket, wait: Wait, buffer: Any) -> None:
        """Notes when a bucket's average is there, which `wait` waits for."""
        self._completion.after(
            wait, lambda _: self.guard(self._bucket_ends, bucket), self._stream_of(buffer)
        )

    def step_begins(self, optimizer: Any) -> None:
        """An optimiser begins its step."""
        if self._link is None:
            self._open(_numbered(optimizer))
        if id(optimizer) in self._stepped:
            self._close_step()
        if self._is_complete:
            self._averaged()
        self._timeline.computing("apply_begins")
        self._unmeasured.look(optimizer)

    def step_ends(self, optimizer: Any) -> None:
        """It has ended its step."""
        self._timeline.computing("apply_ends")
        self._stepped[id(optimizer)] = optimizer

    def finish(self) -> None:
        """The program ends without an error."""
        if self._telling is None:
            return
        self._close_step()
        self._telling.tell(lambda: {"type": "end", "last": True})

    def end_of_process(self, *, failed: bool) -> None:
        """The process ends: tells the agent what it was not told yet, of one that failed, too."""
        if self._is_forked:
            return
        self._completion.stop()
        if not failed:
            self.guard(self.finish)
        if self._telling is not None:
            self._telling.end(_LAST_SECONDS)

    def forget(self) -> None:
        """Leaves the connection, if there is one, to the process of which this one is a fork."""
        if self._link is not None:
            self._is_over = self._is_forked = True
            self._link.close()

    def guard(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Does what observing needs; if that fails, observing ends and the program does not."""
        if self._is_over:
            return None
        try:
            return action(*arguments)
        except Exception as error:
            self._is_over = True
            print(f"gradwire: the program is observed no more: {error!r}", file=sys.stderr)
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        # An agent that takes nothing, or has ended, cannot be told.
        with contextlib.suppress(Exception):
            if self._telling is not None:
                why = cut(repr(error))
                self._telling.tell(lambda: {"type": "unseen", "why": why})

    def _open(self, named: list[tuple[str, Any]]) -> None:
        if bridge() is None:
            self._is_over = True
            return
        pid = os.getpid()
        link = Link.connect(self._path, mode="observe", pid=pid, torch=str(torch.__version__))
        claim()
        self._link = link
        self._telling = TellingThread(link, self._asked)
        device = named[0][1].device
        self._timeline.follow(device)
        layout = Layout((name, parameter.shape) for name, parameter in named)
        tensors = told_tensors(layout)
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
        link.send({"type": "attach", "tensors": tensors, "device": name})

    def _bucket_begins(self, size: int, place: int | None, *, is_last: bool) -> Bucket:
        self._unmeasured.bucket_seen()
        if is_last:
            self._timeline.computing("gradient_complete")
            self._is_complete = True
        return self._timeline.bucket(size, place)

    def _bucket_ends(self, bucket: Bucket) -> None:
        bucket.end = self._timeline.moment()

    def _stream_of(self, buffer: Any) -> Any:
        """A stream of its own for what waits on a GPU: on the default one the backward pass, which
        computes there, would wait as well."""
        if buffer.is_cpu:
            return None
        if self._side is None:
            self._side = torch.cuda.Stream(buffer.device)
        return torch.cuda.stream(self._side)

    def _place_of(self, bucket: SeenBucket) -> int | None:
        number, parameters, buffer, ranks = bucket
        return self._buckets.place(number, parameters, buffer, is_encoded=False, ranks=ranks)

    def _averaged(self) -> None:
        self._timeline.computing("averaged")
        self._is_complete = False

    def _close_step(self) -> None:
        """The step before has ended if an optimiser made one."""
        if not self._stepped:
            return
        lr = learning_rate(next(iter(self._stepped.values())))
        self._stepped.clear()
        told = {**self._told_values(), **self._buckets.take()}
        if self._telling is not None:
            self._telling.tell(functools.partial(self._message_of, self._timeline.take(), lr, told))

    def _told_values(self) -> dict[str, Any]:
        """The values of the step's message: what was logged, else a loss that was printed."""
        values: dict[str, Any] = self._values.take()
        printed, self._printed = self._printed, None
        self._logs_loss = self._logs_loss or "loss" in values
        if printed is None or self._logs_loss:
            return {"values": values}
        loss, line = printed
        told: dict[str, Any] = {"values": {**values, "loss": encode_number(loss)}}
        if not self._has_told_line:
            self._has_told_line = True
            told["printed"] = line.strip()[:200]
        return told

    def _asked(self, message: Message) -> None:
        """Takes what the agent asks; called by the thread that tells it of steps."""
        if not isinstance(message, Trace):
            return
        asked = range(message.first, message.first + message.steps)
        if self._told_steps < self._traced.stop:
            # Of two requests at once the steps between are traced, too.
            first, stop = self._traced.start, self._traced.stop
            asked = range(min(first, asked.start), max(stop, asked.stop))
        self._traced = asked

    def _message_of(
        self, moments: list[tuple[str, Any]], lr: float, told: dict[str, Any]
    ) -> dict[str, Any]:
        """The message of a step; called by the thread that tells it."""
        if self._told_steps in self._traced:
            self._clock.trace()
        self._told_steps += 1
        self._timeline.tell(moments, self._clock)
        return {"type": "stepped", "step": self._clock.close(lr), **told}


def _named(module: Any) -> list[tuple[str, Any]]:
    """Parameters of a DDP module that are trained."""
    return [one for one in module.module.named_parameters() if one[1].requires_grad]


def _numbered(optimizer: Any) -> list[tuple[str, Any]]:
    """Parameters of an optimiser, which knows no names."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    return [(f"p{index}", parameter) for index, parameter in enumerate(parameters)]


def _wait(work: Any) -> None:
    # Looked up by who waits: it takes PyTorch some time, and DDP waits meanwhile.
    work.wait()


def has_rebuilt(module: Any) -> bool:
    """Whether DDP has made a module's buckets again, in the order of its gradients."""
    return bool(getattr(module, "_has_rebuilt_buckets", False))


def _has_own_reducer(module: Any) -> bool:
    """Whether the compiler makes the averages of a DDP module, which then has no buckets."""
    return bool(getattr(module, "_use_python_reducer", False))


def observe() -> None:
    """Observes this process, unless the program's rank has no agent."""
    path = bridge()
    if path is None:
        return
    why = too_old(getattr(torch, "__version__", ""))
    if why is not None:
        print(f"gradwire: the program is not observed: {why}", file=sys.stderr)
        return
    from .patches import watch

    session = ObservedProgram(path)
    set_current(session)
    watch(session)
    for stream in (sys.stdout, sys.stderr):
        reader = LineReader(session.printed)
        watch_stream(stream, functools.partial(session.guard, reader.write))
    os.register_at_fork(after_in_child=session.forget)
    atexit.register(_end_with_program, session)
    _end_abruptly(session)


def _end_with_program(session: ObservedProgram) -> None:
    # The interpreter keeps the error with which the main module ended.
    session.end_of_process(failed=getattr(sys, "last_type", None) is not None)


def _end_abruptly(session: ObservedProgram) -> None:
    """Has `os._exit` end the observation first: no other code of Python runs after it."""
    original = os._exit

    @functools.wraps(original)
    def _exit(status: int) -> NoReturn:
        session.guard(lambda: session.end_of_process(failed=status != 0))
        original(status)

    os._exit = _exit
