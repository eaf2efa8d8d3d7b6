/**
 * The quantisers in plain arithmetic, from the papers' definitions; the only thing shared
 * with the methods is the generator. Numbers are rounded to f32 where a method stores or
 * sends them, and nowhere else: that a level is decided with f32 arithmetic can show only
 * where a random number falls within 2⁻²³ of a fraction, which for these seeds it does not.
 */
import { CounterRandom } from '../../../src/agent/kernels/random.ts';

const { fround } = Math;

type Step = (gradients: number[][]) => number[][];
export type Oracle = (P: number, n: number) => Step;

/** Where and when an element is drawn for. */
interface Place {
  readonly rank: number;
  readonly iteration: number;
  readonly section: number;
}

/** s·|v|/scale, rounded up with the probability of its fraction: Q(v) for these draws. */
function quantized(
  v: readonly number[],
  levels: number,
  bucket: number,
  scaleOf: (run: readonly number[]) => number,
  { rank, iteration, section }: Place,
): number[] {
  const random = new CounterRandom({
    seed: 1,
    rank,
    bucket: 0,
    iteration,
    purpose: 65_536 + section,
  });
  const uniform = (i: number): number => {
    const word = random.bits(Math.floor(i / 2));
    const first = i % 2 === 0 ? word % 65_536 : Math.floor(word / 65_536);
    return (first + random.uniform(2 ** 33 + i)) / 65_536;
  };
  return v.map((value, i) => {
    const run = Math.floor(i / bucket) * bucket;
    const scale = fround(scaleOf(v.slice(run, run + bucket)));
    if (scale === 0) return 0;
    const a = Math.min(levels, (Math.abs(value) / scale) * levels);
    const level = Math.floor(a) + (uniform(i) < a - Math.floor(a) ? 1 : 0);
    return Math.sign(value) * fround(level * fround(scale / levels));
  });
}

/**
 * Floats of few bits in blocks of 32 by powers of two, each rounded to the nearest in steps of
 * its binade.
 */
export const float8Oracle =
  (format: { mantissa: number; least: number; largest: number }): Oracle =>
  (P) =>
  (gradients) => {
    const { largest, least, mantissa } = format;
    const rounded = (block: readonly number[]): number[] => {
      const most = Math.max(...block.map(Math.abs));
      const scale = most === 0 ? 1 : 2 ** Math.ceil(Math.log2(most / largest));
      return block.map((value) => {
        const scaled = Math.abs(value) / scale;
        const binade =
          scaled === 0 ? least : Math.max(least, Math.floor(Math.log2(scaled)));
        const step = 2 ** (binade - mantissa);
        const whole = Math.floor(scaled / step);
        const rest = scaled / step - whole;
        const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1);
        return Math.sign(value) * (whole + Number(up)) * step * scale;
      });
    };
    const sent = gradients.map((gradient) =>
      Array.from({ length: gradient.length / 32 }, (_, block) =>
        rounded(gradient.slice(32 * block, 32 * block + 32)),
      ).flat(),
    );
    const mean = sent[0]!.map((_, i) => sum(sent.map((one) => one[i]!)) / P);
    return sent.map(() => mean);
  };

export const maximum = (run: readonly number[]): number =>
  Math.max(...run.map((value) => Math.abs(value)));

export const norm = (run: readonly number[]): number => Math.hypot(...run);

export function clipped(deviations: number): typeof maximum {
  return (run) => {
    const mean = sum(run) / run.length;
    const variance = sum(run.map((value) => (value - mean) ** 2)) / run.length;
    return Math.min(maximum(run), deviations * Math.sqrt(variance));
  };
}

/** Each half of the gradient is a tensor; all ranks get the average of what all sent. */
export function stochasticOracle(
  levels: number,
  bucket: number,
  scaleOf: (run: readonly number[]) => number,
): Oracle {
  return (P, n) => {
    let iteration = 0;
    return (gradients) => {
      const sent = gradients.map((gradient, rank) =>
        [0, 1].flatMap((section) =>
          quantized(
            gradient.slice((section * n) / 2, ((section + 1) * n) / 2),
            levels,
            bucket,
            scaleOf,
            { rank, iteration, section },
          ),
        ),
      );
      iteration++;
      return everyRank(P, average(sent));
    };
  };
}

