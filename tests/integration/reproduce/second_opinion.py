"""Quantities of two figures of each paper, computed with NumPy alone.

It reads gradients (little-endian float32: iterations x ranks x elements) and prints what a figure
measures as one JSON object. It shares nothing with Gradwire: selections sort, codes are drawn anew.
"""

import json
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray

path, iterations, ranks, length = sys.argv[1], *map(int, sys.argv[2:])
G = np.fromfile(path, "<f4").reshape(iterations, ranks, length)
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


def relative(x: Array, y: Array) -> float:
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def a2sgd(world: int) -> tuple[Array, Array]:
    """Rank 0's gradient after an exchange of two means."""
    g = G[0, :world].astype(np.float64)
    plus = np.array([row[row >= 0].mean() for row in g])
    minus = np.array([-row[row < 0].mean() for row in g])
    positive = g[0] >= 0
    error = g[0] - np.where(positive, plus[0], -minus[0])
    return error + np.where(positive, plus.mean(), -minus.mean()), np.float32([plus[0], minus[0]])


def dct(sparsity: float) -> tuple[float, float]:
    k = share(1 - sparsity)
    kept, thresholds, left = np.zeros(length, np.float32), [], []
    for t in range(iterations):
        p = G[t, 0] + kept
        threshold = np.sort(np.abs(p))[length - k]
        kept = np.where(np.abs(p) >= threshold, 0, p)
        thresholds.append(float(threshold))
        left.append(float(np.linalg.norm(kept)))
    return thresholds[-1], left[-1]


CODES = [(127, 512, "max"), (7, 512, "max"), (1, length, "l2")]
worlds = [2, 4, 8]
k = share(RATIO)
disjoint = [
    np.concatenate([rng.choice(length, k, replace=False) for _ in range(world)]) for world in worlds
]
mean = G[0].mean(axis=0)
sparse = np.zeros(length)
for row in G[0]:
    sparse[largest(row, share(0.001))] += row[largest(row, share(0.001))] / ranks
coded = np.mean([quantised(row.astype(np.float64), 4, length, "l2") for row in G[0]], axis=0)
applied, means = a2sgd(ranks)
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
            "sparcml-figure-7": [len(np.unique(indices)) for indices in disjoint],
            "qsgd-table-1": [
                relative(quantised(G[0, 0].astype(np.float64), *code), G[0, 0]) for code in CODES
            ],
            "qsgd-figure-2": [(world - 1) * (length / 2 + 4 * length / 512) for world in worlds]
            + [2 * (world - 1) / world * 4 * length for world in worlds],
            "a2sgd-table-2": [8 * means.nbytes, 32 * length],
            "a2sgd-figure-3": [
                relative(applied, mean),
                relative(coded, mean),
                relative(sparse, mean),
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
            "dct-figure-2": [dct(sparsity)[0] for sparsity in (0.75, 0.95, 0.995)],
            "dct-table-2": [dct(sparsity)[1] for sparsity in (0.75, 0.95, 0.995)],
        }
    )
)
