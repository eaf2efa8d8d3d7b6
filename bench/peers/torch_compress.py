"""What people use in place of Gradwire's kernels, in PyTorch on one thread.

    /usr/bin/python3 torch_compress.py FILE RATIO

FILE holds little-endian float32. Prints one JSON object: the median milliseconds of
seven calls, after one to warm up, of

    topk      torch.topk(|x|, k) and a gather of the values; no error feedback
    feedback  the same of residual + x, which keeps what is not sent; in place
    qsgd      by its definition: 4 bits a value, buckets of 512 with their largest
              magnitude as scale; level, probability of the next one, sign; two codes
              packed in a byte
    tuned     the same with one rounding of level plus noise, in place where it can be
    means     the mean of the entries >= 0 and of |x| over the others, by masks
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


def main():
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


main()
