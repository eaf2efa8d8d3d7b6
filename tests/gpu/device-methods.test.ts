/**
 * Methods on the device against the same methods on the CPU, as ranks of one world: in
 * every iteration the same payload bytes, the same averages, the same residual.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebGpuBackend } from '../../src/agent/compression/device/webgpu-backend.ts';
import {
  carriageOf,
  type Combined,
  type Compressor,
  type Payload,
} from '../../src/agent/compression/method.ts';
import {
  findMethod,
  validateParameters,
} from '../../src/agent/compression/registry.ts';
import type { Vector } from '../../src/agent/kernels/arena.ts';
import { openGpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import { backends, type Backend } from '../unit/kernels/backends.ts';
import { bellShaped, INPUTS } from '../unit/kernels/adversarial-inputs.ts';
import { expectSameBits, WAYS } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

const METHODS: readonly [string, JsonObject][] = [
  ['none', {}],
  ['topk', { ratio: 0.05 }],
  ['topk', { k: 3, warmupIterations: 1 }],
  ['topk', { bucket: 512, k: 4 }],
  ['topk', { bucket: 7, ratio: 0.3 }],
  ['topk', { bucket: 3000, k: 5 }],
  ['randomk', { ratio: 0.05, warmupIterations: 1 }],
  ['threshold', { threshold: 0.8 }],
  ['dct', { ratio: 0.02, lifeSpan: 2 }],
  ['dct', { ratio: 0.1, band: 1.5 }],
  ['a2sgd', { granularity: 'tensor' }],
  ['qsgd', { minElements: 4 }],
  ['qsgd', { bits: 2, minElements: 4, warmupIterations: 1 }],
  ['qsgd', { bits: 8, bucket: 100, minElements: 4 }],
  ['qsgd', { bits: 3, bucket: 7, minElements: 0 }],
  ['qsgd', { levels: 1000, bucket: 5000, minElements: 4 }],
];
/** Tensors whose borders fall on nothing. */
const SHAPES: readonly (readonly number[])[] = [
  [],
  [1],
  [2],
  [31],
  [512],
  [3, 510],
  [511, 2, 9_494],
];
const WORLD = 3;
const ITERATIONS = 3;

/** One rank, on the CPU or with its work done on a device. */
class Rank {
  readonly backend: Backend;
  readonly compressor: Compressor;
  readonly gradient: Vector;
  readonly residual: Vector;

  constructor(
    rank: number,
    id: string,
    raw: JsonObject,
    tensors: readonly number[],
    gpu?: WebGpuBackend,
  ) {
    this.backend = backends.wasm();
    const { arena, kernels } = this.backend;
    const length = tensors.reduce((sum, n) => sum + n, 0);
    this.gradient = { offset: arena.allocateVector(length).offset, length };
    this.residual = { offset: arena.allocateVector(length).offset, length };
    kernels.fill(this.residual, 0);
    const method = findMethod(id);
    let start = 0;
    const context = {
      length,
      tensors: tensors.map((n, index) => {
        start += n;
        return { name: `${index}`, start: start - n, length: n, shape: [n] };
      }),
      parameters: validateParameters(method, raw),
      seed: 7,
      rank,
      world: WORLD,
      bucket: 2,
      arena,
      kernels,
      residual: method.residual === 'none' ? undefined : this.residual,
    };
    this.compressor =
      gpu === undefined
        ? method.create(context)
        : gpu.createCompressor(method, context);
  }

  async encode(gradient: Float32Array, iteration: number): Promise<Payload> {
    this.backend.arena.f32(this.gradient).set(gradient);
    return await this.compressor.encode(this.gradient, iteration);
  }

  bytes({ data }: Payload): Uint8Array {
    return this.backend.arena.u8(data.offset, data.bytes).slice();
  }

