/**
 * A method whose gradients stay on a GPU: compensate, select or round, pack, and apply are
 * done there, and only the payload crosses, through the staging ring, into the arena. Its
 * payloads are those of the method on the CPU, byte for byte, so ranks of either kind
 * can talk to each other.
 */
import type { DeviceKernels } from '../../kernels/webgpu/device-kernels.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Region } from '../../memory/arena.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { Communicate, CompressorContext, ExchangeStatistics } from '../method.ts';

/** `kernels` are the CPU's, for what happens to payloads in the arena. */
export interface DeviceContext<Parameters = unknown> extends Omit<
  CompressorContext<Parameters>,
  'residual'
> {
  readonly device: DeviceKernels;
  /** The bucket's residual, on the GPU; given where the method keeps one. */
  readonly residual?: GpuVector | undefined;
}

/** As `Compressor`, with gradients on the GPU. */
export interface DeviceCompressor extends Disposable {
  /**
   * Compensate, then select or round; the payload is in the arena when this resolves, and
   * valid until the next encode. May use `gradient` as scratch.
   * @throws GradwireError `GPU_LOST`
   */
  encode(gradient: GpuVector, iteration: number): Promise<Payload>;
  /**
   * The average over ranks, written over `out`, the vector given to encode as encode left
   * it. What follows on the same device sees it; nobody needs to wait.
   * @throws GradwireError `PAYLOAD_INVALID`, `STREAM_INDEX_OUT_OF_RANGE`
   */
  decode(combined: Combined, out: GpuVector, iteration: number): ExchangeStatistics;
  /**
   * For methods that talk more than once in an exchange, as `Compressor.exchange`; the
   * average is written over `gradient`.
   */
  exchange?(
    gradient: GpuVector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics>;
  /** @throws GradwireError `PAYLOAD_INVALID` */
  parse(data: Region, iteration: number): Payload;
  /** Brings state that is kept on the device to where `save` finds it. */
  fetchState?(): Promise<void>;
  /** All state but the residual, as of the last `fetchState` where there is one. */
  save(): Uint8Array;
  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restore(state: Uint8Array): void;
}

/** Undefined where these parameters, or this length, have no way on the device. */
export type CreateOnDevice = (context: DeviceContext) => DeviceCompressor | undefined;
