/**
 * Ranks of one world, of which one has its work done on a device and its twin on the CPU:
 * in every iteration the same payload bytes, the same averages, the same residual.
 */
import { residualOf } from '../../src/agent/methods/method.ts';
import { expect } from 'vitest';
import { compressUploaded } from '../../src/agent/codec/uploaded.ts';
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { Combined, Payload } from '../../src/agent/memory/payload.ts';
import type { GradientBucket } from '../../src/agent/methods/bucket-compressor.ts';
import { findMethod, validateParameters } from '../../src/agent/methods/registry.ts';
import type { Vector } from '../../src/agent/memory/arena.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';
import { openInArena } from '../unit/methods/open-in-arena.ts';
import { backends, type Backend } from '../unit/kernels/backends.ts';
import { expectSameBits } from './device-pair.ts';

const WORLD = 3;
const ITERATIONS = 3;

/** One rank, on the CPU or with its work done on a device. */
/** A vector's elements, or a shape. */
export type TensorSize = number | readonly number[];

export function elementsOf(tensors: readonly TensorSize[]): number {
  return shapesOf(tensors)
    .map(lengthOf)
    .reduce((sum, n) => sum + n, 0);
}

const shapesOf = (tensors: readonly TensorSize[]): (readonly number[])[] =>
  tensors.map((size) => (typeof size === 'number' ? [size] : size));

const lengthOf = (shape: readonly number[]): number =>
  shape.reduce((n, size) => n * size, 1);

export class Rank {
  readonly backend: Backend;
  readonly compressor: GradientBucket;
  readonly gradient: Vector;
  readonly residual: Vector;

  constructor(
    rank: number,
    id: string,
    raw: JsonObject,
    tensors: readonly TensorSize[],
    gpu?: GpuDevice,
  ) {
    this.backend = backends.wasm();
    const { arena, kernels } = this.backend;
    const length = elementsOf(tensors);
    this.gradient = { offset: arena.allocateVector(length).offset, length };
    this.residual = { offset: arena.allocateVector(length).offset, length };
    kernels.fill(this.residual, 0);
    const method = findMethod(id);
    const parameters = validateParameters(method, raw);
    let start = 0;
    const context = {
      length,
      tensors: shapesOf(tensors).map((shape, index) => {
        const n = lengthOf(shape);
        start += n;
        return { name: `${index}`, start: start - n, length: n, shape };
      }),
      parameters,
      seed: 7,
      rank,
      world: WORLD,
      bucket: 2,
      residual: residualOf(method, parameters) === 'none' ? undefined : this.residual,
    };
    const opening = { arena, kernels, method, context, gradient: this.gradient };
    this.compressor =
      gpu === undefined ? openInArena(opening) : compressUploaded({ ...opening, gpu });
  }

  async encode(gradient: Float32Array, iteration: number): Promise<Payload> {
    this.backend.arena.f32(this.gradient).set(gradient);
    return await this.compressor.encode(iteration);
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

/** A method through some iterations, on both; `gradientOf` gives one for each seed. */
export async function compareRanks(
  gpu: GpuDevice,
  id: string,
  parameters: JsonObject,
  tensors: readonly TensorSize[],
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
      await rank.compressor.decode(combined, iteration);
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

export function expectSamePayload(
  id: string,
  actual: Uint8Array,
  expected: Uint8Array,
): void {
  expect(actual.length, `${id}, bytes`).toBe(expected.length);
  const [a, b] = [actual, expected].map((bytes) => new Uint32Array(bytes.buffer));
  expectSameBits(a!, b!, `${id}, payload`);
}

/** What a collective makes of the payloads, in rank order. */
export function combine({ arena }: Backend, payloads: readonly Payload[]): Combined {
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
