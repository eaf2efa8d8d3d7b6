"""Quantities of two figures or more of each paper, computed with NumPy alone.

It reads gradients (little-endian float32: iterations x ranks x elements) and, after them, the
samples of a logistic regression (ranks x samples x features, their labels, and those of the test
set), and prints what a figure measures as one JSON object. It shares nothing with Gradwire:
selections sort, codes are drawn anew.
"""

import json
import sys
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray

path, iterations, ranks, length, samples, features, tests, steps = (
    sys.argv[1],
    *map(int, sys.argv[2:]),
)
everything = np.fromfile(path, "<f4")
sizes = [
    iterations * ranks * length,
    ranks * samples * features,
    ranks * samples,
    tests * features,
]
gradients, X, Y, X_test, Y_test = np.split(everything, np.cumsum(sizes))
G = gradients.reshape(iterations, ranks, length)
X, Y = (
    X.reshape(ranks, samples, features).astype(float),
    Y.reshape(ranks, samples).astype(float),
)
X_test = X_test.reshape(tests, features).astype(float)
RATE = 0.5
RATIO, COMPRESSED = 0.01, 1 / 112
rng = np.random.default_rng(5)


def largest(x: Array, k: int) -> Array:
    return np.argsort(-np.abs(x), kind="stable")[:k]


def share(ratio: float) -> int:
    return max(1, round(length * ratio))


def local_top_k(world: int, k: int) -> Iterator[tuple[Array, list[Array], Array]]:
    """Yields p, the chosen indices and residuals before, of ranks that choose for themselves."""
    kept = np.zeros((world, length), np.float32)
    for t in range(iterations):
        before = kept.copy()
        p = G[t, :world] + kept
        chosen = [largest(p[r], k) for r in range(world)]
        kept = p.copy()
        for r in range(world):
            kept[r, chosen[r]] = 0
        yield p, chosen, before


def leader_top_k(world: int, k: int, beta: float) -> Iterator[tuple[Array, Array]]:
    kept = np.zeros((world, length), np.float32)
    for t in range(iterations):
        before = kept.copy()
        p = beta * kept + G[t, :world]
        chosen = largest(p[t % world], k)
        rest = p.copy()
        rest[:, chosen] = 0
        kept = (1 - beta) * kept + rest
        yield before, chosen


def union(chosen: list[Array]) -> int:
    return len(set(np.concatenate(chosen).tolist()))


def distance(kept: Array) -> float:
    unit = kept / np.linalg.norm(kept, axis=1, keepdims=True)
    cosines = unit @ unit.T
    pairs = np.triu_indices(len(kept), 1)
    return float(np.mean(1 - cosines[pairs]))


def quantised(v: Array, levels: int, bucket: int, scale: str) -> Array:
    out = np.empty_like(v)
    for start in range(0, len(v), bucket):
        x = v[start : start + bucket]
        norm = np.abs(x).max() if scale == "max" else np.linalg.norm(x)
        level = np.abs(x) / norm * levels
        low = np.floor(level)
        up = rng.random(len(x)) < level - low
        out[start : start + bucket] = np.sign(x) * (low + up) * norm / levels
    return out


def two_means(g: Array) -> Array:
    """Each rank's gradient after an exchange of two means."""
    plus = np.array([[row[row >= 0].mean()] for row in g])
    minus = np.array([[-row[row < 0].mean()] for row in g])
    positive = g >= 0
    error = g - np.where(positive, plus, -minus)
    return error + np.where(positive, plus.mean(), -minus.mean())


Exchange = Callable[[Array], Array]


def quantising(levels: int, scale: str) -> Exchange:
    return lambda g: np.tile(
        np.mean([quantised(row, levels, features, scale) for row in g], axis=0),
        (ranks, 1),
    )


