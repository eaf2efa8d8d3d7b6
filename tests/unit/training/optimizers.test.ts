/** Each optimiser over some steps, beside itself in plain TypeScript and f64. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clipGradients } from '../../../src/agent/training/optimizers/clip-gradients.ts';
import { checkOptimizer } from '../../../src/agent/training/optimizers/check-optimizer.ts';
import type { OptimizerSettings } from '../../../src/agent/training/optimizers/optimizer.ts';
import { optimizers } from '../../../src/agent/training/optimizers/registry.ts';
import {
  experimentSpecSchema,
  parseExperimentSpec,
  WITHOUT_MOMENTUM,
} from '../../../src/shared/spec/experiment-spec.ts';
import { checkNeeds } from '../../../src/shared/spec/key-rules.ts';
import {
  openJaxRuntime,
  type JaxArray,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

const STEPS = 6;
const SHAPES = { matrix: [2, 3], vector: [3] } as const;
type Shape = keyof typeof SHAPES;

const sizeOf = (shape: Shape): number =>
  SHAPES[shape].reduce<number>((product, size) => product * size, 1);
const start = (shape: Shape): number[] =>
  Array.from({ length: sizeOf(shape) }, (_, i) => 0.3 * Math.sin(3 * i + 1));
const gradientAt = (shape: Shape, step: number): number[] =>
  Array.from({ length: sizeOf(shape) }, (_, i) => Math.cos(2 * i + 5 * step) / 7);
const rateAt = (step: number): number => 0.1 / step;

const array = (values: readonly number[], shape: readonly number[]): JaxArray =>
  runtime.jax.numpy.array(Float32Array.from(values), { shape: [...shape] });
const scalar = (value: number): JaxArray => array([value, 0], [2]).slice(0);

async function train(
  kind: string,
  settings: OptimizerSettings,
  shape: Shape,
): Promise<number[]> {
  const optimizer = optimizers.get(kind)!;
  let weight = array(start(shape), SHAPES[shape]);
  let state: readonly JaxArray[] = Array.from(
    { length: optimizer.stateVectors(settings) },
    () => array(new Array<number>(sizeOf(shape)).fill(0), SHAPES[shape]),
  );
  for (let step = 1; step <= STEPS; step++) {
    ({ weight, state } = optimizer.update(runtime.jax, settings, {
      weight,
      state,
      gradient: array(gradientAt(shape, step), SHAPES[shape]),
      learningRate: scalar(rateAt(step)),
      factors: (optimizer.factors?.(settings, step) ?? []).map(scalar),
      isVector: shape === 'vector',
    }));
  }
  runtime.jax.tree.dispose([...state]);
  return [...(await weight.data())];
}

const norm = (values: readonly number[]): number => Math.hypot(...values);

/** One rule each: what becomes of weights `w` by gradients `g`, with memory of its own. */
const rules: Readonly<
  Record<
    string,
    (s: OptimizerSettings, shape: Shape) => (step: number, w: number[]) => number[]
  >
> = {
  sgd: ({ momentum, nesterov = false, weightDecay = 0 }, shape) => {
    const v = start(shape).map(() => 0);
    return (step, w) =>
      w.map((weight, i) => {
        const g = gradientAt(shape, step)[i]! + weightDecay * weight;
        v[i] = momentum * v[i]! + g;
        return weight - rateAt(step) * (nesterov ? g + momentum * v[i] : v[i]);
      });
  },
  adagrad: ({ epsilon = 1e-10, weightDecay = 0 }, shape) => {
    const squares = start(shape).map(() => 0);
    return (step, w) =>
      w.map((weight, i) => {
        const g = gradientAt(shape, step)[i]! + weightDecay * weight;
        squares[i]! += g ** 2;
        return weight - (rateAt(step) * g) / (Math.sqrt(squares[i]!) + epsilon);
      });
  },
  adam: (s, shape) => adamRule(s, shape, false),
  adamw: (s, shape) => adamRule(s, shape, true),
  lars: ({ momentum, trust = 0.001, weightDecay = 0 }, shape) => {
    const v = start(shape).map(() => 0);
    return (step, w) => {
      const g = gradientAt(shape, step);
      const ratio =
        shape === 'vector' ? 1 : (trust * norm(w)) / (norm(g) + weightDecay * norm(w));
      const decay = shape === 'vector' ? 0 : weightDecay;
      return w.map((weight, i) => {
        v[i] = momentum * v[i]! + ratio * (g[i]! + decay * weight);
        return weight - rateAt(step) * v[i];
      });
    };
  },
};

