/** A device beside the reference: the same vectors on both, their results to be compared. */
import { afterAll, expect } from 'vitest';
import { DeviceKernels } from '../../src/agent/kernels/webgpu/device-kernels.ts';
import {
  openGpuDevice,
  shareGpuDevice,
  type GpuDevice,
} from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../../src/agent/kernels/webgpu/gpu-vector.ts';
import { bytes } from '../unit/kernels/backends.ts';

/** Ways to run that must not show: with subgroups or without, whole vectors or split. */
export const WAYS = [
  { name: 'with subgroups', subgroups: true, split: false },
  { name: 'without subgroups', subgroups: false, split: false },
  {
    name: 'in parts of 320',
    subgroups: true,
    split: true,
    partElements: 320,
    workgroups: 2,
  },
] as const satisfies readonly Way[];

export interface Way {
  readonly name: string;
  readonly subgroups: boolean;
  readonly split: boolean;
  readonly partElements?: number;
  readonly workgroups?: number;
}

let shared: GpuDevice | undefined;
afterAll(() => shared?.close());

/** The device of a test file's ways: most of the time goes into compiling, once for it. */
export async function openWay(way: Omit<Way, 'name'>): Promise<GpuDevice> {
  shared ??= await openGpuDevice();
  const gpu = shareGpuDevice(shared.device, way);
  expect(gpu.subgroups).toBe(way.subgroups);
  return gpu;
}

export class TestDevice implements Disposable {
  readonly gpu: GpuDevice;
  readonly kernels: DeviceKernels;
  readonly #vectors: GpuVector[] = [];

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
    this.kernels = new DeviceKernels(gpu);
  }

  static async open(way: Omit<Way, 'name'>): Promise<TestDevice> {
    return new TestDevice(await openWay(way));
  }

  put(values: Float32Array): GpuVector {
    const vector = this.gpu.allocateVector(values.length);
    this.gpu.write(vector, values);
    this.#vectors.push(vector);
    return vector;
  }

  async get(vector: GpuVector): Promise<Float32Array> {
    const values = new Float32Array(vector.length);
    await this.gpu.read(vector, values);
    return values;
  }

  /** The first words of a buffer. */
  async words(buffer: GPUBuffer, count: number): Promise<Uint32Array> {
    const words = new Uint32Array(count);
    await this.gpu.ring.read(buffer, 0, new Uint8Array(words.buffer));
    return words;
  }

  /** Ends the vectors that were put so far. */
  clear(): void {
    for (const vector of this.#vectors.splice(0)) this.gpu.release(vector);
  }

  [Symbol.dispose](): void {
    this.clear();
    this.kernels[Symbol.dispose]();
    this.gpu.close();
  }
}

/** The same bits; where not, the first difference says more than two arrays. */
export function expectSameBits(
  actual: Float32Array | Uint32Array,
  expected: Float32Array | Uint32Array,
  what: string,
): void {
  expect(actual.length, what).toBe(expected.length);
  if (bytes(actual).equals(bytes(expected))) return;
  const at = actual.findIndex((value, i) => !Object.is(value, expected[i]));
  expect.fail(`${what} differs at ${at}: ${actual[at]} for ${expected[at]}`);
}

export function expectNear(actual: number, expected: number, what: string): void {
  if (actual === expected) return;
  expect(Math.abs(actual - expected) / Math.abs(expected), what).toBeLessThan(1e-6);
}
