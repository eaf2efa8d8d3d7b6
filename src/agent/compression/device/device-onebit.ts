/**
 * `onebit` on the GPU: sections of signs and means, as `onebit.ts` defines them, taken out of
 * a residual that never leaves.
 */
import type { Region } from '../../memory/arena.ts';
import { packedBytes, runsOf } from '../../kernels/quantization.ts';
import { STRETCH } from '../../kernels/webgpu/device-quantization.ts';
import { wholeOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { measureSigns } from '../onebit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type { CreateOnDevice, DeviceContext } from './device-method.ts';
import {
  longestSection,
  SectionsOnDevice,
  type DeviceSectionCodec,
  type SectionTask,
} from './device-sections.ts';

interface Parameters {
  readonly bucket: number;
  readonly minElements: number;
  readonly warmupIterations: number;
}

export const onebitOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  return withDeviceWarmUp(typed, () =>
    SectionsOnDevice.create('onebit', typed, new SignsOnDevice(typed)),
  );
};

class SignsOnDevice implements DeviceSectionCodec {
  readonly #context: DeviceContext<Parameters>;
  readonly #means: GPUBuffer;
  /** A stretch's means and signs on their way in. */
  readonly #receivedMeans: GPUBuffer;
  readonly #receivedSigns: GPUBuffer;

  constructor(context: DeviceContext<Parameters>) {
    if (context.residual === undefined) {
      throw new Error('internal: onebit without a residual');
    }
    const { gpu } = context.device;
    const { bucket } = context.parameters;
    const longest = longestSection(context);
    const stretch = Math.min(longest, STRETCH);
    this.#context = context;
    this.#means = gpu.allocate(8 * runsOf(longest, bucket));
    this.#receivedMeans = gpu.allocate(8 * (runsOf(stretch, bucket) + 1));
    this.#receivedSigns = gpu.allocate(packedBytes(stretch, 1));
  }

  capacity(n: number): number {
    return this.#meanBytes(n) + packedBytes(n, 1);
  }

  *write({ x, payload, offset }: SectionTask): Generator<number> {
    const { device, parameters } = this.#context;
    const meanBytes = this.#meanBytes(x.length);
    const means = { ...wholeOf(this.#means), length: meanBytes / 4 };
    device.signs.take(x, parameters.bucket, means, {
      buffer: payload,
      offset: offset + meanBytes,
      length: packedBytes(x.length, 1) / 4,
    });
    device.gpu.commands.copy(means, payload, offset);
    yield this.capacity(x.length);
  }

  measure(data: Region, n: number): number {
    return measureSigns(this.#context.arena, data, n, this.#context.parameters.bucket);
  }

  decode(data: Region, out: GpuVector, add: boolean): void {
    const { arena, device, parameters } = this.#context;
    const { commands } = device.gpu;
    const { bucket } = parameters;
    const signsAt = data.offset + this.#meanBytes(out.length);
    for (let first = 0; first < out.length; first += STRETCH) {
      const length = Math.min(STRETCH, out.length - first);
      const firstRun = Math.floor(first / bucket);
      const means = 2 * (runsOf(first + length, bucket) - firstRun);
      const words = packedBytes(length, 1) / 4;
      const meansAt = data.offset + 8 * firstRun;
      commands.write(this.#receivedMeans, 0, arena.u32(meansAt, means));
      commands.write(this.#receivedSigns, 0, arena.u32(signsAt + first / 8, words));
      device.signs.add(
        out,
        first,
        length,
        bucket,
        { ...wholeOf(this.#receivedMeans), length: means },
        { ...wholeOf(this.#receivedSigns), length: words },
        add,
      );
    }
  }

  [Symbol.dispose](): void {
    const { gpu } = this.#context.device;
    gpu.destroy(this.#means, this.#receivedMeans, this.#receivedSigns);
  }

  #meanBytes(n: number): number {
    return 8 * runsOf(n, this.#context.parameters.bucket);
  }
}
