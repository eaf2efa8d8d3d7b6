/**
 * DCT for data parallelism: each tensor has a threshold that is kept between iterations.
 * At a refresh, every `lifeSpan` iterations, τ becomes the k-th largest magnitude of p; in
 * between, all elements with |p| ≥ τ are sent, in one pass. A stale τ would eventually send
 * everything or nothing, so it is refreshed early when the number sent leaves the band
 * [k/band, k·band]. If only ties at τ exceed the band, the lowest indices are sent.
 *
 * τ is selected without sorting; `selection: sort` copies and sorts, for the same τ: the cost that the paper
 * found to take away what compression saves, and that keeping thresholds removes.
 *
 * k is round(n · ratio), at least 1, so without ties a refresh sends k entries. The paper's
 * τ, the ⌊n·η⌋-th smallest for η = 1 − ratio, sends one or two more.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), algorithm 1.
 */
import { z } from 'zod';
import type { Arena } from '../memory/arena.ts';
import type { Entries, StretchSelector, Threshold } from '../work/selection.ts';
import { follow, wait, type Steps } from '../work/steps.ts';
import type { Mirror } from '../work/work.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import { LivingThresholds } from './living-thresholds.ts';
import {
  diagnosticsMessages,
  diagnosticsParameters,
  withDiagnostics,
} from './diagnostics.ts';
import type {
  CompressorContext,
  ExchangeStatistics,
  KeptState,
  MethodDefinition,
} from './method.ts';
import { entriesSent, shareLabel } from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';
import { WARM_UP } from './policy/schedule.ts';

const parameters = z.strictObject({
  ratio: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.01)
    .describe('Fraction of each tensor’s elements to send after a refresh, 1 − η'),
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
      'Refresh a threshold early when it sends this many times too many, or too few, entries',
    ),
  selection: z
    .enum(['select', 'sort'])
    .default('select')
    .describe(
      'How a threshold is found: without sorting, or from a sorted copy, which is slower',
    ),
  ...smallTensorParameters,
  ...warmUpParameters,
  ...diagnosticsParameters,
});
type Parameters = z.infer<typeof parameters>;

export const dct: MethodDefinition<typeof parameters> = {
  id: 'dct',
  title: 'DCT',
  summary:
    'The elements above each tensor’s threshold, which is reused for many iterations.',
  source: 'Gupta et al., “Training recommender systems at scale”, 2021, algorithm 1',
  suits:
    'Large models on slow links: thresholds are found rarely, and in between a selection is one pass over the vector.',
  label: shareLabel,
  parameters,
  schedules: [WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  // k entries of each tensor at a refresh, and k/band to k·band until the next.
  messages: (parameters, { length, tensors }) => {
    const { ratio } = parameters;
    const entries = tensors.map((tensor) => entriesSent(tensor.length, { ratio }));
    return [
      ...diagnosticsMessages(parameters, length),
      estimated(
        sparseSum(
          length,
          entries.reduce((sum, k) => sum + k, 0),
        ),
      ),
    ];
  },
  // A threshold depends on the ratio; its life span may change.
  stateHolds: (before, after) => before.ratio === after.ratio,
  create: (context) => {
    const selection = new ThresholdSelection(context);
    const feedback = new SparseFeedback(dct.id, context, selection);
    return withWarmUp(withDiagnostics(feedback, context, selection.capacity), context);
  },
};

class ThresholdSelection<V> implements Selection<V> {
  readonly capacity: number;
  readonly #thresholds: LivingThresholds;
  readonly #selector: StretchSelector<V>;
  readonly #all: readonly number[];
  /** The vector on the host, where it is sorted. */
  readonly #mirror: Mirror<V> | undefined;
  readonly #arena: Arena;

  constructor({ length, parameters, tensors, work }: CompressorContext<Parameters, V>) {
    this.#arena = work.arena;
    if (parameters.selection === 'sort') this.#mirror = work.mirror(length);
    this.#thresholds = new LivingThresholds(tensors, parameters);
    this.#selector = work.stretchSelector(length, this.#thresholds.layers);
    this.#all = [...this.#thresholds.layers.keys()];
    this.capacity = this.#selector.capacity;
  }

  get state(): KeptState {
    return this.#thresholds.state;
  }

  select(p: V, iteration: number): Entries<V> | Steps<Entries<V>> {
    const due = this.#thresholds.begin(iteration);
    this.#selector.begin(p);
    return due
      ? this.#renewed(p, this.#all)
      : follow(this.#selector.count(this.#questions(this.#all)), (counts) =>
          this.#counted(p, counts),
        );
  }

  statistics(): ExchangeStatistics {
    return {
      thresholdRefreshes: this.#thresholds.refreshes,
      thresholds: () => this.#thresholds.states(),
    };
  }

  /** Takes what reaches the thresholds, of which those out of their band are renewed. */
  #counted(p: V, counts: readonly number[]): Entries<V> | Steps<Entries<V>> {
    const thresholds = this.#thresholds;
    let hold = true;
    for (let layer = 0; layer < counts.length; layer++) {
      thresholds.sends(layer, counts[layer]!);
      hold &&= thresholds.holds(layer, counts[layer]!);
    }
    if (hold) return this.#selector.take();
    return this.#renewed(
      p,
      this.#all.filter((layer) => !thresholds.holds(layer, counts[layer]!)),
    );
  }

  #questions(layers: readonly number[]): readonly Threshold[] {
    return layers.map((stretch) => ({
      stretch,
      threshold: this.#thresholds.at(stretch),
    }));
  }

  /** Takes what reaches the thresholds, after finding new ones for these layers. */
  *#renewed(p: V, layers: readonly number[]): Steps<Entries<V>> {
    const thresholds = this.#thresholds;
    const questions = layers.map((stretch) => ({
      stretch,
      k: thresholds.layers[stretch]!.k,
    }));
    const magnitudes =
      this.#mirror === undefined
        ? yield* wait(this.#selector.kthMagnitudes(questions))
        : yield* this.#sorted(this.#mirror, p, questions);
    layers.forEach((layer, i) => {
      thresholds.refresh(layer, magnitudes[i]!);
    });
    const counts = yield* wait(this.#selector.count(this.#questions(layers)));
    layers.forEach((layer, i) => {
      thresholds.sends(layer, Math.min(counts[i]!, thresholds.layers[layer]!.most));
    });
    return this.#selector.take();
  }

  *#sorted(
    mirror: Mirror<V>,
    p: V,
    questions: readonly { readonly stretch: number; readonly k: number }[],
  ): Steps<readonly number[]> {
    const values = this.#arena.f32(yield* wait(mirror.of(p)));
    return questions.map(({ stretch, k }) => {
      const { length, start } = this.#thresholds.layers[stretch]!;
      const copy = values.slice(start, start + length).map(Math.abs);
      return copy.sort()[length - k]!;
    });
  }
}