  /** Payloads of others, in memory of this rank. */
  receive(payloads: readonly Uint8Array[], iteration: number): Payload[] {
    return payloads.map((bytes) => {
      const { offset } = this.backend.arena.allocate(bytes.length);
      this.backend.arena.u8(offset, bytes.length).set(bytes);
      return this.compressor.parse({ offset, bytes: bytes.length }, iteration);
    });
  }
}

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let gpu: WebGpuBackend;
  beforeAll(async () => {
    gpu = new WebGpuBackend(await openGpuDevice(way));
  });
  afterAll(() => {
    gpu[Symbol.dispose]();
  });

  describe.each(METHODS)('%s %j', (id, parameters) => {
    test.each(SHAPES.map((shape) => [shape]))('tensors of %j', async (tensors) => {
      const n = tensors.reduce((sum, length) => sum + length, 0);
      await compare(id, parameters, tensors, (seed) => bellShaped(n, seed));
    });

    // Methods see subgroups through kernels alone, which have tests of their own.
    const inputs = way.subgroups ? Object.keys(INPUTS) : [];
    test.each(inputs)('%s', async (name) => {
      await compare(id, parameters, [700, 333], () => INPUTS[name]!(1033), 1);
    });
  });

  async function compare(
    id: string,
    parameters: JsonObject,
    tensors: readonly number[],
    gradientOf: (seed: number) => Float32Array,
    iterations = ITERATIONS,
  ): Promise<void> {
    const right = new Rank(1, id, parameters, tensors);
    const made = new Rank(1, id, parameters, tensors, gpu);
    const other = new Rank(0, id, parameters, tensors);
    const last = new Rank(2, id, parameters, tensors);
    for (let iteration = 0; iteration < iterations; iteration++) {
      const own = gradientOf(iteration + 1);
      const expected = right.bytes(await right.encode(own, iteration));
      const actual = made.bytes(await made.encode(own, iteration));
      expectSamePayload(id, actual, expected);
      const payloads = [
        other.bytes(await other.encode(gradientOf(iteration + 10), iteration)),
        expected,
        last.bytes(await last.encode(gradientOf(iteration + 20), iteration)),
      ];
      for (const rank of [right, made]) {
        const received = rank.receive(payloads, iteration);
        const combined = combine(rank.backend, received);
        await rank.compressor.decode(combined, rank.gradient, iteration);
      }
      const average = made.backend.get(made.gradient);
      expectSameBits(average, right.backend.get(right.gradient), `${id}, average`);
      expectSameBits(
        made.backend.get(made.residual),
        right.backend.get(right.residual),
        `${id}, residual`,
      );
    }
    for (const { compressor } of [right, made, other, last]) {
      compressor[Symbol.dispose]();
    }
  }

  test.each([
    ['topk', { ratio: 0.001 }],
    ['qsgd', {}],
  ] as [string, JsonObject][])('many elements, %s', async (id, parameters) => {
    const x = bellShaped(way.split ? 40_003 : 1_000_003);
    const right = new Rank(0, id, parameters, [x.length]);
    const made = new Rank(0, id, parameters, [x.length], gpu);
    expectSamePayload(
      id,
      made.bytes(await made.encode(x, 5)),
      right.bytes(await right.encode(x, 5)),
    );
    made.compressor[Symbol.dispose]();
  });

  test('a residual that was saved goes on elsewhere', async () => {
    const parameters = { ratio: 0.02 };
    const tensors = [2_000];
    const whole = new Rank(0, 'topk', parameters, tensors, gpu);
    const first = new Rank(0, 'topk', parameters, tensors, gpu);
    const x = bellShaped(2_000);
    for (const rank of [whole, first]) {
      const payload = await rank.encode(x, 0);
      const combined = combine(rank.backend, [payload]);
      await rank.compressor.decode(combined, rank.gradient, 0);
    }
    const second = new Rank(0, 'topk', parameters, tensors, gpu);
    second.compressor.restore(first.compressor.save());
    second.backend.arena.f32(second.residual).set(first.backend.get(first.residual));
    expectSamePayload(
      'topk',
      second.bytes(await second.encode(x, 1)),
      whole.bytes(await whole.encode(x, 1)),
    );
    for (const { compressor } of [whole, first, second]) compressor[Symbol.dispose]();
  });
});

function expectSamePayload(id: string, actual: Uint8Array, expected: Uint8Array): void {
  expect(actual.length, `${id}, bytes`).toBe(expected.length);
  const [a, b] = [actual, expected].map((bytes) => new Uint32Array(bytes.buffer));
  expectSameBits(a!, b!, `${id}, payload`);
}

/** What a collective makes of the payloads, in rank order. */
function combine({ arena }: Backend, payloads: readonly Payload[]): Combined {
  const { kind, length } = payloads[0]!;
  if (kind === 'quantized' || kind === 'sparse') return { form: 'gathered', payloads };
  const elements = kind === 'scalars' ? payloads[0]!.data.bytes / 4 : length;
  const sum = arena.allocateVector(elements);
  const values = arena.f32({ offset: sum.offset, length: elements }).fill(0);
  for (const { data } of payloads) {
    arena.f32({ offset: data.offset, length: elements }).forEach((value, i) => {
      values[i] = values[i]! + value;
    });
  }
  return { form: 'dense', data: { offset: sum.offset, bytes: 4 * elements } };
}

describe.skipIf(!hasVulkan)('what a device does not do', () => {
  test.each([['qsgd', { coding: 'elias' }]] as [string, JsonObject][])(
    '%s %j is refused',
    async (id, parameters) => {
      using gpu = new WebGpuBackend(await openGpuDevice());
      expect(carriageOf(findMethod(id), parameters)).toBeDefined();
      expect(() => new Rank(0, id, parameters, [1_000], gpu)).toThrow(
        expect.objectContaining({ code: 'BACKEND_UNAVAILABLE' }),
      );
    },
  );
});
