"""One rank of Gloo, through PyTorch, for `gradwire bench collectives --peers`.

    gloo_allreduce.py SOCKET RENDEZVOUS RANK SIZE

SOCKET is the benchmark's Unix socket. The rank introduces itself, "rank R VERSION", and
answers each line "BYTES BATCH REPETITIONS" with the entries that were wrong and the
milliseconds of one all_reduce of so many bytes of float, in place, by repetition: a
barrier, then BATCH in a row. The end of the socket is the end.
"""

import socket
import sys
import time

import torch
import torch.distributed as dist

path, rendezvous, rank, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
torch.set_num_threads(1)
dist.init_process_group(
    "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=size
)
link = socket.socket(socket.AF_UNIX)
link.connect(path)
stream = link.makefile("rw")
stream.write(f"rank {rank} Gloo of PyTorch {torch.__version__}\n")
stream.flush()


def wrong(length: int) -> int:
    steps = (torch.arange(length) % 13).to(torch.float32)
    values = steps + rank
    dist.all_reduce(values)
    return int((values != steps * size + size * (size - 1) // 2).sum())


for line in stream:
    count, batch, repetitions = map(int, line.split())
    length = count // 4
    answer = [str(wrong(length))]
    values = torch.zeros(length)
    dist.all_reduce(values)
    for _ in range(repetitions):
        dist.barrier()
        start = time.perf_counter()
        for _ in range(batch):
            dist.all_reduce(values)
        answer.append(f"{1e3 * (time.perf_counter() - start) / batch:.6f}")
    stream.write(" ".join(answer) + "\n")
    stream.flush()
