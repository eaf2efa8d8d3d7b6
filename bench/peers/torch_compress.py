"""What people use in place of Gradwire's kernels, in PyTorch on one thread or on a GPU.

    /usr/bin/python3 torch_compress.py FILE RATIO
    python3 torch_compress.py --cuda N...

FILE holds little-endian float32. Prints one JSON object: the median milliseconds of
seven calls, after one to warm up, of

    topk      torch.topk(|x|, k) and a gather of the values; no error feedback
    feedback  the same of residual + x, which keeps what is not sent; in place
    qsgd      by its definition: 4 bits a value, buckets of 512 with their largest
              magnitude as scale; level, probability of the next one, sign; two codes
              packed in a byte
    tuned     the same with one rounding of level plus noise, in place where it can be
    means     the mean of the entries >= 0 and of |x| over the others, by masks

With --cuda the vectors are N sums of two uniform numbers, as in bench/gpu.ts, on the first
GPU; the times lie between two events of its stream, so work on the host is in them only
where the GPU waits for it. There a copy is timed, too, and top-k of 0.1 % and 1 %.
"""

import json
import sys
import time

import torch

CALLS = 7
BUCKET = 512
LEVELS = 7


def topk(x, k):
    _, indices = torch.topk(x.abs(), k)
    return indices, x[indices]


def feedback(x, residual, k):
    residual.add_(x)
    indices, values = topk(residual, k)
    residual[indices] = 0
    return indices, values


def runs_of(x):
    rest = -x.numel() % BUCKET
    runs = (torch.nn.functional.pad(x, (0, rest)) if rest else x).view(-1, BUCKET)
    magnitudes = runs.abs()
    scales = magnitudes.amax(dim=1, keepdim=True)
    factors = torch.where(scales > 0, LEVELS / scales, torch.zeros_like(scales))
    return runs, magnitudes, scales, factors


def pack(levels, runs):
    codes = levels.to(torch.uint8) | ((runs < 0).to(torch.uint8) << 3)
    flat = codes.view(-1)
    return flat[0::2] | (flat[1::2] << 4)


def qsgd(x):
    runs, magnitudes, scales, factors = runs_of(x)
    exact = magnitudes * factors
    lower = exact.floor().clamp(max=LEVELS - 1)
    up = torch.rand_like(exact) < exact - lower
    return scales, pack(lower + up, runs)


def tuned(x):
    runs, magnitudes, scales, factors = runs_of(x)
    # floor(a*s + u) rounds up with the probability of the fraction
    noise = torch.rand_like(runs)
    levels = magnitudes.mul_(factors).add_(noise).floor_().clamp_(max=LEVELS)
    return scales, pack(levels, runs)


def means(x):
    positive = x >= 0
    return x[positive].mean(), -x[~positive].mean()


def median_ms(work, prepare=lambda: None):
    prepare()
    work()
    times = []
    for _ in range(CALLS):
        prepare()
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return sorted(times)[CALLS // 2]


def median_event_ms(work):
    work()
    times = []
    for _ in range(CALLS):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[CALLS // 2]


def on_gpu(sizes):
    torch.manual_seed(1)
    properties = torch.cuda.get_device_properties(0)
    rows = []
    for n in sizes:
        x = torch.rand(n, device="cuda") + torch.rand(n, device="cuda") - 1
        y = torch.empty_like(x)
        works = {
            "copy": lambda: y.copy_(x),
            "top-k 0.1 %": lambda: topk(x, -(-n // 1000)),
            "top-k 1 %": lambda: topk(x, -(-n // 100)),
            "means": lambda: means(x),
            "qsgd": lambda: qsgd(x),
            "tuned": lambda: tuned(x),
        }
        row = {name: median_event_ms(work) for name, work in works.items()}
        rows.append({"n": n, **row})
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    bus = None if None in parts else "%08X:%02X:%02X.0" % tuple(parts)
    print(
        json.dumps(
            {
                "torch": torch.__version__,
                "device": properties.name,
                **({} if bus is None else {"bus": bus}),
                "rows": rows,
            }
        )
    )


def on_cpu():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    file, ratio = sys.argv[1], float(sys.argv[2])
    with open(file, "rb") as source:
        x = torch.frombuffer(bytearray(source.read()), dtype=torch.float32)
    k = max(1, round(ratio * x.numel()))
    residual = torch.zeros_like(x)
    print(
        json.dumps(
            {
                "torch": torch.__version__,
                "topk": median_ms(lambda: topk(x, k)),
                "feedback": median_ms(
                    lambda: feedback(x, residual, k), lambda: residual.zero_()
                ),
                "qsgd": median_ms(lambda: qsgd(x)),
                "tuned": median_ms(lambda: tuned(x)),
                "means": median_ms(lambda: means(x)),
            }
        )
    )


if sys.argv[1] == "--cuda":
    on_gpu([int(n) for n in sys.argv[2:]])
else:
    on_cpu()
