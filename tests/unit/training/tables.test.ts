/**
 * Tables of which a batch uses a few rows, against the same models with the whole table in
 * their objective (one-hot products), and against plain TypeScript.
 */
import { describe, expect, it } from 'vitest';
import { adagrad } from '../../../src/agent/training/optimizers/adagrad.ts';
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

/** Slices of a flat gradient begin anywhere. */
const places = [0, 1, 2, 3].flatMap((start) =>
  [0, 1, 2, 3, 8, 101].map((length) => ({ start, length })),
);

/** A slice of a gradient with zeros of both signs, and weights. */
function slice({ start, length }: { start: number; length: number }, step = 0) {
  const flat = Float32Array.from({ length: start + length + 3 }, (_, i) =>
    (i + step) % 3 === 0 ? Math.sin(i + step) : i % 5 === 0 ? -0 : 0,
  );
  return {
    gradient: flat.subarray(start, start + length),
    weights: Float32Array.from({ length }, (_, i) => Math.cos(i)),
  };
}

describe('a step of a table by adagrad', () => {
  it.each([
    { epsilon: undefined, weightDecay: 0 },
    { epsilon: 0.01, weightDecay: 0 },
    { epsilon: undefined, weightDecay: 0.1 },
  ])('with %j moves as the rule says', ({ epsilon, weightDecay }) => {
    for (const place of places) {
      const { weights } = slice(place);
      const squares = new Float32Array(place.length);
      const expected = { weights: weights.slice(), squares: squares.slice() };
      for (let step = 0; step < 4; step++) {
        const { gradient } = slice(place, step);
        adagrad.tableRule!(
          { momentum: 0, epsilon, weightDecay },
          0.25,
        )(...([weights, gradient, [squares], false] as const));
        for (const [i, before] of expected.weights.entries()) {
          const g = gradient[i]! + weightDecay * before;
          expected.squares[i] = expected.squares[i]! + g * g;
          const root = Math.sqrt(expected.squares[i]!) + (epsilon ?? 1e-10);
          expected.weights[i] = before - (0.25 * g) / root;
        }
      }
      expect(weights).toEqual(expected.weights);
      expect(squares).toEqual(expected.squares);
    }
  });
});

describe('a step of a table by sgd', () => {
  const rules = [
    { momentum: 0, nesterov: false, weightDecay: 0 },
    { momentum: 0, nesterov: false, weightDecay: 0.01 },
    { momentum: 0.9, nesterov: false, weightDecay: 0 },
    { momentum: 0.9, nesterov: true, weightDecay: 0.1 },
  ];
  it.each(rules)('with %j moves as the rule says', (rule) => {
    for (const place of places) {
      const { gradient, weights } = slice(place);
      const velocity = new Float32Array(place.length);
      const expected = { weights: weights.slice(), velocity: velocity.slice() };
      for (let step = 0; step < 3; step++) {
        const table = sgd.tableRule!(rule, 0.25);
        table(weights, gradient, rule.momentum > 0 ? [velocity] : [], false);
        plainStep(expected, gradient, { ...rule, rate: 0.25 });
      }
      expect(weights).toEqual(expected.weights);
      if (rule.momentum > 0) expect(velocity).toEqual(expected.velocity);
    }
  });
});
