/**
 * The stochastic quantisers: what QSGD's Theorem 3.2 and TernGrad promise, on average and
 * within five standard errors; what travels; and of what the noise is a function.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { LoneCompressor, type LoneOptions } from './lone-compressor.ts';
import { clipped, maximum, norm } from './quantization-oracles.ts';

const whole = { minElements: 0, bucket: 1 << 24 };

function quantizer(
  parameters: JsonObject,
  tensors: readonly number[],
  more: Partial<LoneOptions> = {},
): LoneCompressor {
  return new LoneCompressor({ method: 'qsgd', parameters, tensors, ...more });
}

/** Mean and its standard error. */
function mean(samples: readonly number[]): { mean: number; error: number } {
  const n = samples.length;
  const average = samples.reduce((sum, x) => sum + x, 0) / n;
  const variance = samples.reduce((sum, x) => sum + (x - average) ** 2, 0) / (n - 1);
  return { mean: average, error: Math.sqrt(variance / n) };
}

/** a·s for each element of one run. */
function positions(v: Float32Array, s: number, scale: number): number[] {
  return Array.from(v, (x) => Math.min(s, (Math.abs(x) / scale) * s));
}

const TRIALS = 3000;

describe.each([
  { s: 1, scale: 'l2' as const, n: 64 },
  { s: 1, scale: 'max' as const, n: 64 },
  { s: 4, scale: 'l2' as const, n: 300 },
  { s: 7, scale: 'max' as const, n: 100 },
  { s: 40, scale: 'l2' as const, n: 33 },
])('Q with s = $s, scale $scale, n = $n', ({ s, scale, n }) => {
  const v = bellShaped(n, 5);
  const lengthOf = norm([...v]);
  const unit = (scale === 'l2' ? lengthOf : maximum([...v])) / s;

  async function draws(): Promise<Float32Array[]> {
    const lone = quantizer({ ...whole, levels: s, scale }, [n]);
    const all: Float32Array[] = [];
    for (let t = 0; t < TRIALS; t++) all.push(await lone.roundTrip(v, t));
    return all;
  }

  it('is unbiased, of the variance and the sparsity that follow', async () => {
    const all = await draws();
    const at = positions(v, s, unit * s);
    const up = at.map((a) => a - Math.floor(a));

    v.forEach((value, i) => {
      const average = mean(all.map((q) => q[i]!)).mean;
      const error = unit * Math.sqrt((up[i]! * (1 - up[i]!)) / TRIALS);
      expect(Math.abs(average - value)).toBeLessThanOrEqual(5 * error + 1e-6);
    });

    const distances = mean(
      all.map((q) => q.reduce((sum, x, i) => sum + (x - v[i]!) ** 2, 0)),
    );
    const variance = up.reduce((sum, p) => sum + unit ** 2 * p * (1 - p), 0);
    expect(Math.abs(distances.mean - variance)).toBeLessThan(5 * distances.error);
    const bound = Math.min(n / s ** 2, Math.sqrt(n) / s) * lengthOf ** 2;
    expect(distances.mean - 5 * distances.error).toBeLessThanOrEqual(bound);

    const counts = mean(all.map((q) => q.filter((x) => x !== 0).length));
    const nonZero = at.reduce((sum, a, i) => sum + (a >= 1 ? 1 : up[i]!), 0);
    expect(Math.abs(counts.mean - nonZero)).toBeLessThanOrEqual(
      5 * counts.error + 1e-9,
    );
    if (scale === 'l2') {
      expect(counts.mean - 5 * counts.error).toBeLessThanOrEqual(
        s * (s + Math.sqrt(n)),
      );
    }
  });
});

it('a far smaller element than its scale is unbiased, too', async () => {
  // 2¹² elements of 2⁻²⁰ of the scale: 4 in a thousand draws are expected to be 1.
  const v = new Float32Array(4097).fill(2 ** -20);
  v[0] = 1;
  const lone = quantizer({ ...whole, levels: 1 }, [v.length]);
  const counts: number[] = [];
  for (let t = 0; t < 2000; t++) {
    const q = await lone.roundTrip(v, t);
    counts.push(q.filter((x) => x === 1).length - 1);
  }
  const { mean: average, error } = mean(counts);
  expect(Math.abs(average - 2 ** -8)).toBeLessThan(5 * error);
  expect(average).toBeGreaterThan(0);
});

