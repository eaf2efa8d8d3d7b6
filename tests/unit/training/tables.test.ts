/**
 * Tables of which a batch uses a few rows, against the same models with the whole table in
 * their objective (one-hot products), and against plain TypeScript.
 */
import { describe, expect, it } from 'vitest';
import { sgd } from '../../../src/agent/training/optimizers/sgd.ts';

/** The rule of `sgd`, number by number, in f64 but for what is kept. */
function plainStep(
  { weights, velocity }: { weights: Float32Array; velocity: Float32Array },
  gradient: Float32Array,
  rule: { rate: number; momentum: number; nesterov: boolean; weightDecay: number },
): void {
  for (let i = 0; i < weights.length; i++) {
    const g = gradient[i]! + rule.weightDecay * weights[i]!;
    velocity[i] = rule.momentum * velocity[i]! + g;
    const v = velocity[i]!;
    const step = rule.momentum === 0 ? g : rule.nesterov ? g + rule.momentum * v : v;
    weights[i] = weights[i]! - rule.rate * step;
  }
}

describe('a step of a table by sgd', () => {
  const rules = [
    { momentum: 0, nesterov: false, weightDecay: 0 },
    { momentum: 0, nesterov: false, weightDecay: 0.01 },
    { momentum: 0.9, nesterov: false, weightDecay: 0 },
    { momentum: 0.9, nesterov: true, weightDecay: 0.1 },
  ];
  // Slices of a flat gradient begin anywhere.
  const places = [0, 1, 2, 3].flatMap((start) =>
    [0, 1, 2, 3, 8, 101].map((length) => ({ start, length })),
  );
  it.each(rules)('with %j moves as the rule says', (rule) => {
    for (const { start, length } of places) {
      const flat = Float32Array.from({ length: start + length + 3 }, (_, i) =>
        i % 3 === 0 ? Math.sin(i) : i % 5 === 0 ? -0 : 0,
      );
      const gradient = flat.subarray(start, start + length);
      const first = Float32Array.from({ length }, (_, i) => Math.cos(i));
      const weights = first.slice();
      const velocity = new Float32Array(length);
      const expected = { weights: first.slice(), velocity: new Float32Array(length) };
      for (let step = 0; step < 3; step++) {
        const table = sgd.tableRule!(rule, 0.25);
        table(weights, gradient, rule.momentum > 0 ? [velocity] : []);
        plainStep(expected, gradient, { ...rule, rate: 0.25 });
      }
      expect(weights).toEqual(expected.weights);
      if (rule.momentum > 0) expect(velocity).toEqual(expected.velocity);
    }
  });
});
