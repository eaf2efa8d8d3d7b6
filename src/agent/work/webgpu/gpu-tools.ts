/**
 * Tools that the parts of a GPU's work share. All memory that it allocates lasts as long as it
 * does.
 */
import type { Kernels } from '../../kernels/kernels.ts';
import type { DeviceKernels } from '../../kernels/webgpu/device-kernels.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Arena, Region } from '../../memory/arena.ts';
import type { Work } from '../work.ts';

export interface GpuTools extends Pick<
  Work<GpuVector>,
  'clear' | 'scatterAdd' | 'mirror'
> {
  readonly arena: Arena;
  /** The CPU's. */
  readonly kernels: Kernels;
  readonly device: DeviceKernels;
  region(bytes: number): Region;
  vector(length: number): GpuVector;
  buffer(bytes: number): GPUBuffer;
  /** @throws BeyondDevice where a binding cannot hold an array of this many 4-byte words */
  requireBindable(words: number): void;
}
