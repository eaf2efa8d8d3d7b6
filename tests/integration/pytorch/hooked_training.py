"""A training whose communication is PyTorch's own 16-bit hook: what it sends is not seen."""

import os

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
dist.init_process_group("gloo")
layers = [torch.nn.Linear(40, 40) for _ in range(4)]
model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.01)
model.register_comm_hook(None, fp16_compress_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.ones(2, 40)).sum().backward()
    optimizer.step()
dist.destroy_process_group()
