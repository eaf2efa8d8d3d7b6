/**
 * Random block coordinate descent: each rank has a slice of the vector and contributes the
 * gradient at k coordinates of it, drawn at random. Slices are disjoint, so payloads are
 * united, not averaged, and no coordinate is sent twice. 8·k bytes per rank for any N. There
 * is no residual: the other coordinates do not move in this step.
 *
 * In iteration t rank i has slice (i + t) mod P. A rank's gradient is that of its own samples;
 * with fixed slices, a weight would follow the samples of one rank forever, and the weights
 * would converge to a point that is not the minimum over all samples. In P consecutive
 * iterations every rank has every slice once.
 *
 * Sources: SparCML (Renggli et al., SC 2019), section 8.2; Wright, "Coordinate descent
 * algorithms" (Mathematical Programming, 2015), which SparCML follows; for what they
 * leave open see docs/decisions/054-block-coordinate-descent.md.
 */
import { z } from 'zod';
import type { Region } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { RandomStream } from '../kernels/random.ts';
import { indexBytes } from '../kernels/sparsification.ts';
import type { Entries, EntryRoom } from '../work/selection.ts';
import { follow, type Steps } from '../work/steps.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';

const parameters = z.strictObject({
  k: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(100)
    .describe('Coordinates that each rank contributes to each bucket'),
  ...smallTensorParameters,
});
type Parameters = z.infer<typeof parameters>;

export const blockcd: MethodDefinition<typeof parameters> = {
  id: 'blockcd',
  title: 'Block coordinate descent',
  summary:
    'The gradient at k random coordinates of a slice that no other rank has; the other weights do not change.',
  source: 'SparCML (Renggli et al., SC 2019), section 8.2',
  suits:
    'Linear models on sparse samples, with many ranks. A step moves few weights, so it takes more steps.',
  label: ({ k }) => `k=${k}`,
  parameters,
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  movesPart: true,
  messages: ({ k }, { length, world }) => {
    const message = sparseSum(length, Math.min(k, Math.ceil(length / world)));
    // Slices of fewer than k coordinates are sent whole, and their lengths may differ
    // by one.
    const even = length % world === 0 || k <= Math.floor(length / world);
    return [even ? message : estimated(message)];
  },
  create: (context) => new BlockCoordinates(context),
};

/** Separates these draws from others with the same position: "bloc". */
const BLOCK_PURPOSE = 0x626c6f63;

class BlockCoordinates<V> implements Compressor<V> {
  readonly #context: CompressorContext<Parameters, V>;
  readonly #room: EntryRoom<V>;
  #count = 0;

  constructor(context: CompressorContext<Parameters, V>) {
    const { length, parameters, work, world } = context;
    this.#context = context;
    this.#room = work.entries(Math.min(parameters.k, Math.ceil(length / world)));
  }

  encode(gradient: V, iteration: number): Payload | Steps<Payload> {
    const entries = this.#draw(iteration);
    entries.gather(gradient);
    return follow(entries.stream(), this.#payload);
  }

  readonly #payload = ({ count, offset }: SparseStream): Payload => {
    this.#count = count;
    const data = { offset, bytes: sparseBytes(count) };
    return { kind: 'sparse', length: this.#context.length, count, data };
  };

  /** The sum is the union: no coordinate is in two payloads. */
  decode(combined: Combined, out: V): ExchangeStatistics {
    const united = this.#context.work.average(combined, out, 1);
    return { nnzLocal: this.#count, ...united };
  }

  parse(data: Region): Payload {
    const { length, work } = this.#context;
    return parseSparse(blockcd.id, work.arena, data, length);
  }

  #draw(iteration: number): Entries<V> {
    const { bucket, parameters, rank, seed, work } = this.#context;
    const { start, end } = this.#slice(iteration);
    const count = Math.min(parameters.k, end - start);
    const name: RandomStream = {
      seed,
      rank,
      bucket,
      iteration,
      purpose: BLOCK_PURPOSE,
    };
    const { offset } = this.#room.list(count);
    const { sparsification } = work.kernels;
    const region = { offset, bytes: indexBytes(count) };
    sparsification.drawIndices(end - start, count, name, region);
    const indices = work.arena.u32(offset, count);
    for (let i = 0; i < count; i++) indices[i]! += start;
    return this.#room.named(count);
  }

  /** Coordinates [start, end); lengths of slices differ by at most one. */
  #slice(iteration: number): { readonly start: number; readonly end: number } {
    const { length, rank, world } = this.#context;
    const slice = (rank + iteration) % world;
    const bound = (index: number): number => Math.floor((index * length) / world);
    return { start: bound(slice), end: bound(slice + 1) };
  }
}