describe.each([
  { bits: 2, most: 1 },
  { bits: 4, most: 3 },
  { bits: 4, most: 23 },
  { bits: 8, most: 1000 },
])('$bits bits of numbers up to $most × 2⁻¹⁴⁹', ({ bits, most }) => {
  const step = 2 ** -149;
  const v = bellShaped(200, 4).map((x) => Math.round((x * most) / 2) * step);
  v[9] = -most * step;

  it('are unbiased, but for the half of 2⁻¹⁴⁹ by which f32 rounds', async () => {
    const lone = quantizer({ minElements: 0, bits }, [v.length]);
    const all: Float32Array[] = [];
    for (let t = 0; t < 1000; t++) all.push(await lone.roundTrip(v, t));
    v.forEach((value, i) => {
      // In whole steps, whose squares do not vanish.
      const sample = mean(all.map((q) => q[i]! / step));
      const away = Math.abs(sample.mean - value / step);
      expect(away).toBeLessThanOrEqual(0.5 + 5 * sample.error);
    });
    expect(all[0]![9]).toBe(v[9]);
  });
});

describe('Elias codes', () => {
  const bits = async (n: number, s: number, form: string): Promise<number> => {
    const parameters = { ...whole, levels: s, scale: 'l2', coding: 'elias', form };
    const lone = quantizer(parameters, [n]);
    const lengths: number[] = [];
    for (let t = 0; t < 20; t++) {
      lengths.push(8 * (await lone.encode(bellShaped(n, 1000 + t), t)).length);
    }
    return mean(lengths).mean;
  };

  it.each([
    [1, 1000],
    [1, 10_000],
    [4, 4096],
    [16, 4096],
    [64, 4096],
  ])('stay below the bound of Theorem 3.2 at s = %i, n = %i', async (s, n) => {
    const root = Math.sqrt(n);
    const sparse = s * (s + root);
    const bound = (3 + 1.5 * Math.log2((2 * (s * s + n)) / sparse)) * sparse + 32;
    expect(await bits(n, s, 'sparse')).toBeLessThan(bound);
  });

  it('take the bits an element that bell-shaped data are known for at s = √n', async () => {
    const n = 1 << 14;
    const sparse = (await bits(n, 128, 'sparse')) / n;
    const dense = (await bits(n, 128, 'dense')) / n;
    expect(sparse).toBeGreaterThan(2.7);
    expect(sparse).toBeLessThan(2.85);
    expect(dense).toBeGreaterThan(2.9);
    expect(dense).toBeLessThan(3);
    expect((await bits(n, 128, 'auto')) / n).toBeCloseTo(sparse, 6);
  });

  it('take the shorter form by themselves', async () => {
    for (const s of [1, 8, 64, 1000]) {
      const [auto, sparse, dense] = await Promise.all(
        ['auto', 'sparse', 'dense'].map((form) => bits(2000, s, form)),
      );
      expect(auto).toBeLessThanOrEqual(Math.min(sparse!, dense!));
    }
  });
});

