/**
 * Methods as plain loops over arrays, written from the papers' definitions. They share no
 * code with what they check.
 */
import { CounterRandom, type RandomStream } from '../../../src/agent/kernels/random.ts';

/** A new world of P ranks of n elements: from each rank's gradient to its result. */
export type Oracle = (P: number, n: number) => (gradients: number[][]) => number[][];

/** p = m + ∇; what is chosen of p is sent and cleared from m; the average is applied. */
export function errorFeedback(
  choose: (
    p: readonly number[],
    iteration: number,
    rank: number,
  ) => ReadonlySet<number>,
): Oracle {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => new Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const p = gradient.map((value, i) => value + residuals[rank]![i]!);
        const chosen = choose(p, iteration, rank);
        residuals[rank] = p.map((value, i) => (chosen.has(i) ? 0 : value));
        return p.map((value, i) => (chosen.has(i) ? value : 0));
      });
      iteration++;
      return everyRank(P, average(sent));
    };
  };
}

export function errorFeedbackTopK(k: (n: number) => number): Oracle {
  return errorFeedback((p) => largest(p, k(p.length)));
}

/** Indices of the k largest |p|, ties by lower index. */
export function largest(p: readonly number[], k: number): ReadonlySet<number> {
  const order = p.map((_, i) => i);
  order.sort((i, j) => Math.abs(p[j]!) - Math.abs(p[i]!) || i - j);
  return new Set(order.slice(0, k));
}

/** k of each run, tailK of the last and shorter one. */
export function largestPerRun(
  p: readonly number[],
  run: number,
  k: number,
  tailK: number,
): ReadonlySet<number> {
  const chosen = new Set<number>();
  for (let start = 0; start < p.length; start += run) {
    const entries = p.slice(start, start + run);
    for (const i of largest(entries, entries.length === run ? k : tailK)) {
      chosen.add(start + i);
    }
  }
  return chosen;
}

/** Each rank's k of a slice of its own, which moves on by one in each iteration; no average. */
export function unitedBlocks(k: number): Oracle {
  return (P, n) => {
    let iteration = 0;
    return (gradients) => {
      const united = new Array<number>(n).fill(0);
      gradients.forEach((gradient, rank) => {
        const slice = (rank + iteration) % P;
        const own = united
          .map((_, j) => j)
          .filter((j) => j >= Math.floor((slice * n) / P))
          .filter((j) => j < Math.floor(((slice + 1) * n) / P));
        const name = { seed: 1, rank, iteration, purpose: 0x626c6f63 };
        for (const place of sampled(own.length, Math.min(k, own.length), name)) {
          united[own[place]!] = gradient[own[place]!]!;
        }
      });
      iteration++;
      return everyRank(P, united);
    };
  };
}

/** k of n, from the random numbers that all ranks share. */
export const drawn = (n: number, k: number, iteration: number): ReadonlySet<number> =>
  sampled(n, k, { seed: 1, iteration, purpose: 0x72616e64 });

/** Floyd's sample of k of n. */
function sampled(n: number, k: number, name: RandomStream): ReadonlySet<number> {
  const random = new CounterRandom(name);
  const chosen = new Set<number>();
  for (let j = n - k, word = 0; j < n; j++, word += 2) {
    const bits =
      BigInt(random.bits(word)) * 2n ** 21n + BigInt(random.bits(word + 1) >>> 11);
    const index = Number((bits * BigInt(j + 1)) / 2n ** 53n);
    chosen.add(chosen.has(index) ? j : index);
  }
  return chosen;
}

/** Indices of the entries with |p| ≥ τ. */
export function reaching(p: readonly number[], τ: number): ReadonlySet<number> {
  return new Set([...p.keys()].filter((i) => Math.abs(p[i]!) >= τ));
}

/**
 * τ from mean, deviation and normal quantile, to 12 bits; lowered until 3k/4 entries
 * reach it, then doubled and bisected until no more than 5k/4 do; else exactly k.
 */
export function gaussianChoice(
  p: readonly number[],
  ratio: number,
): ReadonlySet<number> {
  const k = Math.max(1, Math.round(ratio * p.length));
  const μ = mean(p);
  const σ = Math.sqrt(mean(p.map((value) => (value - μ) ** 2)));
  // The normal quantile of 0.875.
  const estimate = Math.abs(μ) + (ratio === 0.25 ? 1.1503 : NaN) * σ;
  const unit = 2 ** (Math.floor(Math.log2(estimate)) - 11);
  let τ = Math.round(estimate / unit) * unit;
  for (let step = 2; reaching(p, τ).size < (3 * k) / 4; step *= step) τ /= step;
  let high = Infinity;
  let low = τ;
  for (let i = 0; i < 40; i++) {
    const { size } = reaching(p, τ);
    if (size >= (3 * k) / 4 && size <= (5 * k) / 4) return reaching(p, τ);
    if (size > (5 * k) / 4) low = τ;
    else high = τ;
    τ = high === Infinity ? 2 * low : (low + high) / 2;
  }
  return largest(p, k);
}

/** τ of each half: its k-th magnitude, every L iterations or when the band is left. */
export function livingThresholds(
  ratio: number,
  L: number,
  band: number,
): (p: readonly number[], iteration: number) => ReadonlySet<number> {
  const thresholds: number[] = [];
  return (p, iteration) => {
    const chosen: number[] = [];
    const size = p.length === 1 ? 1 : p.length / 2;
    for (let start = 0; start < p.length; start += size) {
      const layer = p.slice(start, start + size);
      const k = Math.max(1, Math.round(ratio * size));
      const { size: sent } = reaching(layer, thresholds[start] ?? 0);
      if (iteration % L === 0 || sent > k * band || sent < k / band) {
        const magnitudes = layer.map(Math.abs).sort((a, b) => b - a);
        thresholds[start] = Math.max(magnitudes[k - 1]!, 2 ** -149);
      }
      const most = Math.floor(k * band);
      const indices = [...reaching(layer, thresholds[start]!)].slice(0, most);
      chosen.push(...indices.map((i) => start + i));
    }
    return new Set(chosen);
  };
}

