/**
 * A flat gradient in memory of the GPU on which a trainer computes, for trainer and engine
 * to share: the trainer's tensors are copied into it, the engine replaces it by the
 * average, and the optimiser applies copies of that. All work on the device goes through
 * one queue, so each sees the other's work completed.
 *
 * Cost: 4·n bytes of the GPU's memory.
 */
import { DeviceKernels } from '../kernels/webgpu/device-kernels.ts';
import {
  shareGpuDevice,
  type GpuDevice,
  type GpuOptions,
} from '../kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../kernels/webgpu/gpu-vector.ts';

export class GpuGradient implements Disposable {
  readonly gpu: GpuDevice;
  readonly kernels: DeviceKernels;
  readonly vector: GpuVector;

  /** The caller owns `device` and destroys it after this is disposed of. */
  constructor(device: GPUDevice, length: number, options: GpuOptions = {}) {
    this.gpu = shareGpuDevice(device, options);
    this.kernels = new DeviceKernels(this.gpu);
    this.vector = this.gpu.allocateVector(length);
  }

  [Symbol.dispose](): void {
    this.gpu.release(this.vector);
    this.kernels[Symbol.dispose]();
    this.gpu.close();
  }
}