describe('what comes back', () => {
  const lengths = [0, 1, 2, 31, 513, 1000, 10_007];

  it.each([2, 3, 4, 5, 6, 7, 8])('of %i bits is a level away at most', async (bits) => {
    for (const bucket of [0, 1, 100, 512]) {
      for (const n of lengths) {
        const v = bellShaped(n, bits);
        const parameters = { minElements: 0, bits, bucket };
        const sent = await quantizer(parameters, [n]).roundTrip(v);
        const d = bucket > 0 ? bucket : bits === 2 ? 128 : 512;
        const s = 2 ** (bits - 1) - 1;
        for (let run = 0; run < n; run += d) {
          const elements = [...v.subarray(run, run + d)];
          const unit = maximum(elements) / s;
          const away = elements.map((value, i) => Math.abs(sent[run + i]! - value));
          expect(Math.max(...away)).toBeLessThanOrEqual(unit * (1 + 1e-6));
        }
      }
    }
  });

  it.each(['sparse', 'dense', 'auto'])(
    'is the same of packed and of %s Elias codes',
    async (form) => {
      for (const levels of [1, 2, 5, 100, 32_767]) {
        for (const n of lengths) {
          const v = bellShaped(n, levels);
          const plain = { minElements: 0, levels, bucket: 200 };
          const packed = await quantizer(plain, [n]).roundTrip(v);
          const coded = { ...plain, coding: 'elias', form };
          expect(await quantizer(coded, [n]).roundTrip(v)).toEqual(packed);
        }
      }
    },
  );

  it('has the extremes of a run exactly, where a scale is a level apart', async () => {
    const v = Float32Array.from([-7, 3, 0, -0, 7, 1, -14, 14]);
    const parameters = { minElements: 0, bits: 4, bucket: 6 };
    expect([...(await quantizer(parameters, [8]).roundTrip(v))]).toEqual([
      -7, 3, 0, 0, 7, 1, -14, 14,
    ]);
  });

  it('of small tensors is what was sent', async () => {
    const tensors = [20, 10_000, 9_999];
    const v = bellShaped(20_019);
    const lone = quantizer({}, tensors);
    const bytes = await lone.encode(v);
    expect(bytes.length).toBe(80 + (4 * 20 + 5000) + 4 * 9_999);
    const sent = await lone.decode(lone.parse(bytes));
    expect(sent.subarray(0, 20)).toEqual(v.subarray(0, 20));
    expect(sent.subarray(20, 10_020)).not.toEqual(v.subarray(20, 10_020));
    expect(sent.subarray(10_020)).toEqual(v.subarray(10_020));
  });
});

describe('the noise', () => {
  const v = bellShaped(4096);
  const encode = async (
    more: Partial<LoneOptions> = {},
    iteration = 0,
  ): Promise<string> => {
    const lone = quantizer({ minElements: 0 }, [4096], more);
    return Buffer.from(await lone.encode(v, iteration)).toString('base64');
  };

  it('is a function of seed, rank, bucket and iteration, and of each of them', async () => {
    expect(await encode({}, 3)).toBe(await encode({}, 3));
    const all = [
      await encode(),
      await encode({ seed: 2 }),
      await encode({ rank: 1 }),
      await encode({ bucket: 1 }),
      await encode({}, 1),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('differs between tensors', async () => {
    const lone = quantizer({ minElements: 0 }, [4096, 4096]);
    const bytes = await lone.encode([...v, ...v]);
    const half = bytes.length / 2;
    expect(bytes.slice(0, half)).not.toEqual(bytes.slice(half));
  });

  it('does not depend on what came before', async () => {
    const lone = quantizer({ minElements: 0 }, [4096]);
    for (let t = 0; t < 3; t++) await lone.encode(bellShaped(4096, t + 9), t);
    const bytes = Buffer.from(await lone.encode(v, 3)).toString('base64');
    expect(bytes).toBe(await encode({}, 3));
  });
});

describe('TernGrad', () => {
  const n = 500;
  const v = bellShaped(n, 3);
  v[17] = 40;

  it.each([0, 1, 2.5])(
    'sends −c, 0 and c alone, clipped at %f deviations',
    async (clip) => {
      const lone = new LoneCompressor({
        method: 'terngrad',
        parameters: { clip, minElements: 0 },
        tensors: [n],
      });
      const c = Math.fround((clip > 0 ? clipped(clip) : maximum)([...v]));
      const sums = new Float64Array(n);
      for (let t = 0; t < TRIALS; t++) {
        const q = await lone.roundTrip(v, t);
        q.forEach((x, i) => {
          if (x !== 0 && Math.abs(x) !== c) expect.fail(`${x} is not ±${c}`);
          sums[i]! += x;
        });
      }
      v.forEach((value, i) => {
        const a = Math.min(Math.abs(value) / c, 1);
        const error = c * Math.sqrt((a * (1 - a)) / TRIALS);
        const away = Math.abs(sums[i]! / TRIALS - Math.sign(value) * a * c);
        expect(away).toBeLessThanOrEqual(5 * error + 1e-5);
      });
    },
  );

  it('clips nothing of a tensor without deviation', async () => {
    const lone = new LoneCompressor({
      method: 'terngrad',
      parameters: { minElements: 0 },
      tensors: [3],
    });
    expect([...(await lone.roundTrip([-2, -2, -2]))]).toEqual([-2, -2, -2]);
  });
});