/** u ← μ·u + ∇; v ← v + u; the largest of v are sent and cleared from both. */
export function momentumCorrection(ratio: number, momentum: number): Oracle {
  return (P, n) => {
    const zeros = (): number[][] =>
      Array.from({ length: P }, () => Array<number>(n).fill(0));
    const us = zeros();
    const vs = zeros();
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const u = us[rank]!.map((value, i) => momentum * value + gradient[i]!);
        const v = vs[rank]!.map((value, i) => value + u[i]!);
        const chosen = largest(v, Math.max(1, Math.round(ratio * n)));
        us[rank] = u.map((value, i) => (chosen.has(i) ? 0 : value));
        vs[rank] = v.map((value, i) => (chosen.has(i) ? 0 : value));
        return v.map((value, i) => (chosen.has(i) ? value : 0));
      });
      return everyRank(P, average(sent));
    };
  };
}

/** The paper's m: p = m + ∇; the leader chooses; m ← (1−β)·m + β·(p − g). */
export function leaderSelects(
  β: number,
  choose: (p: readonly number[]) => ReadonlySet<number>,
): Oracle {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const ps = gradients.map((gradient, rank) =>
        gradient.map((value, i) => value + residuals[rank]![i]!),
      );
      const chosen = n === 1 ? new Set([0]) : choose(ps[iteration++ % P]!);
      const sent = ps.map((p) => p.map((value, i) => (chosen.has(i) ? value : 0)));
      ps.forEach((p, rank) => {
        residuals[rank] = residuals[rank]!.map(
          (m, i) => (1 - β) * m + β * (p[i]! - sent[rank]![i]!),
        );
      });
      return everyRank(P, average(sent));
    };
  };
}

/** PowerSGD on the second half, a matrix of 8 rows; the first half travels whole. */
export function subspaceIteration(r: number): Oracle {
  return (P, n) => {
    const rows = 8;
    const columns = n / 2 / rows;
    const random = new CounterRandom({ seed: 1, purpose: 0x706f7772 });
    let q = grid(r, columns, (c, j) => 2 * random.uniform(c * columns + j) - 1);
    const residuals = Array.from({ length: P }, () => grid(rows, columns, () => 0));
    return (gradients) => {
      const matrices = gradients.map((gradient, rank) =>
        grid(
          rows,
          columns,
          (i, j) => gradient[n / 2 + i * columns + j]! + residuals[rank]![i]![j]!,
        ),
      );
      const start = q.map((column) =>
        column.map((value) => value / Math.hypot(...column)),
      );
      const lefts: number[][] = [];
      for (const column of start) {
        const left = Array.from({ length: rows }, (_, i) =>
          mean(matrices.map((m) => dot(m[i]!, column))),
        );
        for (const other of lefts) {
          const along = dot(left, other);
          other.forEach((value, i) => {
            left[i]! -= along * value;
          });
        }
        lefts.push(left.map((value) => value / Math.hypot(...left)));
      }
      const rights = matrices.map((m) =>
        grid(r, columns, (c, j) =>
          dot(
            lefts[c]!,
            m.map((row) => row[j]!),
          ),
        ),
      );
      const product = (right: number[][]): number[][] =>
        grid(rows, columns, (i, j) =>
          dot(
            lefts.map((l) => l[i]!),
            right.map((f) => f[j]!),
          ),
        );
      rights.forEach((right, rank) => {
        const sent = product(right);
        residuals[rank] = grid(
          rows,
          columns,
          (i, j) => matrices[rank]![i]![j]! - sent[i]![j]!,
        );
      });
      q = grid(r, columns, (c, j) => mean(rights.map((right) => right[c]![j]!)));
      const whole = average(gradients).slice(0, n / 2);
      return everyRank(P, [...whole, ...product(q).flat()]);
    };
  };
}

function grid(
  rows: number,
  columns: number,
  value: (i: number, j: number) => number,
): number[][] {
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => value(i, j)),
  );
}

function dot(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, value, i) => sum + value * y[i]!, 0);
}

/** enc(g) = ±μ by sign; ε = g − enc(g); ĝ = ε ± μ̄, for each group [from, to). */
export function twoMeans(
  P: number,
  groups: readonly (readonly [number, number])[],
): (gradients: number[][]) => number[][] {
  return (gradients) => {
    const results = gradients.map((gradient) => [...gradient]);
    for (const [from, to] of groups) {
      const means = gradients.map((gradient) => {
        const run = gradient.slice(from, to);
        return {
          plus: mean(run.filter((g) => g >= 0)),
          minus: mean(run.filter((g) => g < 0).map((g) => -g)),
        };
      });
      const plus = mean(means.map((one) => one.plus));
      const minus = mean(means.map((one) => one.minus));
      for (let rank = 0; rank < P; rank++) {
        for (let i = from; i < to; i++) {
          const g = gradients[rank]![i]!;
          const own = g >= 0 ? means[rank]!.plus : -means[rank]!.minus;
          const epsilon = g - own;
          results[rank]![i] = epsilon + (g >= 0 ? plus : -minus);
        }
      }
    }
    return results;
  };
}

export function average(vectors: readonly number[][]): number[] {
  return vectors[0]!.map((_, i) => mean(vectors.map((vector) => vector[i]!)));
}

function mean(values: readonly number[]): number {
  if (values.length === 0) return 0;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function everyRank(P: number, result: number[]): number[][] {
  return Array.from({ length: P }, () => result);
}
