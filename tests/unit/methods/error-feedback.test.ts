/**
 * Optional error feedback of quantisers: what was sent, and the last residual, is the sum of all
 * gradients, so the sum of what was sent is off by no more than one error, however long it is.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { residualOf } from '../../../src/agent/methods/method.ts';
import { findMethod, validateParameters } from '../../../src/agent/methods/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { LoneCompressor } from './lone-compressor.ts';

const TENSORS = [300, 7, 93];
const N = 400;

/** The largest |Σ sent − Σ gradients| after each iteration. */
async function distances(
  method: string,
  parameters: JsonObject,
  iterations: number,
): Promise<readonly number[]> {
  const lone = new LoneCompressor({ method, parameters, tensors: TENSORS });
  const owed = new Float64Array(N);
  const found: number[] = [];
  for (let t = 0; t < iterations; t++) {
    const gradient = bellShaped(N, 3);
    const sent = await lone.roundTrip(gradient, t);
    for (let i = 0; i < N; i++) owed[i] = owed[i]! + gradient[i]! - sent[i]!;
    found.push(Math.max(...owed.map(Math.abs)));
  }
  return found;
}

const largest = Math.max(...bellShaped(N, 3).map(Math.abs));

describe.each([
  // A step is the scale ⁄ s; the scale is that of gradient and residual.
  { method: 'qsgd', parameters: { bits: 8 }, most: (2 * largest) / 127 },
  { method: 'qsgd', parameters: { bits: 6, bucket: 50 }, most: (2 * largest) / 31 },
  { method: 'qsgd', parameters: { levels: 100, coding: 'elias' }, most: largest / 40 },
  // Three bits of fraction: half a unit of the largest binade, twice as large.
  { method: 'fp8', parameters: {}, most: largest / 8 },
  { method: 'fp8', parameters: { rounding: 'stochastic' }, most: largest / 4 },
] as const)('$method $parameters', ({ method, parameters, most }) => {
  const dense = { minElements: 8 };

  it('owes no more than one error, whenever it is asked', async () => {
    const own = { ...parameters, ...dense, errorFeedback: true };
    const found = await distances(method, own, 60);
    expect(Math.max(...found)).toBeLessThan(most);
    expect(Math.max(...found)).toBeGreaterThan(0);
  });

  it('owes more and more without', async () => {
    const found = await distances(method, { ...parameters, ...dense }, 60);
    expect(found.at(-1)).toBeGreaterThan(2 * Math.min(...found));
  });
});

it.each(['qsgd', 'terngrad', 'fp8'])('%s keeps a residual if it is asked to', (id) => {
  const method = findMethod(id);
  const kept = (given: JsonObject): string =>
    residualOf(method, validateParameters(method, given));
  expect(kept({})).toBe('none');
  expect(kept({ errorFeedback: true })).toBe('gradient');
});

it('grows without bound where the codes lose more than they send', async () => {
  const found = await distances(
    'qsgd',
    { bits: 2, scale: 'l2', minElements: 8, errorFeedback: true },
    60,
  );
  expect(found.at(-1)).toBeGreaterThan(100 * largest);
});
