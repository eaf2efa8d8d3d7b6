/**
 * Error feedback around a selection on the GPU, the frame of the sparsifiers as
 * `sparse-feedback.ts` is on the CPU. The residual never leaves; what is selected is taken
 * from it there, and only the stream of it is read back; of that, what a partial sum leaves
 * out returns.
 */
import type { Region } from '../../memory/arena.ts';
import { sparseBytes } from '../../memory/entries.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { leftOut } from '../left-out.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import { parseSparse } from '../payload-check.ts';
import { noState, requireNoState } from '../stateless.ts';
import { DeviceAverage } from './device-average.ts';
import type { DeviceCompressor, DeviceContext } from './device-method.ts';
import { StreamUpload } from './stream-upload.ts';

/** What a sparsifier sends of p, as `Selection`, with p and what is selected on a GPU. */
export interface SelectionOnDevice extends Disposable {
  /** Pairs that no selection exceeds. */
  readonly capacity: number;
  /**
   * A stream of ascending indices and values of p, valid until the next selection.
   * @param clear whether p gets zeros in their stead
   */
  select(
    p: GpuVector,
    iteration: number,
    clear: boolean,
  ): GpuStream | Promise<GpuStream>;
  /** More than the numbers of entries, about the last selection. */
  statistics?(): ExchangeStatistics;
  /** State from one selection to the next, where there is any. */
  save?(): Uint8Array;
  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restore?(state: Uint8Array): void;
}

type SparsePayload = Payload & { readonly kind: 'sparse' };

export class FeedbackOnDevice implements DeviceCompressor {
  readonly #method: string;
  readonly #context: DeviceContext;
  readonly #residual: GpuVector;
  readonly #selection: SelectionOnDevice;
  readonly #average: DeviceAverage;
  readonly #region: Region;
  /** For what a partial sum left out. */
  readonly #back: StreamUpload;
  #sent: GpuStream | undefined;

  constructor(method: string, context: DeviceContext, selection: SelectionOnDevice) {
    const { arena, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#residual = residual;
    this.#selection = selection;
    this.#average = new DeviceAverage(context);
    this.#back = new StreamUpload(context.device, arena);
    this.#region = arena.allocate(sparseBytes(selection.capacity));
  }

  /** What the last encode sent, on the device until the next. */
  get sent(): GpuStream | undefined {
    return this.#sent;
  }

  async encode(gradient: GpuVector, iteration: number): Promise<SparsePayload> {
    const { device, length } = this.#context;
    device.elementwise.add(this.#residual, gradient);
    const stream = await this.#selection.select(this.#residual, iteration, true);
    this.#sent = stream;
    return {
      kind: 'sparse',
      length,
      count: stream.count,
      data: await this.#read(stream),
    };
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    const { arena } = this.#context;
    const sent = { offset: this.#region.offset, count: this.#sent?.count ?? 0 };
    this.#back.scatterAdd(this.#residual, leftOut(arena, sent, combined), 1);
    return {
      nnzLocal: this.#sent?.count ?? 0,
      ...this.#selection.statistics?.(),
      ...this.#average.write(combined, out),
    };
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(this.#method, arena, data, length);
  }

  save(): Uint8Array {
    return this.#selection.save?.() ?? noState();
  }

  restore(state: Uint8Array): void {
    if (this.#selection.restore === undefined) requireNoState(this.#method, state);
    else this.#selection.restore(state);
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
    this.#average[Symbol.dispose]();
    this.#back[Symbol.dispose]();
    this.#context.arena.release(this.#region);
  }

  async #read({ indices, values, count }: GpuStream): Promise<Region> {
    const { arena, device } = this.#context;
    const { ring } = device.gpu;
    const { offset } = this.#region;
    await Promise.all([
      ring.read(indices, 0, arena.u8(offset, 4 * count)),
      ring.read(values, 0, arena.u8(offset + 4 * count, 4 * count)),
    ]);
    return { offset, bytes: sparseBytes(count) };
  }
}
