/**
 * The entries of the gradient that are not 0, and nothing is lost: for models whose gradient
 * is sparse by itself, as linear models of sparse samples and looked-up embeddings have it.
 * An exchange costs a pass to find the entries and 8 bytes for each; ranks get the sums that
 * they would get without compression.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 8.2.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { closeStream } from '../kernels/sparsification.ts';
import { writeAverage } from './average.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { noState, requireNoState } from './stateless.ts';

const parameters = z.strictObject({ ...smallTensorParameters });

/** The smallest magnitude that an f32 can have beside 0. */
const SMALLEST = 2 ** -149;

export const nonzero: MethodDefinition<typeof parameters> = {
  id: 'nonzero',
  title: 'Non-zeros',
  summary:
    'The entries that are not 0, exactly: for gradients that are sparse by themselves.',
  source: 'SparCML, SC 2019, section 8.2',
  parameters,
  payload: 'sparse',
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  // Of a Gaussian gradient no entry is 0.
  messages: (_parameters, { length }) => [estimated(sparseSum(length, length))],
  create: (context) => new NonZero(context),
};

class NonZero implements Compressor {
  readonly #context: CompressorContext;
  readonly #region: Region;
  #count = 0;

  constructor(context: CompressorContext) {
    this.#context = context;
    this.#region = context.arena.allocate(sparseBytes(context.length));
  }

  encode(gradient: Vector): Payload {
    const { arena, kernels, length } = this.#context;
    const room = { offset: this.#region.offset, capacity: length };
    const { sparsification } = kernels;
    const found = sparsification.appendAtLeast(gradient, SMALLEST, 0, room, 0, length);
    const { count, offset } = closeStream(arena, room, found);
    this.#count = count;
    return {
      kind: 'sparse',
      length,
      count,
      data: { offset, bytes: sparseBytes(count) },
    };
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    const { kernels, world } = this.#context;
    return { nnzLocal: this.#count, ...writeAverage(kernels, combined, out, world) };
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(nonzero.id, arena, data, length);
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(nonzero.id, state);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#region);
  }
}
