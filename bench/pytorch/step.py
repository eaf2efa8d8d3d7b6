"""A step of a DDP program: its time, by the program's own clock, under one way to communicate.

python step.py --widths 784,256,10 --hook none|fp16|powersgd|gradwire --first N --steps N
    --result FILE
Rank 0 writes what it measured as JSON; a line of a run's log has no room for it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

BATCH = 32


def register(model: DistributedDataParallel, name: str) -> None:
    if name == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif name == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=3)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


class Bridge:
    """The processor's time that a joined program's own process spends on the bridge to its agent:
    copying gradients and averages, and writing, sending and reading messages.

    By the wall, a message that wakes the agent on the same core would count the agent's work.
    """

    def __init__(self) -> None:
        from gradwire import exchange, framing, link, transfer

        self.copies = 0.0
        self.messages = 0.0
        for kind in (transfer.Transfer, transfer.CudaTransfer):
            for name in ("gather", "arrived", "scatter", "settle"):
                if name in vars(kind):
                    self._time(kind, name, self._copied)
        self._time(exchange, "encode_ready", self._told)
        for name in ("encode", "parse"):
            self._time(link, name, self._told)
        self._time(link.Link, "send_frame", self._told)
        for name in ("push", "next"):
            self._time(framing.Decoder, name, self._told)

    def _copied(self, seconds: float) -> None:
        self.copies += 1000 * seconds

    def _told(self, seconds: float) -> None:
        self.messages += 1000 * seconds

    @staticmethod
    def _time(owner: Any, name: str, spent: Callable[[float], None]) -> None:
        original = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            begin = time.thread_time()
            try:
                return original(*arguments, **named)
            finally:
                spent(time.thread_time() - begin)

        setattr(owner, name, timed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--widths", required=True)
    parser.add_argument("--hook", required=True)
    parser.add_argument("--first", type=int, required=True, help="steps that do not count")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--result", required=True)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    widths = [int(width) for width in args.widths.split(",")]
    gw = bridge = None
    if args.hook == "gradwire":
        import gradwire

        bridge = Bridge()
        gw = gradwire.join()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    layers: list[torch.nn.Module] = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    # Over Gloo the order of PowerSGD's messages of several buckets differs between ranks, and fails.
    bucket_mb = 10_000 if args.hook == "powersgd" else 25
    network = torch.nn.Sequential(*layers[:-1]).to(args.device)
    model = DistributedDataParallel(network, bucket_cap_mb=bucket_mb)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if gw is None:
        register(model, args.hook)
    else:
        gw.attach(model, optimizer)
    inputs = torch.randn(BATCH, widths[0], device=args.device)
    labels = torch.randint(0, widths[-1], (BATCH,), device=args.device)

    def now() -> float:
        if args.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    times: list[float] = []
    computing: list[float] = []
    copies: list[float] = []
    messages: list[float] = []
    counted_from = 0.0
    for step in range(args.first + args.steps):
        begin = now()
        if step == args.first:
            counted_from = 1000 * time.time()
        spent = (0.0, 0.0) if bridge is None else (bridge.copies, bridge.messages)
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= args.first:
            times.append(1000 * (now() - begin))
            if bridge is not None:
                copies.append(bridge.copies - spent[0])
                messages.append(bridge.messages - spent[1])
    # What the step is without communication, on the same busy cores.
    for _ in range(5):
        dist.barrier()
        with model.no_sync():
            begin = now()
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            computing.append(1000 * (now() - begin))
    if dist.get_rank() == 0:
        result = {
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "blas": "MKL" if torch.backends.mkl.is_available() else "other",
            "capability": torch.backends.cpu.get_cpu_capability(),
            "parameters": sum(p.numel() for p in model.parameters()),
            "times": times,
            "computing": computing,
            "countedFrom": counted_from,
            **({} if bridge is None else {"copies": copies, "messages": messages}),
            "pid": os.getpid(),
        }
        with open(args.result, "w") as file:
            json.dump(result, file)
    dist.destroy_process_group()


main()
