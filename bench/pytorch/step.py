"""A step of a DDP program: its time, by the program's own clock, under one way to communicate.

python step.py --widths 784,256,10 --hook none|fp16|powersgd|gradwire --steps N
Rank 0 prints one line: RESULT {json}.
"""

from __future__ import annotations

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

BATCH = 32
WARM = 5


def register(model: DistributedDataParallel, name: str) -> None:
    if name == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif name == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=3)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--widths", required=True)
    parser.add_argument("--hook", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    widths = [int(width) for width in args.widths.split(",")]
    gw = None
    if args.hook == "gradwire":
        import gradwire

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
    for step in range(WARM + args.steps):
        begin = now()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= WARM:
            times.append(1000 * (now() - begin))
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
            "pid": os.getpid(),
        }
        print("RESULT " + json.dumps(result), flush=True)
    dist.destroy_process_group()


main()
