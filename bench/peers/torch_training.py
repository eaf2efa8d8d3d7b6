"""The models of `gradwire bench training` in PyTorch, on made-up data.

    python3 torch_training.py MODEL BATCH ITERATIONS [THREADS]

MODEL is fnn3, lstm-small or resnet-20, with the layers and the number of parameters that
Gradwire's have. Prints one JSON object: torch's facts, the number of parameters, the
seconds of each iteration (gradient and a step of SGD with momentum, after five to warm up),
and the peak of resident memory in bytes.
"""

import json
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch_facts import facts

WARM_UP = 5


class Lstm(nn.Module):
    """Bytes: embedding of 32, 128 units, scores of 256; windows of 16 predictions."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 32)
        self.lstm = nn.LSTM(32, 128, batch_first=True)
        self.output = nn.Linear(128, 256)

    def loss(self, tokens):
        values, _ = self.lstm(self.embedding(tokens[:, :-1]))
        return functional.cross_entropy(self.output(values).flatten(0, 1), tokens[:, 1:].flatten())


class Block(nn.Module):
    """Two convolutions beside a shortcut without parameters (He et al., option A)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.stride, self.more = stride, outputs - inputs

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        if self.stride > 1:
            x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more // 2, self.more // 2))
        return functional.relu(x + y)


def resnet():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for outputs in (16, 32, 64):
        for i in range(3):
            layers.append(Block(inputs, outputs, 2 if i == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def fnn3():
    return nn.Sequential(
        nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10)
    )


def workload(name, batch):
    if name == "lstm-small":
        model, tokens = Lstm(), torch.randint(256, (batch, 17))
        return model, lambda: model.loss(tokens)
    model, shape = (fnn3(), (784,)) if name == "fnn3" else (resnet(), (3, 32, 32))
    x, labels = torch.randn(batch, *shape), torch.randint(10, (batch,))
    return model, lambda: functional.cross_entropy(model(x), labels)


def main():
    name, batch, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    torch.manual_seed(1)
    model, loss = workload(name, batch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    seconds = []
    for _ in range(WARM_UP + iterations):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                **facts(),
                "parameters": sum(p.numel() for p in model.parameters()),
                "seconds": seconds[WARM_UP:],
                "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    )


main()