def selecting(k: int) -> Exchange:
    """Each rank's largest entries, of its gradient and what it has kept back."""
    kept = np.zeros((ranks, features))

    def exchange(g: Array) -> Array:
        kept[:] += g
        sent = np.zeros_like(g)
        for r in range(ranks):
            chosen = largest(kept[r], k)
            sent[r, chosen] = kept[r, chosen]
            kept[r, chosen] = 0
        return np.tile(sent.mean(axis=0), (ranks, 1))

    return exchange


def trained(exchange: Exchange) -> float:
    """The test loss of workers that each train on their own samples, averaged over the workers."""
    w = np.zeros((ranks, features))
    for _ in range(steps):
        scores = np.einsum("rsf,rf->rs", X, w)
        g = np.einsum("rsf,rs->rf", X, 1 / (1 + np.exp(-scores)) - Y) / samples
        w -= RATE * exchange(g)
    scores = w @ X_test.T
    return float(np.mean(np.logaddexp(0, scores) - Y_test * scores))


def quantising_error(levels: int) -> float:
    """The mean of the expected squared error of rounding to levels, in squared norms."""
    errors = []
    for row in G[:, 0].astype(float):
        level = np.abs(row) / np.linalg.norm(row) * levels
        up = level - np.floor(level)
        errors.append((up * (1 - up)).sum() / levels**2)
    return float(np.mean(errors))


def entries_of_one_level() -> float:
    """The mean of the expected number of elements that are not rounded to zero."""
    rows = G[:, 0].astype(float)
    return float(np.mean(np.abs(rows).sum(axis=1) / np.linalg.norm(rows, axis=1)))


def dct(sparsity: float) -> float:
    k = share(1 - sparsity)
    kept, thresholds = np.zeros(length, np.float32), []
    for t in range(iterations):
        p = G[t, 0] + kept
        threshold = np.sort(np.abs(p))[length - k]
        kept = np.where(np.abs(p) >= threshold, 0, p)
        thresholds.append(float(threshold))
    return thresholds[-1]


CODES = [(127, "max"), (7, "max"), (1, "l2")]
worlds = [2, 4, 8]
k = share(RATIO)
dense = trained(lambda g: np.tile(g.mean(axis=0), (ranks, 1)))
noise = np.diff(G, axis=0)
*_, (p, chosen, before) = local_top_k(ranks, k)
average = np.abs(p.mean(axis=0))
*_, filtered = leader_top_k(ranks, k, 0.1)
*_, plain = leader_top_k(ranks, k, 1)

print(
    json.dumps(
        {
            "sparcml-figure-1": [
                [union(chosen) for _, chosen, _ in local_top_k(world, k)][-1] for world in worlds
            ],
            "sparcml-figure-7": [
                union([largest(row, k) for row in noise[0, :world]]) for world in worlds
            ],
            "qsgd-table-1": [dense, *(trained(quantising(*code)) for code in CODES)],
            "qsgd-section-3": [
                *(quantising_error(levels) for levels in (1, 16, 64)),
                entries_of_one_level(),
            ],
            "qsgd-figure-2": [(world - 1) * (length / 2 + 4 * length / 512) for world in worlds]
            + [2 * (world - 1) / world * 4 * length for world in worlds],
            "a2sgd-table-2": [2 * 32, 32 * length],
            "a2sgd-figure-3": [
                dense,
                trained(two_means),
                trained(quantising(4, "l2")),
                trained(selecting(features // 20)),
            ],
            "scalecom-figure-1": [
                [union(c) for _, c, _ in local_top_k(world, share(COMPRESSED))][-1]
                for world in worlds
            ],
            "scalecom-figure-2": [
                distance(before),
                float(average[chosen[0]].sum() / average[largest(average, k)].sum()),
                distance(filtered[0]),
                distance(plain[0]),
            ],
            "dct-figure-2": [dct(sparsity) for sparsity in (0.75, 0.95, 0.995)],
            "dct-table-2": [
                dense,
                *(trained(selecting(k)) for k in (features // 4, features // 20, features // 100)),
            ],
        }
    )
)
