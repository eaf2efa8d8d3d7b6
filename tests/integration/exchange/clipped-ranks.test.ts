/** Each rank's own gradient clipped before its residual is added: `optimizer.clipAt: rank`. */
import { afterEach, describe, expect, it } from 'vitest';
import { toErrorData } from '../../../src/shared/errors/errors.ts';
import { connectRanks, leave, N } from './engine-ranks.ts';

afterEach(leave);

const RANKS = 3;
const LIMIT = 100;
/** Sizes of the ranks' gradients: the first is shorter than the limit, the others are longer. */
const SIZES = [0.25, 3, 1e18];

/** Values that all differ, so that there is one choice of the largest. */
const gradientOf = (rank: number, iteration: number): number[] =>
  Array.from(
    { length: N },
    (_, i) => SIZES[rank]! * Math.sin(1 + i * 12.9 + rank + iteration * 0.1) * 8,
  );

const norm = (x: readonly number[]): number =>
  Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));

/** The gradient as clipping leaves it, computed in f64, and the factor. */
function clip(x: readonly number[]): { values: number[]; factor: number } {
  const factor = Math.min(1, LIMIT / norm(x));
  return { values: x.map((value) => value * factor), factor };
}

async function exchangeAll(
  exchange: Record<string, unknown>,
  iterations: number,
): Promise<{
  averages: number[][];
  factors: (number | undefined)[][];
  residuals: number[];
}> {
  const ranks = await connectRanks(exchange, [], RANKS, {
    tensors: [{ name: 'w', shape: [N / 20, 20], start: 0, length: N }],
    clipNorm: LIMIT,
  });
  const averages: number[][] = [];
  const factors: (number | undefined)[][] = [];
  let residuals: number[] = [];
  for (let t = 0; t < iterations; t++) {
    const results = await Promise.all(
      ranks.map(async ({ arena, engine, gradient }, rank) => {
        arena.f32(gradient).set(gradientOf(rank, t));
        return engine.exchange(t, { inspects: true });
      }),
    );
    factors.push(results.map(({ clipped }) => clipped));
    residuals = results.map(({ buckets }) =>
      norm(buckets!.map(({ residualNorm }) => residualNorm!)),
    );
    const [first, ...others] = ranks.map(({ arena, gradient }) => [
      ...arena.f32(gradient),
    ]);
    for (const other of others) expect(other).toEqual(first);
    averages.push(first!);
  }
  return { averages, factors, residuals };
}

const closeTo = (found: readonly number[], expected: readonly number[]): void => {
  const largest = Math.max(...expected.map(Math.abs));
  found.forEach((value, i) => {
    expect(Math.abs(value - expected[i]!)).toBeLessThan(1e-5 * largest);
  });
};

describe('clipping at each rank', () => {
  it('averages gradients that are no longer than the limit', async () => {
    const { averages, factors } = await exchangeAll({ method: 'none' }, 2);
    averages.forEach((average, t) => {
      const clipped = SIZES.map((_, rank) => clip(gradientOf(rank, t)));
      closeTo(
        average,
        average.map((_, i) =>
          clipped.reduce((sum, { values }) => sum + values[i]! / RANKS, 0),
        ),
      );
      expect(norm(average)).toBeLessThanOrEqual(LIMIT * (1 + 1e-6));
      expect(factors[t]![0]).toBeUndefined();
      for (const rank of [1, 2])
        expect(factors[t]![rank]! / clipped[rank]!.factor).toBeCloseTo(1, 6);
    });
  });

  it('owes a residual nothing of what it cut off', async () => {
    // All is sent: what is owed after it is 0, although most of the gradients was cut off.
    const { averages, residuals } = await exchangeAll({ method: 'topk', k: N }, 3);
    for (const residual of residuals) expect(residual).toBe(0);
    for (const average of averages)
      expect(norm(average)).toBeLessThanOrEqual(LIMIT * (1 + 1e-6));
  });

  it('keeps the residual apart, which may be longer', async () => {
    const iterations = 12;
    const { residuals } = await exchangeAll({ method: 'topk', k: 3 }, iterations);
    // An oracle of one rank: acc ← ε + clip(∇), the three largest are sent.
    let owed: number[] = new Array<number>(N).fill(0);
    for (let t = 0; t < iterations; t++) {
      const { values } = clip(gradientOf(2, t));
      const total = owed.map((value, i) => value + values[i]!);
      const sent = total
        .map((value, i) => [Math.abs(value), i] as const)
        .toSorted(([a, i], [b, j]) => b - a || i - j)
        .slice(0, 3);
      for (const [, i] of sent) total[i] = 0;
      owed = total;
    }
    expect(residuals[2]! / norm(owed)).toBeCloseTo(1, 4);
    expect(residuals[2]!).toBeGreaterThan(LIMIT);
  });

  it('leaves a gradient that is not finite to the check that says where', async () => {
    const ranks = await connectRanks({ method: 'topk', k: 3 }, [], 2, {
      clipNorm: LIMIT,
    });
    const results = await Promise.allSettled(
      ranks.map(async ({ arena, engine, gradient }, rank) => {
        const values = arena.f32(gradient);
        values.set(gradientOf(0, 0));
        if (rank === 1) values[700] = Infinity;
        try {
          return await engine.exchange(0);
        } catch (error) {
          // Rank 0 is told, rather than to wait.
          engine.abort(toErrorData(error));
          throw error;
        }
      }),
    );
    expect(results[1]).toMatchObject({
      status: 'rejected',
      reason: { code: 'GRADIENT_NOT_FINITE' },
    });
  });
});