function adamRule(
  { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay }: OptimizerSettings,
  shape: Shape,
  decoupled: boolean,
): (step: number, w: number[]) => number[] {
  const decay = weightDecay ?? (decoupled ? 0.01 : 0);
  const m = start(shape).map(() => 0);
  const v = start(shape).map(() => 0);
  return (step, w) =>
    w.map((before, i) => {
      const rate = rateAt(step);
      const weight = decoupled ? before * (1 - rate * decay) : before;
      const g = gradientAt(shape, step)[i]! + (decoupled ? 0 : decay * before);
      m[i] = beta1 * m[i]! + (1 - beta1) * g;
      v[i] = beta2 * v[i]! + (1 - beta2) * g * g;
      const mean = m[i] / (1 - beta1 ** step);
      const square = v[i] / (1 - beta2 ** step);
      return weight - (rate * mean) / (Math.sqrt(square) + epsilon);
    });
}

describe.each(['matrix', 'vector'] as const)('of a %s', (shape) => {
  test.each<readonly [string, OptimizerSettings]>([
    ['sgd', { momentum: 0 }],
    ['sgd', { momentum: 0.9 }],
    ['sgd', { momentum: 0.9, nesterov: true }],
    ['sgd', { momentum: 0.5, weightDecay: 0.1 }],
    ['sgd', { momentum: 0, weightDecay: 0.1 }],
    ['sgd', { momentum: 0.5, nesterov: true, weightDecay: 0.1 }],
    ['adagrad', { momentum: 0.9 }],
    ['adagrad', { momentum: 0, epsilon: 0.1, weightDecay: 0.2 }],
    ['adam', { momentum: 0.9 }],
    [
      'adam',
      { momentum: 0.9, beta1: 0.5, beta2: 0.7, epsilon: 0.01, weightDecay: 0.1 },
    ],
    ['adam', { momentum: 0.9, beta1: 0, beta2: 0 }],
    ['adamw', { momentum: 0.9 }],
    ['adamw', { momentum: 0.9, weightDecay: 0.3 }],
    ['adamw', { momentum: 0.9, weightDecay: 0 }],
    ['lars', { momentum: 0.9 }],
    ['lars', { momentum: 0.9, trust: 0.1, weightDecay: 0.2 }],
    ['lars', { momentum: 0, trust: 0.1 }],
  ])('%s with %o is the reference’s', async (kind, settings) => {
    const rule = rules[kind]!(settings, shape);
    let expected = start(shape);
    for (let step = 1; step <= STEPS; step++) expected = rule(step, expected);
    const measured = await train(kind, settings, shape);
    for (const [i, weight] of expected.entries()) {
      expect(measured[i]).toBeCloseTo(weight, 5);
    }
  });
});

test('adagrad leaves what has never had a gradient', async () => {
  const [zeros, weight] = [array([0, 0], [2]), array([3, -4], [2])];
  const moved = optimizers.get('adagrad')!.update(
    runtime.jax,
    { momentum: 0 },
    {
      weight,
      gradient: zeros.ref,
      state: [zeros],
      learningRate: scalar(0.5),
      factors: [],
      isVector: true,
    },
  );
  expect([...(await moved.weight.data())]).toEqual([3, -4]);
  moved.state[0]!.dispose();
});

test('lars moves weights of norm 0, and stays where the gradient is 0', async () => {
  const optimizer = optimizers.get('lars')!;
  const step = (weight: number[], gradient: number[]): Promise<Float32Array> =>
    optimizer
      .update(
        runtime.jax,
        { momentum: 0 },
        {
          weight: array(weight, [1, 2]),
          gradient: array(gradient, [1, 2]),
          state: [],
          learningRate: scalar(0.5),
          factors: [],
          isVector: false,
        },
      )
      .weight.data() as Promise<Float32Array>;
  expect([...(await step([0, 0], [1, -2]))]).toEqual([-0.5, 1]);
  expect([...(await step([1, 2], [0, 0]))]).toEqual([1, 2]);
});

test('lars takes the norm of a gradient whose square overflows', async () => {
  const gradient = [3e30, -4e30];
  const { weight } = optimizers.get('lars')!.update(
    runtime.jax,
    { momentum: 0, trust: 0.1 },
    {
      weight: array([3, 4], [1, 2]),
      gradient: array(gradient, [1, 2]),
      state: [],
      learningRate: scalar(1),
      factors: [],
      isVector: false,
    },
  );
  const moved = [...(await weight.data())];
  for (const [i, value] of gradient.entries()) {
    expect(moved[i]).toBeCloseTo([3, 4][i]! - (value / 5e30) * 0.5, 5);
  }
});

