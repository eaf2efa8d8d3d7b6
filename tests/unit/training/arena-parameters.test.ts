/**
 * Parameters in the arena beside the same on jax-js's device: the same bits, whatever happens, and
 * whether jax-js computes where they are or has copies.
 */
import { createHash } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { Arena, arenaMemory } from '../../../src/agent/memory/arena.ts';
import type * as CreateTrainer from '../../../src/agent/training/create-trainer.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';
import { trainerOptions } from './train-together.ts';

const run = { dataset: 'digits', world: 4, batchPerRank: 8, lr: 0.05, iterations: 50 };

let open: Trainer[] = [];
let createTrainer: typeof CreateTrainer.createTrainer;
/** The one in which jax-js computes, if it does. */
let shared: Arena | undefined;

/** Loads jax-js anew: it takes its memory when it starts. */
async function loadTraining(shares: boolean): Promise<void> {
  vi.resetModules();
  shared = shares ? new Arena(arenaMemory()) : undefined;
  ({ createTrainer } = await import('../../../src/agent/training/create-trainer.ts'));
}

afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

/** A trainer, and where its gradients are. */
interface Seat {
  readonly trainer: Trainer;
  readonly gradient: Float32Array;
}

async function onDevice(changes: Partial<TrainerOptions>): Promise<Seat> {
  const memory = shared?.memory;
  const trainer = await createTrainer({
    ...trainerOptions(run, 0),
    memory,
    ...changes,
  });
  open.push(trainer);
  return { trainer, gradient: new Float32Array(trainer.length) };
}

/** @param before what happens before it moves to the arena */
async function inArena(
  changes: Partial<TrainerOptions>,
  before?: (seat: Seat) => Promise<void>,
): Promise<Seat> {
  const seat = await onDevice(changes);
  await before?.(seat);
  const { trainer } = seat;
  const arena = shared ?? new Arena();
  const gradient = arena.allocateVector(trainer.length);
  await trainer.joinArena!({
    arena,
    gradient,
    kernels: loadWasmKernels(arena),
    allocate: (length) => Promise.resolve(arena.allocateVector(length)),
  });
  return { trainer, gradient: arena.f32(gradient) };
}

async function step({ gradient, trainer }: Seat, iteration: number): Promise<void> {
  trainer.loadBatch(iteration);
  await trainer.computeGradient(gradient);
  await trainer.applyGradient(gradient, iteration);
}

async function steps(seat: Seat, from: number, to: number): Promise<void> {
  for (let iteration = from; iteration < to; iteration++) await step(seat, iteration);
}

async function bitsOf({ trainer }: Seat): Promise<Record<string, string>> {
  const weights = new Float32Array(trainer.length);
  const state = new Float32Array(trainer.stateLength);
  await trainer.readWeights(weights);
  await trainer.readState(state);
  const digest = (values: Float32Array): string =>
    createHash('sha256').update(values).digest('hex');
  return { weights: digest(weights), state: digest(state) };
}

const base = { lr: 0.05, momentum: 0.9, schedule: 'constant' } as const;
const optimizers: Readonly<Record<string, TrainerOptions['optimizer']>> = {
  plain: { ...base, kind: 'sgd', momentum: 0 },
  'with momentum, the rate falling': { ...base, kind: 'sgd', schedule: 'cosine' },
  'Nesterov, with decay': { ...base, kind: 'sgd', nesterov: true, weightDecay: 0.01 },
  adagrad: { ...base, kind: 'adagrad', weightDecay: 0.01 },
  adam: { ...base, kind: 'adam', lr: 0.001 },
  adamw: { ...base, kind: 'adamw', lr: 0.001, weightDecay: 0.1 },
  // No kernel of it: it stays where it is.
  lars: { ...base, kind: 'lars', trust: 0.01 },
};

const lengthOf = (values: Float32Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));

