/**
 * `scalecom` on the GPU: the leader selects there, and everybody's values at its indices
 * come back. The residual in gradient units, r, is filtered where it lies:
 * p = β·r + ∇; r ← (1−β)·r + p, less p at the indices (`scalecom.ts`).
 */
import type { Region } from '../../memory/arena.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { adoptIndices, indexPayload } from '../leader-indices.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { Communicate, ExchangeStatistics, Similarity } from '../method.ts';
import { parseSparse } from '../payload-check.ts';
import type { RatioSchedule } from '../policy/ratio-schedule.ts';
import { chunkSize } from '../scalecom.ts';
import { noState, requireNoState } from '../stateless.ts';
import { DeviceAverage } from './device-average.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import { SharedIndicesOnDevice } from './device-shared-indices.ts';
import { SimilarityOnDevice } from './device-similarity.ts';
import { TopKOnDevice } from './device-topk.ts';

interface Parameters extends RatioSchedule {
  readonly beta: number;
  readonly selection: 'exact' | 'chunk';
  readonly chunk: number;
  readonly diagnosticsEvery: number;
  readonly warmupIterations: number;
}

const METHOD = 'scalecom';

export const scalecomOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const { parameters } = typed;
  const shape = { ...parameters, k: 0, bucket: chunkSize(parameters) };
  return withDeviceWarmUp(typed, () => {
    const selection = TopKOnDevice.create({ ...typed, parameters: shape });
    return selection && new ScaleComOnDevice(typed, selection);
  });
};

class ScaleComOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  readonly #residual: GpuVector;
  readonly #selection: TopKOnDevice;
  readonly #shared: SharedIndicesOnDevice;
  readonly #average: DeviceAverage;
  readonly #likeness: SimilarityOnDevice | undefined;

  constructor(context: DeviceContext<Parameters>, selection: TopKOnDevice) {
    const { residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${METHOD} without a residual`);
    }
    this.#context = context;
    this.#residual = residual;
    this.#selection = selection;
    this.#shared = new SharedIndicesOnDevice(context, selection.capacity);
    this.#average = new DeviceAverage(context);
    if (context.parameters.diagnosticsEvery > 0) {
      this.#likeness = new SimilarityOnDevice(context, selection.capacity);
    }
  }

  async exchange(
    gradient: GpuVector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    const { length, rank, world } = this.#context;
    const leader = iteration % world;
    this.#compensate(gradient);
    this.#shared.resize(this.#selection.count(iteration));
    if (rank === leader) {
      await this.#shared.adopt(this.#selection.select(gradient, iteration, false));
    }
    const indices = await communicate({
      operation: 'broadcast',
      root: leader,
      payload: indexPayload(this.#shared.list, length),
    });
    if (rank !== leader) this.#adopt(indices, leader);
    const similarity = await this.#compare(gradient, iteration, communicate);
    const values = this.#shared.gather(gradient);
    this.#keepBack(gradient);
    const payload = await values;
    const sums = await communicate({ operation: 'reduce', payload });
    const statistics = this.#shared.scatterAverage(sums, gradient);
    return similarity === undefined ? statistics : { ...statistics, similarity };
  }

  /** What a rank alone would send: its own selection, as pairs. */
  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { length } = this.#context;
    this.#compensate(gradient);
    const stream = this.#selection.select(gradient, iteration, false);
    const { count } = stream;
    this.#shared.resize(count);
    const read = this.#shared.adopt(stream);
    const values = this.#shared.gather(gradient);
    this.#keepBack(gradient);
    await Promise.all([read, values]);
    const data = { offset: this.#shared.region.offset, bytes: 8 * count };
    return { kind: 'sparse', length, count, data };
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    return this.#average.write(combined, out);
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(METHOD, arena, data, length);
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(METHOD, state);
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
    this.#shared[Symbol.dispose]();
    this.#average[Symbol.dispose]();
    this.#likeness?.[Symbol.dispose]();
  }

  /** How alike the ranks are, of p and the residual of before, in iterations that are due. */
  async #compare(
    p: GpuVector,
    iteration: number,
    communicate: Communicate,
  ): Promise<Similarity | undefined> {
    const { diagnosticsEvery } = this.#context.parameters;
    if (this.#likeness === undefined || (iteration + 1) % diagnosticsEvery !== 0) {
      return undefined;
    }
    const { list } = this.#shared;
    return await this.#likeness.observe(this.#residual, p, list, communicate);
  }

  /** p = β·r + ∇, in the gradient's memory. */
  #compensate(gradient: GpuVector): void {
    const { device, parameters } = this.#context;
    device.elementwise.blend(gradient, 1, this.#residual, parameters.beta);
  }

  /** r ← (1−β)·r + p, less p at the indices; p is cleared there. */
  #keepBack(p: GpuVector): void {
    const { device, parameters } = this.#context;
    device.elementwise.clearAt(p, this.#shared.stream);
    device.elementwise.blend(this.#residual, 1 - parameters.beta, p, 1);
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the leader */
  #adopt(combined: Combined, leader: number): void {
    const { arena, length } = this.#context;
    adoptIndices(arena, this.#shared.list, combined, {
      method: METHOD,
      leader,
      length,
    });
    this.#shared.upload();
  }
}
