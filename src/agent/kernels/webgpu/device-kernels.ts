/**
 * The kernels on a GPU, with the promises of `kernels.ts`, for vectors that stay there.
 * Work is enqueued and executed in the order of the calls; only calls that return numbers
 * wait.
 */
import { DeviceElementwise } from './device-elementwise.ts';
import { DeviceElias } from './device-elias.ts';
import { DeviceFixedSums } from './device-fixed-sums.ts';
import { DeviceHalfPrecision } from './device-half-precision.ts';
import { DeviceQuantization } from './device-quantization.ts';
import { DeviceSelection } from './device-selection.ts';
import { DeviceSigns } from './device-signs.ts';
import { DeviceSums } from './device-sums.ts';
import type { GpuDevice } from './gpu-device.ts';

export class DeviceKernels implements Disposable {
  readonly gpu: GpuDevice;
  readonly elementwise: DeviceElementwise;
  readonly sums: DeviceSums;
  readonly fixedSums: DeviceFixedSums;
  readonly halfPrecision: DeviceHalfPrecision;
  readonly quantization: DeviceQuantization;
  readonly elias: DeviceElias;
  readonly signs: DeviceSigns;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
    this.elementwise = new DeviceElementwise(gpu);
    this.sums = new DeviceSums(gpu);
    this.fixedSums = new DeviceFixedSums(gpu);
    this.halfPrecision = new DeviceHalfPrecision(gpu);
    this.quantization = new DeviceQuantization(gpu, this.fixedSums);
    this.elias = new DeviceElias(gpu);
    this.signs = new DeviceSigns(gpu, this.fixedSums);
  }

  /** Selection from vectors of this length, with its own memory. */
  selection(length: number, capacity: number): DeviceSelection {
    return new DeviceSelection(this.gpu, length, capacity);
  }

  [Symbol.dispose](): void {
    this.elementwise[Symbol.dispose]();
    this.sums[Symbol.dispose]();
    this.fixedSums[Symbol.dispose]();
    this.elias[Symbol.dispose]();
  }
}
