/**
 * The average over ranks on the GPU, from whatever form the collective left the sum in: as
 * `average.ts`, with the same roundings, so the same bits.
 */
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import type { DeviceContext } from './device-method.ts';
import { StreamUpload } from './stream-upload.ts';

export class DeviceAverage implements Disposable {
  readonly #context: DeviceContext;
  readonly #upload: StreamUpload;

  constructor(context: DeviceContext) {
    this.#context = context;
    this.#upload = new StreamUpload(context.device, context.arena);
  }

  /** out ← combined / world. @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE` */
  write(combined: Combined, out: GpuVector): ExchangeStatistics {
    const { device, arena, world } = this.#context;
    switch (combined.form) {
      case 'dense': {
        const { offset } = combined.data;
        device.gpu.write(out, arena.f32({ offset, length: out.length }));
        this.#divide(out);
        return {};
      }
      case 'sparse': {
        const stream = { offset: combined.data.offset, count: combined.count };
        device.elementwise.clear(out);
        this.#upload.scatterAdd(out, stream, 1 / world);
        return { nnzReduced: combined.count };
      }
      case 'gathered': {
        device.elementwise.clear(out);
        for (const payload of combined.payloads) {
          if (payload.kind !== 'sparse') {
            throw new Error(
              `internal: a gathered ${payload.kind} payload has no sum here`,
            );
          }
          const { data, count } = payload;
          this.#upload.scatterAdd(out, { offset: data.offset, count }, 1);
        }
        this.#divide(out);
        return {};
      }
      default:
        return combined satisfies never;
    }
  }

  [Symbol.dispose](): void {
    this.#upload[Symbol.dispose]();
  }

  #divide(out: GpuVector): void {
    const { device, world } = this.#context;
    if (world > 1) device.elementwise.scale(out, 1 / world);
  }
}