describe('clipping', () => {
  const clip = async (norm: number | undefined): Promise<number[]> => {
    const gradients = [array([3, 0], [2]), array([0, 4], [1, 2])];
    const clipped = clipGradients(runtime.jax, gradients, norm);
    const values = await Promise.all(clipped.map((gradient) => gradient.data()));
    return values.flatMap((tensor) => [...tensor]);
  };

  test('scales all tensors by the norm of the whole', async () => {
    expect(await clip(2.5)).toEqual([1.5, 0, 0, 2]);
  });

  test.each([undefined, 5, 100])('leaves what is shorter (%s)', async (norm) => {
    expect(await clip(norm)).toEqual([3, 0, 0, 4]);
  });

  const F32_MOST = 3.4e38;
  test.each([1, 1e-3, 1e10])(
    'clips elements that have no square, to %d',
    async (norm) => {
      const large = [F32_MOST, -F32_MOST / 2, 0, 1e20, 1e30, 3];
      const gradients = [array(large.slice(0, 2), [2]), array(large.slice(2), [2, 2])];
      const length = Math.hypot(...large);
      const values = clipGradients(runtime.jax, gradients, norm).map((each) =>
        each.data(),
      );
      const measured = (await Promise.all(values)).flatMap((tensor) => [...tensor]);
      for (const [i, value] of large.entries()) {
        const wanted = (value / length) * norm;
        expect(Math.abs(measured[i]! - wanted)).toBeLessThan(1e-6 * norm);
      }
    },
  );

  test('leaves large elements within a large norm', async () => {
    const values = [3 * 2 ** 66, -4 * 2 ** 66];
    const [clipped] = clipGradients(runtime.jax, [array(values, [2])], 2 ** 69);
    expect([...(await clipped!.data())]).toEqual(values);
  });

  test('leaves a gradient of 0', async () => {
    const [zero] = clipGradients(runtime.jax, [array([0, 0], [2])], 1);
    expect([...(await zero!.data())]).toEqual([0, 0]);
  });
});

/** Checks options as a launch does: those that the optimiser has, and what they need. */
function check(kind: string, given: Parameters<typeof checkOptimizer>[1]): void {
  checkOptimizer(optimizers.get(kind)!, given);
  checkNeeds(experimentSpecSchema, { optimizer: given });
}

describe('options that would do nothing are refused', () => {
  test.each([
    ['sgd', { beta1: 0.5 }, 'sgd has no beta1; it has: nesterov, weightDecay'],
    ['adam', { nesterov: true }, 'adam has no nesterov'],
    ['sgd', { trust: 0.1 }, 'sgd has no trust'],
    ['adam', { momentum: 0.9 }, 'adam has no momentum, so 0.9 has no effect'],
    ['adamw', { momentum: 0.5 }, 'adamw has no momentum'],
    ['adagrad', { momentum: 0.9 }, 'adagrad has no momentum'],
    ['sgd', { nesterov: true, momentum: 0 }, 'nesterov has no effect without momentum'],
    [
      'sgd',
      { decayAt: [3], schedule: 'cosine' as const },
      'decayAt belongs to the schedule',
    ],
    ['sgd', { power: 3, schedule: 'linear' as const }, 'power belongs to the schedule'],
  ])('%s with %o', (kind, given, message) => {
    expect(() => {
      check(kind, given);
    }).toThrow(
      expect.objectContaining({
        code: 'OPTIMIZER_OPTION_IDLE',
        kind: 'input',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  test('momentum that is not given is none where there is none', () => {
    for (const [kind, { leavesMomentum }] of optimizers) {
      expect(WITHOUT_MOMENTUM.includes(kind)).toBe(!leavesMomentum);
      const { optimizer } = parseExperimentSpec({
        workload: { model: 'fnn3', dataset: 'digits' },
        optimizer: { kind },
      });
      expect(optimizer.momentum).toBe(leavesMomentum ? 0.9 : 0);
      checkOptimizer(optimizers.get(kind)!, optimizer);
      checkOptimizer(optimizers.get(kind)!, { ...optimizer, momentum: 0 });
    }
  });

  test('a schedule of steps without steps', () => {
    expect(() => {
      check('sgd', { schedule: 'step' });
    }).toThrow(expect.objectContaining({ code: 'SCHEDULE_INCOMPLETE' }));
  });
});
