/**
 * DCT for data parallelism: a threshold for each tensor that lives on. At a refresh, every
 * `lifeSpan` iterations, τ becomes the k-th largest magnitude of p; in between the entries
 * with |p| ≥ τ are sent, one pass, however many they are. A stale τ would at last send
 * everything or nothing, so it is refreshed early when the number sent leaves the band
 * [k/band, k·band]. Where ties at τ alone leave it, lowest indices go first.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), algorithm 1.
 */
import { z } from 'zod';
import type { Region, Vector } from '../kernels/arena.ts';
import type { SparseStream } from '../kernels/kernels.ts';
import { closeStream } from '../kernels/sparsification.ts';
import type {
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
  TensorSlice,
} from './method.ts';
import { entriesSent } from './policy/ratio-schedule.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './policy/warm-up.ts';
import { packState, unpackState } from './saved-state.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';

const parameters = z.strictObject({
  ratio: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.01)
    .describe('Share of each tensor’s entries that is sent after a refresh, 1 − η'),
  lifeSpan: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .default(1000)
    .describe('Iterations between refreshes of the thresholds, L'),
  band: z
    .number()
    .min(1)
    .max(1000)
    .default(4)
    .describe(
      'A threshold is refreshed early when it sends so many times too much, or too little',
    ),
  ...smallTensorParameters,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const dct: MethodDefinition<typeof parameters> = {
  id: 'dct',
  title: 'DCT',
  summary: 'The entries above a threshold per tensor that is kept for many iterations.',
  source: 'Gupta et al., “Training recommender systems at scale”, 2021, algorithm 1',
  parameters,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  create: (context) =>
    withWarmUp(
      new SparseFeedback(dct.id, context, new LivingThresholds(context)),
      context,
    ),
};

/** The least threshold: entries that are zero need never be sent. */
const LEAST = 2 ** -149;
/** No selection has been made yet. */
const NEVER = 0xffff_ffff;

interface Layer extends TensorSlice {
  readonly k: number;
  /** The most that the band allows. */
  readonly most: number;
}

class LivingThresholds implements Selection {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters>;
  readonly #layers: readonly Layer[];
  /** τ of each layer. */
  readonly #thresholds: Float32Array;
  /** The iteration of the first refresh: the phase of L. */
  readonly #origin = Uint32Array.of(NEVER);
  #refreshes = 0;

  constructor(context: CompressorContext<Parameters>) {
    const { ratio, band } = context.parameters;
    this.#context = context;
    this.#layers = context.tensors
      .filter(({ length }) => length > 0)
      .map((tensor) => {
        const k = entriesSent(tensor.length, { ratio });
        return { ...tensor, k, most: Math.min(tensor.length, Math.floor(band * k)) };
      });
    this.#thresholds = new Float32Array(this.#layers.length);
    // One more than the band allows tells that there are too many.
    this.capacity = this.#layers.reduce((sum, { most }) => sum + most + 1, 0);
  }

  select(p: Vector, iteration: number, { offset }: Region): SparseStream {
    if (this.#origin[0] === NEVER) this.#origin[0] = iteration;
    const age = (iteration - this.#origin[0]!) % this.#context.parameters.lifeSpan;
    const room = { offset, capacity: this.capacity };
    this.#refreshes = 0;
    let count = 0;
    this.#layers.forEach((layer, index) => {
      const x = { offset: p.offset + 4 * layer.start, length: layer.length };
      const send = (limit: number): number =>
        this.#context.kernels.sparsification.appendAtLeast(
          x,
          this.#thresholds[index]!,
          layer.start,
          room,
          count,
          limit,
        );
      if (age !== 0) {
        const next = send(layer.most + 1);
        if (this.#holds(layer, index, next - count)) {
          count = next;
          return;
        }
      }
      this.#refresh(x, layer, index);
      count = send(layer.most);
    });
    return closeStream(this.#context.arena, room, count);
  }

  statistics(): ExchangeStatistics {
    return { thresholdRefreshes: this.#refreshes };
  }

  save(): Uint8Array {
    return packState(dct.id, this.#origin, this.#thresholds);
  }

  restore(state: Uint8Array): void {
    unpackState(dct.id, state, this.#origin, this.#thresholds);
  }

  /** Whether so many entries are in the band, or no lower threshold could send more. */
  #holds({ k, most }: Layer, index: number, count: number): boolean {
    const enough = count * this.#context.parameters.band >= k;
    return count <= most && (enough || this.#thresholds[index] === LEAST);
  }

  #refresh(x: Vector, { k }: Layer, index: number): void {
    const magnitude = this.#context.kernels.sparsification.kthMagnitude(x, k);
    this.#thresholds[index] = Math.max(magnitude, LEAST);
    this.#refreshes++;
  }
}
