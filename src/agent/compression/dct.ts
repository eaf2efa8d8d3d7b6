/**
 * DCT for data parallelism: a threshold for each tensor that lives on. At a refresh, every
 * `lifeSpan` iterations, τ becomes the k-th largest magnitude of p; in between the entries
 * with |p| ≥ τ are sent, one pass, however many they are. A stale τ would at last send
 * everything or nothing, so it is refreshed early when the number sent leaves the band
 * [k/band, k·band]. Where ties at τ alone leave it, lowest indices go first.
 *
 * k is round(n · ratio), at least 1, so without ties a refresh sends k entries. The paper's
 * τ, the ⌊n·η⌋-th smallest for η = 1 − ratio, sends one or two more.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), algorithm 1.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import { closeStream } from '../kernels/sparsification.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import { LivingThresholds } from './living-thresholds.ts';
import type {
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { entriesSent } from './policy/ratio-schedule.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';

const parameters = z.strictObject({
  ratio: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.01)
    .describe('Fraction of each tensor’s entries to send after a refresh, 1 − η'),
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
      'Refresh a threshold early when it sends this many times too much or too little',
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
  // k of each tensor at a refresh, and k/band to k·band until the next.
  messages: ({ ratio }, { length, tensors }) => {
    const entries = tensors.map((tensor) => entriesSent(tensor.length, { ratio }));
    return [
      estimated(
        sparseSum(
          length,
          entries.reduce((sum, k) => sum + k, 0),
        ),
      ),
    ];
  },
  // A threshold is that of a ratio; how long it lives may change.
  stateHolds: (before, after) => before.ratio === after.ratio,
  create: (context) =>
    withWarmUp(
      new SparseFeedback(dct.id, context, new ThresholdSelection(context)),
      context,
    ),
};

class ThresholdSelection implements Selection {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters>;
  readonly #thresholds: LivingThresholds;

  constructor(context: CompressorContext<Parameters>) {
    this.#context = context;
    this.#thresholds = new LivingThresholds(context.tensors, context.parameters);
    // One more than the band allows tells that there are too many.
    const { layers } = this.#thresholds;
    this.capacity = layers.reduce((sum, { most }) => sum + most + 1, 0);
  }

  select(p: Vector, iteration: number, { offset }: Region): SparseStream {
    const { arena, kernels } = this.#context;
    const thresholds = this.#thresholds;
    const room = { offset, capacity: this.capacity };
    const due = thresholds.begin(iteration);
    let count = 0;
    thresholds.layers.forEach(({ k, length, most, start }, layer) => {
      const x = { offset: p.offset + 4 * start, length };
      const send = (limit: number): number => {
        const threshold = thresholds.at(layer);
        const { sparsification } = kernels;
        return sparsification.appendAtLeast(x, threshold, start, room, count, limit);
      };
      if (!due) {
        const next = send(most + 1);
        if (thresholds.holds(layer, next - count)) {
          thresholds.sends(layer, next - count);
          count = next;
          return;
        }
      }
      thresholds.refresh(layer, kernels.sparsification.kthMagnitude(x, k));
      const next = send(most);
      thresholds.sends(layer, next - count);
      count = next;
    });
    return closeStream(arena, room, count);
  }

  statistics(): ExchangeStatistics {
    return {
      thresholdRefreshes: this.#thresholds.refreshes,
      thresholds: () => this.#thresholds.states(),
    };
  }

  save(): Uint8Array {
    return this.#thresholds.save();
  }

  restore(state: Uint8Array): void {
    this.#thresholds.restore(state);
  }
}
