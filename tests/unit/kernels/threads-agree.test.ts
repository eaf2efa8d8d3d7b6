/**
 * Several threads against one, on sizes of several slices and every input of the matrix:
 * the same bits from everything, sums in f64 included. Every thread takes part in every
 * job, so that no partition of the work is left to chance.
 */
import { residualOf } from '../../../src/agent/methods/method.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import type { Vector } from '../../../src/agent/memory/arena.ts';
import { closeStream, roomBytes } from '../../../src/agent/kernels/sparsification.ts';
import { SLICE } from '../../../src/agent/kernels/wasm/job-board.ts';
import { SHARED_LENGTH } from '../../../src/agent/kernels/wasm/kernel-pool.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { effort } from '../../harness/effort.ts';
import { bellShaped, INPUTS, TELLING } from './adversarial-inputs.ts';
import { backends, bytes, type Backend } from './backends.ts';
import { threaded, type Threaded } from './threaded.ts';
import { openInArena } from '../methods/open-in-arena.ts';

const SIZES = [SHARED_LENGTH, 300_007];
const LARGE = 1_000_003;
const LARGE_INPUTS = effort({
  quick: ['heavyTailed'],
  soak: ['bellShaped', 'heavyTailed', 'few distinct values'],
});
const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });
const ROOM = 128 * 2 ** 20;

