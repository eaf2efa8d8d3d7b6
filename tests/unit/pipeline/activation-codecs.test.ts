/** What passes a boundary between stages, against plain loops over the matrix. */
import { describe, expect, test } from 'vitest';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import type { ActivationCodec } from '../../../src/agent/pipeline/activation-codec.ts';
import { openCodec } from '../../../src/agent/pipeline/activation-codecs.ts';
import type { ActivationPlan } from '../../../src/shared/plan/activation-plan.ts';
import type { MatrixShape } from '../../../src/agent/pipeline/stage-setting.ts';
import { effort } from '../../harness/effort.ts';

/** A rank of one side, with memory of its own. */
class Side {
  readonly #arena = new Arena();
  readonly codec: ActivationCodec;
  readonly #values;

  constructor(plan: ActivationPlan | undefined, shape: MatrixShape) {
    const kernels = loadWasmKernels(this.#arena);
    this.codec = openCodec(plan, {
      arena: this.#arena,
      kernels,
      shape,
      microBatches: 2,
      seed: 7,
    });
    this.#values = this.#arena.allocateVector(shape.rows * shape.width);
  }

  encode(
    way: 'forward' | 'backward',
    values: readonly number[],
    call = FIRST,
  ): Uint8Array {
    const { encode, payloadBytes } = this.codec[way];
    const payload = this.#arena.allocate(payloadBytes);
    this.#arena.f32(this.#values).set(values);
    encode(this.#values, payload, call);
    return this.#arena.u8(payload.offset, payloadBytes).slice();
  }

  decode(way: 'forward' | 'backward', bytes: Uint8Array, call = FIRST): number[] {
    const payload = this.#arena.allocate(bytes.length);
    this.#arena.u8(payload.offset, bytes.length).set(bytes);
    this.#arena.f32(this.#values).fill(NaN);
    this.codec[way].decode(payload, this.#values, call);
    return [...this.#arena.f32(this.#values)];
  }
}
const FIRST = { microBatch: 0, iteration: 0 };

const bothSides = (plan: ActivationPlan | undefined, shape: MatrixShape) =>
  [new Side(plan, shape), new Side(plan, shape)] as const;

/** Values with ties, zeros of both signs and magnitudes far apart. */
function matrix({ rows, width }: MatrixShape, salt: number): number[] {
  return Array.from({ length: rows * width }, (_, i) => {
    const mixed = Math.imul(i + 1 + 1000 * salt, 2654435761) >>> 0;
    if (mixed % 5 === 0) return mixed % 2 === 0 ? 0 : -0;
    const value = ((mixed >>> 8) % 64) - 32;
    return Math.fround(value * 10 ** ((mixed % 7) - 3));
  });
}

/** The k largest of each row by sorting, ties by lower unit. */
function largestOfRows(
  values: readonly number[],
  shape: MatrixShape,
  k: number,
): Set<number> {
  const kept = new Set<number>();
  for (let row = 0; row < shape.rows; row++) {
    const units = Array.from(
      { length: shape.width },
      (_, unit) => row * shape.width + unit,
    );
    units.sort((a, b) => Math.abs(values[b]!) - Math.abs(values[a]!) || a - b);
    for (const unit of units.slice(0, k)) kept.add(unit);
  }
  return kept;
}

const SHAPES: readonly MatrixShape[] = [
  { rows: 1, width: 1 },
  { rows: 3, width: 7 },
  { rows: 5, width: 64 },
  { rows: 2, width: 1000 },
  { rows: 2, width: 70_000 },
];

describe.each(SHAPES)('dct-mp of $rows × $width', (shape) => {
  const sparsities = { quick: [0, 0.9, 0.999], soak: [0, 0.1, 0.5, 0.9, 0.99, 0.999] };
  test.each(effort(sparsities))('at a sparsity of %d', (sparsity) => {
    const plan = { method: 'dct-mp', sparsity } as const;
    const [near, far] = bothSides(plan, shape);
    const k = Math.max(1, Math.round(shape.width * (1 - sparsity)));
    // Two micro-batches under way: each way back is by its own units.
    const calls = [0, 1].map((microBatch) => ({ microBatch, iteration: 0 }));
    const sent = calls.map((call) => matrix(shape, 1 + call.microBatch));
    const masks = sent.map((values) => largestOfRows(values, shape, k));
    for (const [i, call] of calls.entries()) {
      const bytes = near.encode('forward', sent[i]!, call);
      const expected = sent[i]!.map((value, at) => (masks[i]!.has(at) ? value : 0));
      expect(far.decode('forward', bytes, call).map(Math.abs)).toEqual(
        expected.map(Math.abs),
      );
      const perValue = shape.width <= 65_536 ? 2 : 4;
      const units = Math.min(Math.ceil(shape.width / 8), perValue * k);
      expect(bytes).toHaveLength(shape.rows * (4 * k + units));
    }
    for (const [i, call] of calls.entries()) {
      const gradient = matrix(shape, 11 + i);
      const bytes = far.encode('backward', gradient, call);
      expect(bytes).toHaveLength(4 * shape.rows * k);
      const expected = gradient.map((value, at) => (masks[i]!.has(at) ? value : 0));
      expect(near.decode('backward', bytes, call).map(Math.abs)).toEqual(
        expected.map(Math.abs),
      );
    }
  });
});

describe('everything', () => {
  test.each([undefined, { method: 'none', sparsity: 0.9 } as const])(
    'by %o',
    (plan) => {
      const shape = { rows: 3, width: 5 };
      const [near, far] = bothSides(plan, shape);
      const values = matrix(shape, 1);
      expect(far.decode('forward', near.encode('forward', values))).toEqual(values);
      expect(near.decode('backward', far.encode('backward', values))).toEqual(values);
    },
  );
});

describe('gaussian-sketch', () => {
  const shape = { rows: 2, width: 30 };
  const plan = { method: 'gaussian-sketch', sparsity: 0.5 } as const;

  test('is what was sent in expectation, with a variance that the sketch has', () => {
    const [near, far] = bothSides(plan, shape);
    const values = matrix(shape, 1).map((value) => Math.sign(value));
    const draws = 2000;
    const sums = values.map(() => 0);
    let error = 0;
    for (let iteration = 0; iteration < draws; iteration++) {
      const call = { microBatch: 0, iteration };
      const bytes = near.encode('forward', values, call);
      expect(bytes).toHaveLength(4 * 2 * 15);
      for (const [i, value] of far.decode('forward', bytes, call).entries()) {
        sums[i]! += value / draws;
        error += (value - values[i]!) ** 2 / draws;
      }
    }
    // Var of (x·S·Sᵀ)ᵢ is (‖x‖² + xᵢ²) ⁄ k: summed over a row (width + 1)·‖x‖² ⁄ k.
    const squares = values.reduce((sum, value) => sum + value * value, 0);
    expect(error / ((31 * squares) / 15)).toBeCloseTo(1, 1);
    const deviation = Math.sqrt(31 / 15 / draws) * 5;
    for (const [i, value] of values.entries()) {
      expect(Math.abs(sums[i]! - value)).toBeLessThan(deviation * Math.sqrt(15));
    }
  });

  test('gives the gradient back whole', () => {
    const [near, far] = bothSides(plan, shape);
    const gradient = matrix(shape, 2);
    expect(near.decode('backward', far.encode('backward', gradient))).toEqual(gradient);
  });
});

describe('topk-backward', () => {
  test('loses nothing: what passed and what is kept is all that came', () => {
    const shape = { rows: 4, width: 9 };
    const [near, far] = bothSides({ method: 'topk-backward', sparsity: 0.75 }, shape);
    const came = Array.from({ length: 36 }, () => 0);
    const passed = Array.from({ length: 36 }, () => 0);
    for (let iteration = 0; iteration < 12; iteration++) {
      const call = { microBatch: 1, iteration };
      // Whole numbers: every sum is exact.
      const gradient = matrix(shape, iteration).map(
        (value) => Math.round(value) % 1000,
      );
      for (const [i, value] of gradient.entries()) came[i]! += value;
      const residual = came.map((value, i) => value - passed[i]!);
      const largest = residual
        .map((value, i) => [Math.abs(value), i] as const)
        .sort((a, b) => b[0] - a[0] || a[1] - b[1])
        .slice(0, 9);
      const received = near.decode(
        'backward',
        far.encode('backward', gradient, call),
        call,
      );
      for (const [, i] of largest) expect(received[i]).toBe(residual[i]);
      expect(received.filter((value) => value !== 0).length).toBeLessThanOrEqual(9);
      for (const [i, value] of received.entries()) passed[i]! += value;
    }
    expect(far.codec.kept).toHaveLength(2);
  });

  test('passes everything forward', () => {
    const shape = { rows: 4, width: 9 };
    const [near, far] = bothSides({ method: 'topk-backward', sparsity: 0.75 }, shape);
    const values = matrix(shape, 3);
    expect(far.decode('forward', near.encode('forward', values))).toEqual(values);
  });
});

describe('a matrix with a skip connection', () => {
  const PLAIN: MatrixShape = { rows: 5, width: 21 };
  const skip = 4;
  const shape: MatrixShape = { rows: 5, width: PLAIN.width + skip, skip };
  /** A matrix of the units alone, with the skip connection's units behind each row. */
  const beside = (units: readonly number[], salt: number): number[] =>
    Array.from({ length: shape.rows }, (_, row) => [
      ...units.slice(row * PLAIN.width, (row + 1) * PLAIN.width),
      ...skipOf(row, salt),
    ]).flat();
  /** Smaller than any unit, some of them 0, so that a selection would leave them out. */
  const skipOf = (row: number, salt: number): number[] =>
    Array.from({ length: skip }, (_, i) => Math.fround((i * (row + salt)) / 2 ** 40));

  test.each(['dct-mp', 'gaussian-sketch', 'topk-backward'] as const)(
    'passes it whole and the units as %s does alone',
    (method) => {
      const plan = { method, sparsity: 0.8 };
      const [near, far] = bothSides(plan, shape);
      const [nearAlone, farAlone] = bothSides(plan, PLAIN);
      for (const iteration of [0, 1, 2]) {
        const call = { microBatch: iteration % 2, iteration };
        for (const way of ['forward', 'backward'] as const) {
          const isForward = way === 'forward';
          const [from, to] = isForward ? [near, far] : [far, near];
          const [fromAlone, toAlone] = isForward
            ? [nearAlone, farAlone]
            : [farAlone, nearAlone];
          const salt = 10 * iteration + (isForward ? 1 : 2);
          const units = matrix(PLAIN, salt);
          const alone = fromAlone.encode(way, units, call);
          const bytes = from.encode(way, beside(units, salt), call);
          expect(bytes).toHaveLength(alone.length + 4 * shape.rows * skip);
          expect(to.decode(way, bytes, call)).toEqual(
            beside(toAlone.decode(way, alone, call), salt),
          );
        }
      }
    },
  );
});
