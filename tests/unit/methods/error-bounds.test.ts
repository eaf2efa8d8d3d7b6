/**
 * The errors that papers bound, of vectors drawn at random and of those that are worst: each bound
 * holds, and is not so wide that it says nothing.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { findMethod, validateParameters } from '../../../src/agent/methods/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { LoneCompressor } from './lone-compressor.ts';

const squares = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value * value, 0);

/** ‖x − sent‖² / ‖x‖² */
const relative = (x: Float32Array, sent: Float32Array): number =>
  squares(x.map((value, i) => value - sent[i]!)) / squares(x);

function meanOf(samples: readonly number[]): { mean: number; error: number } {
  const n = samples.length;
  const mean = samples.reduce((sum, x) => sum + x, 0) / n;
  const variance = samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
  return { mean, error: Math.sqrt(variance / n) };
}

const filled = (n: number, value: (i: number) => number): Float32Array =>
  Float32Array.from({ length: n }, (_, i) => value(i));

/**
 * One element of s levels and all others of u: of all vectors with the largest magnitude as
 * their scale the one of the greatest error, where d·u·(1 − u)/(s² + d·u²) is greatest.
 */
function worstOfLargest(n: number, s: number): Float32Array {
  const q = n / (s * s);
  const u = 1 / (1 + Math.sqrt(1 + q));
  return filled(n, (i) => (i === 0 ? s : i % 2 === 0 ? u : -u));
}

/** Equal magnitudes, all of them below the first level of their norm. */
const worstOfNorm = (n: number): Float32Array =>
  filled(n, (i) => (i % 2 === 0 ? 1 : -1));

interface Case {
  readonly method: string;
  readonly parameters: JsonObject;
  readonly n: number;
  /** The share of the bound that the worst vector reaches. */
  readonly reached: number;
  readonly s: number;
}

const qsgd = (parameters: JsonObject): Pick<Case, 'method' | 'parameters'> => ({
  method: 'qsgd',
  parameters: { minElements: 0, bucket: 1 << 24, ...parameters },
});

const BOUNDED: readonly Case[] = [
  { ...qsgd({ levels: 1, scale: 'l2' }), n: 1024, s: 1, reached: 0.9 },
  { ...qsgd({ levels: 4, scale: 'l2' }), n: 1024, s: 4, reached: 0.8 },
  { ...qsgd({ levels: 1, scale: 'max' }), n: 1024, s: 1, reached: 0.45 },
  { ...qsgd({ bits: 4, scale: 'max' }), n: 1024, s: 7, reached: 0.35 },
  { ...qsgd({ levels: 40, scale: 'max' }), n: 400, s: 40, reached: 0.2 },
  { ...qsgd({ bits: 4, scale: 'max', coding: 'elias' }), n: 512, s: 7, reached: 0.3 },
  {
    method: 'terngrad',
    parameters: { clip: 0, minElements: 0 },
    n: 1024,
    s: 1,
    reached: 0.45,
  },
];

const TRIALS = 200;

describe.each(BOUNDED)(
  '$method $parameters',
  ({ method, parameters, n, s, reached }) => {
    const definition = findMethod(method);
    const bound = definition.errorBound!(
      validateParameters(definition, parameters),
      n,
    )!;
    const worst = parameters['scale'] === 'l2' ? worstOfNorm(n) : worstOfLargest(n, s);

    async function errorsOf(x: Float32Array): Promise<{ mean: number; error: number }> {
      const lone = new LoneCompressor({ method, parameters, tensors: [n] });
      const errors: number[] = [];
      for (let t = 0; t < TRIALS; t++)
        errors.push(relative(x, await lone.roundTrip(x, t)));
      return meanOf(errors);
    }

    it.each([
      ['a bell', bellShaped(n, 3)],
      ['a single element', filled(n, (i) => Number(i === 5))],
      ['equal elements', filled(n, () => 0.25)],
      ['a large element beside small ones', filled(n, (i) => (i === 0 ? 1000 : 1))],
      ['the worst', worst],
    ])('is off by no more than theory expects: %s', async (_, x) => {
      const { mean, error } = await errorsOf(x);
      expect(mean - 5 * error).toBeLessThanOrEqual(bound * (1 + 1e-6));
    });

    it('reaches a good part of that with the worst vector', async () => {
      const { mean, error } = await errorsOf(worst);
      expect(mean + 5 * error).toBeGreaterThan(reached * bound);
    });
  },
);

/** ‖p − sent‖² / ‖p‖² of consecutive exchanges, p what earlier ones left and the gradient. */
async function keptShares(
  method: string,
  parameters: JsonObject,
  gradients: readonly Float32Array[],
  seen: (p: Float32Array, share: number) => void,
): Promise<void> {
  const n = gradients[0]!.length;
  const lone = new LoneCompressor({ method, parameters, tensors: [n] });
  let kept = new Float32Array(n);
  for (const [t, gradient] of gradients.entries()) {
    const p = gradient.map((value, i) => value + kept[i]!);
    const sent = await lone.roundTrip(gradient, t);
    kept = p.map((value, i) => value - sent[i]!);
    seen(p, relative(p, sent));
  }
}

describe('methods that keep what they do not send', () => {
  const n = 1000;
  const gradients = Array.from({ length: 12 }, (_, t) => bellShaped(n, 20 + t));
  const equal = [filled(n, (i) => (i % 3 === 0 ? -2 : 2))];

  it.each([
    ['of the bucket', { k: 30 }, 30 / n],
    ['of each run', { k: 3, bucket: 100 }, 3 / 100],
  ])('top-k leaves at most 1 − k/n of p, %s', async (_, parameters, share) => {
    const all = { minElements: 0, ...parameters };
    const shares: number[] = [];
    const seen = (_p: Float32Array, left: number): void => void shares.push(left);
    await keptShares('topk', all, gradients, seen);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1 - share);
    shares.length = 0;
    // Of equal magnitudes it leaves exactly that.
    await keptShares('topk', all, equal, seen);
    expect(shares[0]).toBeCloseTo(1 - share, 12);
  });

  it('random-k leaves 1 − k/n of p on average', async () => {
    const many = Array.from({ length: 400 }, (_, t) => bellShaped(n, 100 + t));
    const shares: number[] = [];
    const parameters = { k: 200, minElements: 0 };
    await keptShares('randomk', parameters, many, (_, share) => shares.push(share));
    const { mean, error } = meanOf(shares);
    expect(Math.abs(mean - (1 - 200 / n))).toBeLessThan(5 * error);
    // Otherwise the comparison above says nothing.
    expect(error).toBeLessThan(0.005);
  });

  it('one bit leaves at most what one magnitude for all signs would', async () => {
    const parameters = { bucket: n, minElements: 0 };
    const most = (p: Float32Array): number =>
      1 - p.reduce((sum, value) => sum + Math.abs(value), 0) ** 2 / (n * squares(p));
    const uneven = filled(n, (i) => (i % 10 === 0 ? -5 : 0.01 * i));
    await keptShares('onebit', parameters, [...gradients, uneven], (p, share) => {
      expect(share).toBeLessThanOrEqual(most(p) * (1 + 1e-6));
    });
    // As much where both signs have the same mean.
    const even = filled(n, (i) => (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1) / n));
    await keptShares('onebit', parameters, [even], (p, share) => {
      expect(share).toBeCloseTo(most(p), 6);
    });
  });
});
