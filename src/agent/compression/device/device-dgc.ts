/**
 * `dgc` on the GPU: velocities u and their sums v stay there. u ← μ·u + ∇; v ← v + u; the
 * k largest of v are sent, and cleared from both (`dgc.ts`). The gradient's norm, where it
 * is clipped, is the one thing that the host waits for beside the payload.
 */
import type { Region } from '../../memory/arena.ts';
import { normOf } from '../../kernels/fixed-point.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { momentumOf } from '../dgc.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import type { RatioSchedule } from '../policy/ratio-schedule.ts';
import { packState, unpackState } from '../saved-state.ts';
import { FeedbackOnDevice } from './device-feedback.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import { TopKOnDevice } from './device-topk.ts';

interface Parameters extends RatioSchedule {
  readonly momentum?: number | undefined;
  readonly factorMasking: boolean;
  readonly clip: number;
}

const METHOD = 'dgc';

export const dgcOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const shape = { ...typed.parameters, k: 0, bucket: 0, warmupIterations: 0 };
  const selection = TopKOnDevice.create({ ...typed, parameters: shape });
  return selection && new MomentumOnDevice(typed, selection);
};

class MomentumOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  /** u */
  readonly #velocity: GpuVector;
  /** u as of the last `fetchState`. */
  readonly #saved: Float32Array;
  /** v and what is sent of it: error feedback of velocities. */
  readonly #feedback: FeedbackOnDevice;

  constructor(context: DeviceContext<Parameters>, selection: TopKOnDevice) {
    const { device, length } = context;
    this.#context = context;
    this.#feedback = new FeedbackOnDevice(METHOD, context, selection);
    this.#velocity = device.gpu.allocateVector(length);
    this.#saved = new Float32Array(length);
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { device, parameters } = this.#context;
    await this.#clip(gradient);
    device.elementwise.blend(this.#velocity, momentumOf(parameters), gradient, 1);
    const payload = await this.#feedback.encode(this.#velocity, iteration);
    if (parameters.factorMasking) {
      device.elementwise.clearAt(this.#velocity, this.#feedback.sent!);
    }
    return payload;
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    return this.#feedback.decode(combined, out);
  }

  parse(data: Region): Payload {
    return this.#feedback.parse(data);
  }

  async fetchState(): Promise<void> {
    await this.#context.device.gpu.read(this.#velocity, this.#saved);
  }

  save(): Uint8Array {
    return packState(METHOD, this.#saved);
  }

  restore(state: Uint8Array): void {
    unpackState(METHOD, state, this.#saved);
    this.#context.device.gpu.write(this.#velocity, this.#saved);
  }

  [Symbol.dispose](): void {
    this.#context.device.gpu.release(this.#velocity);
    this.#feedback[Symbol.dispose]();
  }

  async #clip(gradient: GpuVector): Promise<void> {
    const { device, parameters, world } = this.#context;
    if (parameters.clip === 0) return;
    const limit = parameters.clip / Math.sqrt(world);
    const [sums] = await device.fixedSums.of([gradient]);
    const norm = normOf(sums!);
    if (norm > limit) device.elementwise.scale(gradient, limit / norm);
  }
}