describe.each(effort({ quick: [3], soak: [2, 3] }))('%i threads', (count) => {
  let threads: Threaded;
  let alone: Backend;
  /** Everything that a test puts into either arena lies in here. */
  let rooms: {
    backend: Backend;
    offset: number;
    bytes: number;
    next: number;
  }[];

  beforeAll(() => {
    threads = threaded(count);
    alone = backends.wasm();
    rooms = [alone, threads.backend].map((backend) => {
      return { backend, ...backend.arena.allocate(ROOM), next: 0 };
    });
  });

  afterAll(async () => {
    expect(threads.slicesOfOthers()).toBeGreaterThan(1000);
    await threads.pool.close();
  });

  beforeEach(() => {
    for (const room of rooms) room.next = room.offset;
  });

  /** Does the same work with one thread and with several, and compares all its bits. */
  function expectSameBits(work: (desk: Desk) => readonly unknown[]): void {
    const [expected, actual] = rooms.map((room) => {
      const take = (size: number): { offset: number; bytes: number } => {
        const offset = room.next;
        room.next += Math.ceil(size / 16) * 16;
        if (room.next > room.offset + ROOM) throw new Error('the test takes too much');
        return { offset, bytes: size };
      };
      return work(new Desk(room.backend, take));
    });
    expect(actual!.length).toBe(expected!.length);
    actual!.forEach((value, index) => {
      const other = expected![index];
      if (value instanceof Uint8Array && other instanceof Uint8Array) {
        const at =
          Buffer.compare(value, other) === 0 ? -1 : firstDifference(value, other);
        expect(at, `byte of result ${index} that differs`).toBe(-1);
      } else {
        expect(value, `result ${index}`).toStrictEqual(other);
      }
    });
  }

  describe.each([...SIZES, LARGE])('n = %i', (n) => {
    const names = n === LARGE ? LARGE_INPUTS : NAMES;
    describe.each(names)('%s', (name) => {
      const x = INPUTS[name]!(n);

      it('elementwise kernels and reductions', () => {
        const y = bellShaped(n, 2);
        expectSameBits((desk) => {
          const { kernels } = desk;
          const out = desk.put(x);
          const other = desk.put(y);
          const seen: unknown[] = [
            kernels.squaredNorm(out),
            kernels.squaredDistance(out, other),
            kernels.moments(out),
            kernels.twoMeans(out),
            kernels.firstNonFinite(out),
            kernels.quantization.clippedMaximum(out, 0),
            kernels.quantization.clippedMaximum(out, 2.5),
            kernels.quantization.fixedSums(out),
          ];
          kernels.add(out, other);
          seen.push(desk.get(out));
          kernels.scale(out, 1 / 3);
          kernels.blend(out, 0.7, other, -1.5);
          seen.push(desk.get(out));
          kernels.shiftBySign(out, 0.1, -0.7);
          seen.push(desk.get(out));
          kernels.reduction.combine('max', out, other);
          kernels.reduction.combine('sum', out, other);
          seen.push(desk.get(out));
          kernels.copy(other, out);
          kernels.fill(out, -0);
          return [...seen, desk.get(other), desk.get(out)];
        });
      });

      it('steps of optimisers', () => {
        const magnitudes = x.map(Math.abs);
        const step = { factor: 0.9, rate: 0.1, weightDecay: 0.01, epsilon: 0.001 };
        expectSameBits((desk) => {
          const { optimization } = desk.kernels;
          const weights = desk.put(bellShaped(n, 3));
          const [gradient, mean, square] = [x, x, magnitudes].map((values) => {
            return desk.put(values);
          }) as [Vector, Vector, Vector];
          optimization.descend(weights, gradient, step);
          const momentum = { ...step, momentum: 0.9, nesterov: true };
          optimization.descendWithMomentum(weights, mean, gradient, momentum);
          optimization.adagrad(weights, square, gradient, step);
          const betas = { beta1: 0.9, beta2: 0.99, ofMean: 2, ofRoot: 3 };
          const adam = { ...step, ...betas, decoupled: true };
          optimization.adam(weights, mean, square, gradient, adam);
          return [desk.get(weights), desk.get(mean), desk.get(square)];
        });
      });

      it('selections', () => {
        expectSameBits((desk) => {
          const { kernels } = desk;
          const { sparsification } = kernels;
          const vector = desk.put(x);
          const seen: unknown[] = [];
          for (const k of [1, Math.ceil(n / 1000), Math.ceil(n / 40), n >>> 1, n - 1]) {
            const out = desk.take(8 * k);
            kernels.sparsification.selectTopK(vector, k, out);
            seen.push(desk.bytes(out), sparsification.kthMagnitude(vector, k));
          }
          const out = desk.take(8 * n);
          const { count } = sparsification.selectTopKPerRun(vector, 512, 4, 3, out);
          seen.push(desk.bytes({ ...out, bytes: 8 * count }));
          return seen;
        });
      });

      it('entries that reach a threshold', () => {
        expectSameBits((desk) => {
          const { kernels, arena } = desk;
          const { sparsification } = kernels;
          const vector = desk.put(x);
          const { offset } = desk.take(roomBytes(n + 1));
          const room = { offset, capacity: n + 1 };
          const seen: unknown[] = [];
          // None, few, a share that fills the threads' rooms, all; with and without limit.
          for (const k of [1, Math.ceil(n / 1000), n >>> 1, n]) {
            const threshold = sparsification.kthMagnitude(vector, k);
            for (const limit of [n, Math.ceil(k / 2), k]) {
              const held = sparsification.appendAtLeast(vector, 0, 7, room, 0, 1);
              const found = sparsification.appendAtLeast(
                vector,
                threshold,
                9,
                room,
                held,
                limit,
              );
              const stream = closeStream(arena, room, found);
              seen.push(found, desk.bytes({ ...stream, bytes: 8 * found }));
            }
          }
          return seen;
        });
      });

      it.each([
        [7, 512, 'max'],
        [7, 512, 'l2'],
        [1, 2 ** 30, 'max'],
        [127, 2 ** 30, 'l2'],
        [3, 1000, 'max'],
        [5, 333, 'given'],
        [1, 2 ** 30, 'given'],
        [7, 65_521, 'max'],
      ] as const)(
        'codes of %i levels, runs of %i, scale %s',
        (levels, runLength, scale) => {
          expectSameBits((desk) => {
            const { quantization } = desk.kernels;
            const vector = desk.put(x);
            const scales = desk.vector(Math.ceil(n / runLength));
            desk.arena.f32(scales).fill(0.75);
            const codes = desk.take(4 * Math.ceil(n / 4));
            const quantizer = { levels, runLength };
            const noise = {
              seed: 5,
              rank: 1,
              bucket: 2,
              iteration: 3,
              purpose: 4,
            };
            quantization.quantize(vector, quantizer, scale, noise, scales, codes);
            const seen = [
              desk.get(scales),
              desk.bytes(codes),
              quantization.largestLevel(codes, n, levels),
            ];
            quantization.dequantize(vector, quantizer, scales, codes, true);
            const added = desk.get(vector);
            quantization.dequantize(vector, quantizer, scales, codes, false);
            return [...seen, added, desk.get(vector)];
          });
        },
      );

      it.each([3, 1000, Math.floor(n / 2)])('a matrix of %i columns', (columns) => {
        const rows = Math.floor(n / columns);
        expectSameBits((desk) => {
          const matrix = { ...desk.put(x), rows, columns };
          const out = desk.vector(rows * columns);
          desk.kernels.transpose(matrix, out, false);
          const transposed = desk.get(out);
          desk.kernels.transpose(matrix, out, true);
          return [transposed, desk.get(out)];
        });
      });

      it.each([512, 77, 2 ** 30])('signs of runs of %i', (runLength) => {
        expectSameBits((desk) => {
          const { quantization } = desk.kernels;
          const vector = desk.put(x);
          const means = desk.vector(2 * Math.ceil(n / runLength));
          const signs = desk.take(4 * Math.ceil(n / 32));
          quantization.quantizeSigns(vector, runLength, means, signs);
          const seen = [desk.get(vector), desk.get(means), desk.bytes(signs)];
          quantization.dequantizeSigns(vector, runLength, means, signs, true);
          return [...seen, desk.get(vector)];
        });
      });
    });

    it.each([NaN, Infinity])('the first that is %d', (value) => {
      for (const at of [0, SLICE - 1, SLICE, n - 1]) {
        expectSameBits((desk) => {
          const x = new Float32Array(n).fill(1, 0, at).fill(value, at);
          const index = desk.kernels.firstNonFinite(desk.put(x));
          expect(index).toBe(at);
          const out = desk.put(new Float32Array(n));
          expect(desk.kernels.addFinite(out, desk.put(x))).toBe(at);
          const copy = desk.put(new Float32Array(n));
          expect(desk.kernels.copyFinite(copy, desk.put(x))).toBe(at);
          return [index, desk.get(copy)];
        });
      }
    });
  });

  const n = 300_007;
  it.each([
    ...Array.from(methods.keys(), (id): [string, JsonObject] => [
      id,
      SMALLEST[id] ?? {},
    ]),
    ['topk', { ratio: 0.01, quantize: { bits: 4 } }],
    ['topk', { k: 4, bucket: 512 }],
    ['qsgd', { bits: 4, coding: 'elias' }],
    ['qsgd', { bits: 2, bucket: 128, scale: 'l2' }],
    ['a2sgd', { granularity: 'tensor' }],
    ['onebit', { granularity: 'column' }],
  ] as [string, JsonObject][])('payloads of %s %j', async (id, given) => {
    const method = findMethod(id);
    const parameters = validateParameters(method, given);
    const payloads = rooms.map(async ({ backend: { arena, kernels } }) => {
      const [gradient, residual] = [n, n].map((length) => arena.allocateVector(length));
      arena.f32(residual!).subarray(0, n).fill(0);
      const context = {
        length: n,
        tensors: [
          { name: 'w', start: 0, length: 280_000, shape: [700, 400] },
          {
            name: 'b',
            start: 280_000,
            length: n - 280_000,
            shape: [n - 280_000],
          },
        ],
        parameters,
        seed: 1,
        rank: 0,
        world: 1,
        bucket: 0,
        residual:
          residualOf(method, parameters) === 'none'
            ? undefined
            : { ...residual!, length: n },
      };
      const x = { ...gradient!, length: n };
      using compressor = openInArena({ arena, kernels, method, context, gradient: x });
      const seen: Uint8Array[] = [];
      for (let iteration = 0; iteration < 3; iteration++) {
        arena.f32(x).set(bellShaped(n, 3 + iteration));
        const { data } = await compressor.encode(iteration);
        seen.push(arena.u8(data.offset, data.bytes).slice());
        seen.push(arena.u8(residual!.offset, 4 * n).slice());
      }
      return seen;
    });
    const [expected, actual] = await Promise.all(payloads);
    expect(actual!.map((part) => Buffer.from(part).toString('hex', 0, 64))).toEqual(
      expected!.map((part) => Buffer.from(part).toString('hex', 0, 64)),
    );
    actual!.forEach((part, i) => {
      expect(Buffer.compare(part, expected![i]!), `part ${i}`).toBe(0);
    });
  });
});

const SMALLEST: Readonly<Record<string, JsonObject>> = {
  threshold: { threshold: 1 },
};

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  return a.length === b.length ? a.findIndex((byte, i) => byte !== b[i]) : -2;
}

/** One backend, and memory that is taken from one room in the same order. */
class Desk {
  readonly kernels: Kernels;
  readonly arena: Backend['arena'];
  readonly take: (size: number) => { offset: number; bytes: number };

  constructor(
    { kernels, arena }: Backend,
    take: (size: number) => { offset: number; bytes: number },
  ) {
    this.kernels = kernels;
    this.arena = arena;
    this.take = take;
  }

  vector(length: number): { offset: number; length: number } {
    return { offset: this.take(4 * length).offset, length };
  }

  put(values: Float32Array): { offset: number; length: number } {
    const vector = this.vector(values.length);
    this.arena.f32(vector).set(values);
    return vector;
  }

  get(vector: { offset: number; length: number }): Uint8Array {
    return Uint8Array.from(bytes(this.arena.f32(vector)));
  }

  bytes(region: { offset: number; bytes: number }): Uint8Array {
    return this.arena.u8(region.offset, region.bytes).slice();
  }
}
