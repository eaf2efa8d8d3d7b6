"""What people use in place of Gradwire's kernels, in PyTorch on one thread or on a GPU.

    python3 torch_compress.py FILE RATIO
    python3 torch_compress.py --cuda [--bus 00000000:3B:00.0] N...
    python3 torch_compress.py --cpu N...

FILE holds little-endian float32. Prints one JSON object: torch's facts, and the median
milliseconds of seven calls, after one to warm up, of

    topk      torch.topk(|x|, k) and a gather of the values; no error feedback
    feedback  the same of residual + x, which keeps what is not sent; in place
    qsgd      by its definition: 4 bits a value, buckets of 512 with their largest
              magnitude as scale; level, probability of the next one, sign; two codes
              packed in a byte
    tuned     the same with one rounding of level plus noise, in place where it can be
    means     the mean of the entries >= 0 and of |x| over the others, by masks
    bf16      x in 16 bits, then divided by the number of ranks, as in PyTorch's hooks; fp16, too

With --cuda the vectors are N sums of two uniform numbers, as in bench/gpu.ts, on the GPU
with that bus id, else on the first; the times lie between two events of its stream, so work
on the host is in them only where the GPU waits for it. There a copy is timed, too, and top-k
of 0.1 % and 1 %. A line is printed after each N, with all rows up to then. --cpu tries the
same works without a GPU, by the host's clock.

Exit code 3: this Python has no PyTorch, or PyTorch does not see that GPU.
"""

import json
import platform
import sys
import time


def none(message):
    print(message, file=sys.stderr)
    sys.exit(3)


try:
    import torch
except ImportError as error:
    none(error)

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


def half(x, dtype):
    return x.to(dtype).div_(4)


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


def bus_of(index):
    """As nvidia-smi prints it; None before PyTorch 2.8 or so, which does not tell it."""
    properties = torch.cuda.get_device_properties(index)
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    return None if None in parts else "%08X:%02X:%02X.0" % tuple(parts)


def gpu_at(bus):
    if not torch.cuda.is_available():
        none("PyTorch sees no GPU with CUDA")
    if bus is None:
        return 0
    buses = [bus_of(index) for index in range(torch.cuda.device_count())]
    if bus in buses:
        return buses.index(bus)
    # Then the environment has chosen it.
    if buses == [None]:
        return 0
    none(f"PyTorch sees no GPU at {bus}, but at {buses}")


def works_on(x):
    n = x.numel()
    y = torch.empty_like(x)
    return {
        "copy": lambda: y.copy_(x),
        "top-k 0.1 %": lambda: topk(x, -(-n // 1000)),
        "top-k 1 %": lambda: topk(x, -(-n // 100)),
        "means": lambda: means(x),
        "qsgd": lambda: qsgd(x),
        "tuned": lambda: tuned(x),
    }


def rows_of(sizes, device, about, median):
    torch.manual_seed(1)
    about = {"torch": torch.__version__, "python": platform.python_version(), **about}
    rows = []
    for n in sizes:
        x = torch.rand(n, device=device) + torch.rand(n, device=device) - 1
        times = {name: median(work) for name, work in works_on(x).items()}
        rows.append({"n": n, **times})
        print(json.dumps({**about, "rows": rows}), flush=True)


def on_gpu(arguments):
    bus = None
    if arguments and arguments[0] == "--bus":
        bus = arguments[1]
        arguments = arguments[2:]
    index = gpu_at(bus)
    torch.cuda.set_device(index)
    seen = bus_of(index)
    about = {
        "cuda": torch.version.cuda,
        "device": torch.cuda.get_device_name(index),
        **({} if seen is None else {"bus": seen}),
    }
    rows_of(sizes_in(arguments), f"cuda:{index}", about, median_event_ms)


def sizes_in(arguments):
    return [int(n) for n in arguments]


def on_cpu():
    # Not beside it where it is copied alone, to a machine with a GPU.
    from torch_facts import facts

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
                **facts(),
                "topk": median_ms(lambda: topk(x, k)),
                "feedback": median_ms(
                    lambda: feedback(x, residual, k), lambda: residual.zero_()
                ),
                "qsgd": median_ms(lambda: qsgd(x)),
                "tuned": median_ms(lambda: tuned(x)),
                "means": median_ms(lambda: means(x)),
                "bf16": median_ms(lambda: half(x, torch.bfloat16)),
                "fp16": median_ms(lambda: half(x, torch.float16)),
            }
        )
    )


if sys.argv[1] == "--cuda":
    on_gpu(sys.argv[2:])
elif sys.argv[1] == "--cpu":
    about = {"cuda": None, "device": platform.processor() or "CPU"}
    rows_of(sizes_in(sys.argv[2:]), "cpu", about, median_ms)
else:
    on_cpu()