/** p = m + ∇; what `send` makes of p goes out; m ← p − that. */
function withFeedback(
  send: (p: readonly number[], rank: number, iteration: number) => number[],
): Oracle {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => new Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const p = gradient.map((value, i) => fround(value + residuals[rank]![i]!));
        const g = send(p, rank, iteration);
        residuals[rank] = p.map((value, i) => fround(value - g[i]!));
        return g;
      });
      iteration++;
      return everyRank(P, average(sent));
    };
  };
}

/** The sign of each element stands for the mean of its sign in its run. */
export function signOracle(bucket: number): Oracle {
  const mean = (values: readonly number[]): number =>
    values.length === 0 ? 0 : fround(sum(values) / values.length);
  return withFeedback((p) => {
    const half = p.length / 2;
    return [p.slice(0, half), p.slice(half)].flatMap((tensor) =>
      tensor.map((value, i) => {
        const start = Math.floor(i / bucket) * bucket;
        const run = tensor.slice(start, start + bucket);
        return mean(run.filter((other) => other < 0 === value < 0));
      }),
    );
  });
}

/**
 * The sign of each element stands for the mean of its sign in its column, of tensors that
 * follow each other: row-major matrices of so many columns.
 */
export function columnSignOracle(
  tensors: readonly { readonly length: number; readonly columns: number }[],
): Oracle {
  return withFeedback((p) => {
    const sent: number[] = [];
    let start = 0;
    for (const { length, columns } of tensors) {
      const sums = Array.from({ length: columns }, () => [0, 0, 0, 0]);
      for (let i = 0; i < length; i++) {
        const [value, own] = [p[start + i]!, sums[i % columns]!];
        own[value < 0 ? 1 : 0]! += value;
        own[value < 0 ? 3 : 2]!++;
      }
      for (let i = 0; i < length; i++) {
        const [above, below, aboves, belows] = sums[i % columns]! as [
          ...[number, number],
          ...[number, number],
        ];
        sent.push(fround(p[start + i]! < 0 ? below / belows : above / aboves));
      }
      start += length;
    }
    return sent;
  });
}

/** Values of the k largest |p|, as a vector of their own, quantised in runs. */
export function quantizedTopKOracle(k: number, levels: number, bucket: number): Oracle {
  return withFeedback((p, rank, iteration) => {
    const indices = p
      .map((_, i) => i)
      .sort((i, j) => Math.abs(p[j]!) - Math.abs(p[i]!) || i - j)
      .slice(0, k)
      .sort((i, j) => i - j);
    const values = indices.map((i) => p[i]!);
    const place = { rank, iteration, section: 0 };
    const sent = new Array<number>(p.length).fill(0);
    quantized(values, levels, bucket, maximum, place).forEach((value, at) => {
      sent[indices[at]!] = value;
    });
    return sent;
  });
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Summed in rank order in f32, times 1/P once. */
function average(vectors: readonly number[][]): number[] {
  const factor = fround(1 / vectors.length);
  return vectors[0]!.map((_, i) => {
    const total = vectors.reduce((before, vector) => fround(before + vector[i]!), 0);
    return vectors.length === 1 ? total : fround(total * factor);
  });
}

function everyRank(P: number, result: number[]): number[][] {
  return Array.from({ length: P }, () => result);
}

/** Of each half: entries by magnitude until they add up to the norm, as signs of it. */
export const signsOfNormOracle: Oracle = (P, n) => (gradients) => {
  const sent = gradients.map((gradient) =>
    [gradient.slice(0, n / 2), gradient.slice(n / 2)].flatMap((tensor) => {
      const length = norm(tensor);
      const byMagnitude = [...tensor.keys()].sort(
        (i, j) => Math.abs(tensor[j]!) - Math.abs(tensor[i]!) || i - j,
      );
      const chosen = new Set<number>();
      for (let reached = 0; reached < length && chosen.size < tensor.length;) {
        const next = byMagnitude[chosen.size]!;
        chosen.add(next);
        reached += Math.abs(tensor[next]!);
      }
      return tensor.map((value, i) =>
        chosen.has(i) ? Math.sign(value) * fround(length) : 0,
      );
    }),
  );
  return everyRank(P, average(sent));
};
