/**
 * How alike the ranks are (`similarity.ts`), where p and the residual are on a GPU: both are
 * read back, which is dear beside a payload and done in the iterations that are due.
 */
import { vectorOf, type Region } from '../../memory/arena.ts';
import type { IndexList } from '../../kernels/sparsification.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Communicate, Similarity } from '../method.ts';
import { SimilarityProbe } from '../similarity.ts';
import type { DeviceContext } from './device-method.ts';

export class SimilarityOnDevice implements Disposable {
  readonly #context: DeviceContext;
  readonly #probe: SimilarityProbe;
  readonly #residual: Region;
  readonly #p: Region;

  /** For at most `capacity` indices. */
  constructor(context: DeviceContext, capacity: number) {
    const { arena, length } = context;
    this.#context = context;
    this.#probe = new SimilarityProbe(context, capacity);
    this.#residual = arena.allocateVector(length);
    this.#p = arena.allocateVector(length);
  }

  /** All ranks at once; `residual` and `p` stay as they are. */
  async observe(
    residual: GpuVector,
    p: GpuVector,
    chosen: IndexList,
    communicate: Communicate,
  ): Promise<Similarity> {
    const { arena, device, length } = this.#context;
    const kept = vectorOf(this.#residual, length);
    const sum = vectorOf(this.#p, length);
    await Promise.all([
      device.gpu.read(residual, arena.f32(kept)),
      device.gpu.read(p, arena.f32(sum)),
    ]);
    return await this.#probe.observe(kept, sum, chosen, communicate);
  }

  [Symbol.dispose](): void {
    const { arena } = this.#context;
    this.#probe[Symbol.dispose]();
    arena.release(this.#residual);
    arena.release(this.#p);
  }
}
