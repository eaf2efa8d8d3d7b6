"""A training that ends without the end of its interpreter, as launchers of some clusters want it.

Its last parameter has a long name with control characters. Given a word, it has two models.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
dist.init_process_group("gloo")
layers = torch.nn.Sequential(torch.nn.Linear(40, 40), torch.nn.Linear(40, 40))
layers.register_parameter("\x1b[31m" + "n" * 3000, torch.nn.Parameter(torch.zeros(3)))
models = [DistributedDataParallel(layers, find_unused_parameters=True)]
if len(sys.argv) > 1:
    models.append(DistributedDataParallel(torch.nn.Linear(40, 7)))
optimizers = [torch.optim.SGD(model.parameters(), lr=0.01) for model in models]
for _ in range(26):
    for optimizer in optimizers:
        optimizer.zero_grad()
    sum(model(torch.ones(2, 40)).sum() for model in models).backward()
    for optimizer in optimizers:
        optimizer.step()
sys.stdout.flush()
os._exit(0)
