"""The process's life: it says what PyTorch can do here, opens a model, and computes until its agent
closes the socket."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..framing import encode_ready
from ..requirement import too_old
from .channel import Channel

if TYPE_CHECKING:
    from .replica import Replica
    from .stage import Stage

VERSION = 2
"""Version of the messages."""


def main() -> None:
    """Serves the agent that has started this process."""
    channel = Channel.connect(os.environ["GRADWIRE_BRIDGE"])
    # PyTorch reads it when it first computes on a GPU: the same run gives the same bits.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    hello = {"type": "hello", "version": VERSION, "python": platform.python_version()}
    try:
        import torch
    except ImportError as error:
        channel.send({**hello, "why": str(error)})
        return
    version = str(torch.__version__)
    why = too_old(version)
    if why is not None:
        channel.send({**hello, "why": why})
        return
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    channel.send({**hello, "torch": version, "gpus": gpus})
    use = channel.receive()
    if use is not None:
        _serve(channel, use)


def _serve(channel: Channel, use: Mapping[str, Any]) -> None:
    import torch

    from .opened import opened
    from .replica import Replica
    from .stage import Stage

    device = torch.device(use["device"])
    torch.set_num_threads(use["threads"])
    name = "CPU"
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        torch.cuda.set_device(device)
        _compute_exactly()
    channel.send({"type": "using", "name": name})
    model: Replica | Stage | None = None
    while (message := channel.receive()) is not None:
        if message["type"] == "open":
            what = opened(message)
            model = (
                Replica(what, device, lambda start: _tell(channel, start))
                if what.stage is None
                else Stage(what, what.stage, device)
            )
        elif isinstance(model, Stage):
            _pass(model, message)
        elif model is not None:
            _compute(model, message)
        channel.send({"type": "done"})


def _tell(channel: Channel, start: int) -> None:
    channel.send_frame(encode_ready(start))


def _compute(replica: Replica, message: Mapping[str, Any]) -> None:
    if message["isFresh"]:
        replica.renew()
    if message["type"] == "gradient":
        replica.gradient(message["rows"], message["reports"])
    elif message["type"] == "score":
        replica.score(message["isGiven"])
    else:
        replica.statistics()


def _pass(stage: Stage, message: Mapping[str, Any]) -> None:
    if message["isFresh"]:
        stage.renew()
    if message["type"] == "forward":
        stage.forward(message["microBatch"])
    elif message["type"] == "backward":
        stage.backward(message["microBatch"])
    elif message["type"] == "losses":
        stage.losses(message["microBatch"])
    elif message["type"] == "finish":
        stage.finish()
    else:
        stage.score()


def _compute_exactly() -> None:
    """All 24 bits of f32, and the same bits in every run."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