describe.each([
  { weights: 'copied to jax-js', shares: false },
  { weights: 'where jax-js computes', shares: true },
])('weights $weights', ({ shares }) => {
  beforeAll(() => loadTraining(shares));

  test.each(Object.entries(optimizers))(
    '%s: the same bits as jax-js',
    async (_, optimizer) => {
      const [device, arena] = [
        await onDevice({ optimizer }),
        await inArena({ optimizer }),
      ];
      await steps(device, 0, 4);
      await steps(arena, 0, 4);
      expect(await bitsOf(arena)).toEqual(await bitsOf(device));
      expect(await arena.trainer.evaluate()).toEqual(await device.trainer.evaluate());
    },
  );

  test('a gradient is known to be finite only if it is', async () => {
    const { gradient, trainer } = await inArena({});
    trainer.loadBatch(0);
    expect((await trainer.computeGradient(gradient)).isFinite).toBe(shares);
    const elsewhere = new Float32Array(trainer.length);
    expect((await trainer.computeGradient(elsewhere)).isFinite).toBe(false);
    expect(elsewhere).toEqual(gradient.slice());
    const weights = new Float32Array(trainer.length);
    await trainer.readWeights(weights);
    await trainer.writeWeights(weights.fill(NaN, 7, 8));
    expect((await trainer.computeGradient(gradient)).isFinite).toBe(false);
    expect(gradient.some((value) => Number.isNaN(value))).toBe(true);
  });

  test('a gradient with one tensor that is not finite is not known to be', async () => {
    const { gradient, trainer } = await inArena({});
    trainer.loadBatch(0);
    const weights = new Float32Array(trainer.length);
    const of = (flat: Float32Array, name: string): Float32Array => {
      const { length, start } = trainer.tensors.find((each) => each.name === name)!;
      return flat.subarray(start, start + length);
    };
    // Errors of 1e37 times inputs of 100 overflow; what is before and behind is 0, or small.
    of(weights, 'layer1.bias').fill(100);
    of(weights, 'layer2.bias').fill(1e-30);
    of(weights, 'layer3.weight').forEach((_, i, all) => {
      all[i] = i % 10 === 0 ? 3e38 : 0;
    });
    await trainer.writeWeights(weights);
    expect((await trainer.computeGradient(gradient)).isFinite).toBe(false);
    const notFinite = trainer.tensors.filter(({ name }) =>
      of(gradient, name).some((value) => !Number.isFinite(value)),
    );
    expect(notFinite.map(({ name }) => name)).toEqual(['layer2.weight']);
  });

  test('a gradient that is ready layer by layer has each tensor in its place', async () => {
    const { gradient, trainer } = await inArena({});
    trainer.loadBatch(0);
    await trainer.computeGradient(gradient);
    const whole = gradient.slice();
    gradient.fill(NaN);
    const ready: number[] = [];
    await trainer.computeGradient(gradient, (from) => ready.push(from));
    expect(gradient.slice()).toEqual(whole);
    const starts = trainer.tensors.map(({ start }) => start).toReversed();
    expect([...new Set(ready)]).toEqual(starts);
  });

  test('of tables the rows in use move, as before', async () => {
    const changes = {
      model: 'dlrm-small',
      dataset: 'clicks',
      batchPerRank: 16,
      optimizer: { ...base, kind: 'adagrad' },
    };
    const [device, arena] = [await onDevice(changes), await inArena(changes)];
    await steps(device, 0, 3);
    await steps(arena, 0, 3);
    expect(await bitsOf(arena)).toEqual(await bitsOf(device));
  });

  describe('with momentum', () => {
    test('it goes on from where it was, and from what is written', async () => {
      const device = await onDevice({});
      const moved = await inArena({}, (seat) => steps(seat, 0, 2));
      const written = await inArena({});
      await steps(device, 0, 2);
      const weights = new Float32Array(device.trainer.length);
      const state = new Float32Array(device.trainer.stateLength);
      await device.trainer.readWeights(weights);
      await device.trainer.readState(state);
      await written.trainer.writeWeights(weights);
      await written.trainer.writeState(state);
      for (const seat of [device, moved, written]) await steps(seat, 2, 4);
      expect(await bitsOf(moved)).toEqual(await bitsOf(device));
      expect(await bitsOf(written)).toEqual(await bitsOf(device));
    });

    test('tensors that take plain steps keep no velocity, and restart at 0', async () => {
      const seats = [await onDevice({}), await inArena({})];
      for (const seat of seats) {
        await steps(seat, 0, 2);
        seat.trainer.takePlainSteps(new Set(['layer1.weight', 'layer2.bias']));
        await steps(seat, 2, 4);
        seat.trainer.takePlainSteps(new Set(['layer3.weight']));
        await steps(seat, 4, 6);
      }
      expect(await bitsOf(seats[1]!)).toEqual(await bitsOf(seats[0]!));
      const state = new Float32Array(seats[1]!.trainer.stateLength);
      await seats[1]!.trainer.readState(state);
      const { start, length } = seats[1]!.trainer.tensors.find(
        ({ name }) => name === 'layer3.weight',
      )!;
      expect(state.subarray(start, start + length).every((v) => v === 0)).toBe(true);
    });

    test.each(['sgd', 'lars'])(
      'a decay beside plain steps of %s: the same bits as jax-js',
      async (kind) => {
        const optimizer = { ...base, kind, nesterov: kind === 'sgd', weightDecay: 0.1 };
        const seats = [await onDevice({ optimizer }), await inArena({ optimizer })];
        for (const seat of seats) {
          await steps(seat, 0, 1);
          seat.trainer.takePlainSteps(new Set(['layer1.weight', 'layer2.bias']));
          await steps(seat, 1, 4);
          seat.trainer.takePlainSteps(new Set());
          await steps(seat, 4, 5);
        }
        expect(await bitsOf(seats[1]!)).toEqual(await bitsOf(seats[0]!));
      },
    );

    test('plain steps from before it moved stay plain', async () => {
      const plain = new Set(['layer1.weight']);
      const device = await onDevice({});
      const arena = await inArena({}, async (seat) => {
        seat.trainer.takePlainSteps(plain);
        await steps(seat, 0, 1);
      });
      device.trainer.takePlainSteps(plain);
      await steps(device, 0, 1);
      for (const seat of [device, arena]) await steps(seat, 1, 3);
      expect(await bitsOf(arena)).toEqual(await bitsOf(device));
    });
  });

  test('a long gradient is clipped to the norm, a short one is not', async () => {
    const optimizer = { ...base, kind: 'sgd', momentum: 0, lr: 1 };
    for (const clipNorm of [0.25, 1e6]) {
      const { gradient, trainer } = await inArena({
        optimizer: { ...optimizer, clipNorm },
      });
      const [before, after] = [0, 1].map(() => new Float32Array(trainer.length));
      await trainer.readWeights(before!);
      gradient.forEach((_, i) => (gradient[i] = Math.sin(i)));
      const norm = lengthOf(gradient);
      await trainer.applyGradient(gradient, 0);
      await trainer.readWeights(after!);
      const moved = lengthOf(before!.map((value, i) => value - after![i]!));
      expect(moved / Math.min(norm, clipNorm)).toBeCloseTo(1, 4);
    }
  });

  test('clipped steps differ from jax-js’s by no more than a norm in f64', async () => {
    const optimizer = { ...base, kind: 'sgd', clipNorm: 0.5 };
    const seats = [await onDevice({ optimizer }), await inArena({ optimizer })];
    const [expected, actual] = await Promise.all(
      seats.map(async (seat) => {
        await steps(seat, 0, 4);
        const weights = new Float32Array(seat.trainer.length);
        await seat.trainer.readWeights(weights);
        return weights;
      }),
    );
    const off = lengthOf(actual!.map((value, i) => value - expected![i]!));
    expect(off / lengthOf(expected!)).toBeLessThan(1e-6);
  });

  test('a gradient from elsewhere is refused', async () => {
    const { trainer } = await inArena({});
    const elsewhere = new Float32Array(trainer.length);
    await expect(trainer.applyGradient(elsewhere, 0)).rejects.toThrow(
      'internal: a gradient that is not where the arena has it',
    );
  });
});
