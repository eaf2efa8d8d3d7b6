/**
 * Top-k with error feedback: p = m + ∇; the k entries of p with the largest |p| are sent,
 * the others stay in the residual m. Exactly k, ties by lower index. Its cost is a pass
 * for the sum and about two for the selection; the payload is 8·k bytes.
 *
 * The residual is in gradient units, free of the learning rate η, so that a change of η
 * needs no rescaling: wᵗ − η·avg(mᵗ) = w⁰ − η·Σ avg(∇) for constant η.
 *
 * Source: SparCML (Renggli et al., SC 2019), Algorithm 1.
 */
import { z } from 'zod';
import type { Region, Vector } from '../kernels/arena.ts';
import { sparseBytes } from '../kernels/kernels.ts';
import { writeAverage } from './average.ts';
import type {
  Combined,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
  Payload,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import { noState, requireNoState } from './stateless.ts';

const parameters = z.strictObject({
  ratio: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.01)
    .describe('Share of the entries that is sent, k/N; at least one of each bucket'),
  k: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Entries sent of each bucket; 0: the ratio decides'),
});
type Parameters = z.infer<typeof parameters>;

export const topk: MethodDefinition<typeof parameters> = {
  id: 'topk',
  title: 'Top-k',
  summary: 'The k entries of largest magnitude; the rest waits in a residual.',
  source: 'SparCML (Renggli et al., SC 2019), Algorithm 1',
  parameters,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  create: (context) => new TopK(context),
};

/** Entries sent of a bucket of n: the ratio's share to the nearest, but at least one. */
export function entriesSent(n: number, { ratio, k }: Parameters): number {
  return Math.min(n, k > 0 ? k : Math.max(1, Math.round(ratio * n)));
}

class TopK implements Compressor {
  readonly #context: CompressorContext<Parameters>;
  readonly #residual: Vector;
  readonly #region: Region;
  readonly #payload: Payload & { readonly kind: 'sparse' };

  constructor(context: CompressorContext<Parameters>) {
    const { length, residual } = context;
    if (residual === undefined) throw new Error('internal: topk without a residual');
    const count = entriesSent(length, context.parameters);
    this.#context = context;
    this.#residual = residual;
    this.#region = context.arena.allocate(sparseBytes(count));
    this.#payload = {
      kind: 'sparse',
      length,
      count,
      data: { offset: this.#region.offset, bytes: sparseBytes(count) },
    };
  }

  encode(gradient: Vector): Payload {
    const { kernels } = this.#context;
    const residual = this.#residual;
    kernels.add(residual, gradient);
    const selected = kernels.selectTopK(residual, this.#payload.count, this.#region);
    kernels.clearAt(residual, selected);
    return this.#payload;
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    const { kernels, world } = this.#context;
    return {
      nnzLocal: this.#payload.count,
      ...writeAverage(kernels, combined, out, world),
    };
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(topk.id, arena, data, length);
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(topk.id, state);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#region);
  }
}
