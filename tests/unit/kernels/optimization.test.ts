/** The optimisers' steps: against their formulas in f64, and one backend against the other. */
import { describe, expect, it } from 'vitest';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import type { Vector } from '../../../src/agent/memory/arena.ts';
import { bellShaped } from './adversarial-inputs.ts';
import { backends, bytes, type Backend } from './backends.ts';

const SIZES = [0, 1, 3, 4, 5, 31, 1024, 65_539];

/** Numbers that no f32 holds exactly. */
const rate = 0.03;
const epsilon = 0.007;
const momentum = 0.7;
const [beta1, beta2] = [0.6, 0.95];
const [ofMean, ofRoot] = [1.3, 2.1];

type State = readonly number[];
interface Step {
  readonly state: number;
  run(kernels: Kernels, w: Vector, state: readonly Vector[], g: Vector): void;
  /** [weight, …state] after the step, in f64. */
  exact(w: number, state: State, g: number): readonly number[];
}

const decays = { factor: 0.9, weightDecay: 0.05, rate };
const none = { factor: 1, weightDecay: 0, rate };
const corrected = (w: number, g: number): number => 0.9 * g + 0.05 * w;

const steps: Readonly<Record<string, Step>> = {
  'plain descent': {
    state: 0,
    run: ({ optimization }, w, _, g) => {
      optimization.descend(w, g, none);
    },
    exact: (w, _, g) => [w - rate * g],
  },
  'plain descent with decay': {
    state: 0,
    run: ({ optimization }, w, _, g) => {
      optimization.descend(w, g, decays);
    },
    exact: (w, _, g) => [w - rate * corrected(w, g)],
  },
  momentum: {
    state: 1,
    run: ({ optimization }, w, [v], g) => {
      const step = { ...none, momentum, nesterov: false };
      optimization.descendWithMomentum(w, v!, g, step);
    },
    exact: (w, [v], g) => {
      const next = momentum * v! + g;
      return [w - rate * next, next];
    },
  },
  'Nesterov’s, with decay': {
    state: 1,
    run: ({ optimization }, w, [v], g) => {
      const step = { ...decays, momentum, nesterov: true };
      optimization.descendWithMomentum(w, v!, g, step);
    },
    exact: (w, [v], g) => {
      const next = momentum * v! + corrected(w, g);
      return [w - rate * (corrected(w, g) + momentum * next), next];
    },
  },
  Adagrad: {
    state: 1,
    run: ({ optimization }, w, [s], g) => {
      optimization.adagrad(w, s!, g, { ...decays, epsilon });
    },
    exact: (w, [s], g) => {
      const c = corrected(w, g);
      const next = s! + c * c;
      return [w - (rate * c) / (Math.sqrt(next) + epsilon), next];
    },
  },
  Adam: {
    state: 2,
    run: ({ optimization }, w, [m, v], g) => {
      const betas = { beta1, beta2, epsilon, ofMean, ofRoot };
      optimization.adam(w, m!, v!, g, { ...decays, ...betas, decoupled: false });
    },
    exact: (w, [m, v], g) => adam(w, m!, v!, corrected(w, g)),
  },
  AdamW: {
    state: 2,
    run: ({ optimization }, w, [m, v], g) => {
      const betas = { beta1, beta2, epsilon, ofMean, ofRoot };
      optimization.adam(w, m!, v!, g, { ...decays, ...betas, decoupled: true });
    },
    exact: (w, [m, v], g) => adam(w * (1 - rate * 0.05), m!, v!, 0.9 * g),
  },
};

function adam(w: number, m: number, v: number, g: number): readonly number[] {
  const mean = beta1 * m + (1 - beta1) * g;
  const square = beta2 * v + (1 - beta2) * g * g;
  const change = (rate * mean * ofMean) / (Math.sqrt(square) * ofRoot + epsilon);
  return [w - change, mean, square];
}

/** Weights, then the state; squares are not negative. */
const inputs = (n: number, { state }: Step): Float32Array[] =>
  Array.from({ length: 1 + state }, (_, i) => {
    const values = bellShaped(n, 11 + i);
    return i === 0 ? values : values.map(Math.abs);
  });

/** The same after one step, between vectors that must stay as they are. */
function after(backend: Backend, step: Step, n: number): Float32Array[] {
  const given = inputs(n, step);
  const guards = () => backend.put([7, 7, 7, 7]);
  const before = guards();
  const vectors = given.map((values) => backend.put(values));
  const gradient = backend.put(bellShaped(n, 29));
  const behind = guards();
  step.run(backend.kernels, vectors[0]!, vectors.slice(1), gradient);
  expect([...backend.get(before), ...backend.get(behind)]).toEqual(
    Array<number>(8).fill(7),
  );
  expect(backend.get(gradient)).toEqual(bellShaped(n, 29));
  return vectors.map((vector) => backend.get(vector));
}

describe.each(Object.entries(steps))('%s', (_, step) => {
  it.each(Object.entries(backends))('is the formula’s on %s', (_, make) => {
    const n = 1027;
    const gradient = bellShaped(n, 29);
    const before = inputs(n, step);
    const measured = after(make(), step, n);
    for (let i = 0; i < n; i++) {
      const [w, ...state] = before.map((values) => values[i]!) as [number, ...number[]];
      for (const [which, exact] of step.exact(w, state, gradient[i]!).entries()) {
        expect(measured[which]![i]).toBeCloseTo(exact, 5);
      }
    }
  });

  it.each(SIZES)('has the same bits on all backends, n = %i', (n) => {
    const [expected, actual] = [backends.reference(), backends.wasm()].map((backend) =>
      after(backend, step, n),
    );
    for (const [which, values] of actual!.entries()) {
      expect(Buffer.compare(bytes(values), bytes(expected![which]!))).toBe(0);
    }
  });

  it('moves vectors that begin anywhere', () => {
    const [expected, actual] = [backends.reference(), backends.wasm()].map(
      (backend) => {
        const n = 77;
        const vectors = [...inputs(n, step), bellShaped(n, 29)].map((values, i) => {
          const { offset } = backend.put(new Float32Array(n + 4));
          const vector = { offset: offset + 4 * (i + 1), length: n };
          backend.arena.f32(vector).set(values);
          return vector;
        });
        step.run(backend.kernels, vectors[0]!, vectors.slice(1, -1), vectors.at(-1)!);
        return vectors.map((vector) => backend.get(vector));
      },
    );
    expect(actual).toEqual(expected);
  });
});

it.each(Object.entries(backends))(
  'refuses vectors of other lengths on %s',
  (_, make) => {
    const backend = make();
    const [w, v, g] = [4, 4, 5].map((n) => backend.put(new Float32Array(n)));
    const { optimization } = backend.kernels;
    const step = { ...none, momentum, nesterov: false };
    expect(() => {
      optimization.descend(w!, g!, none);
    }).toThrow('internal: vectors of 4 and 5');
    expect(() => {
      optimization.descendWithMomentum(w!, g!, v!, step);
    }).toThrow('internal: vectors of 4 and 5');
  },
);
