/**
 * Gaussian-k: about k entries without an exact selection. If p were normal with its mean
 * μ and deviation σ, about a share `ratio` of the elements would have |p| ≥ τ = |μ| + σ·z,
 * with z the normal quantile of 1 − ratio/2. Of a long vector μ and σ are those of a sample
 * (`vector-sample.ts`), as τ is a first guess: real gradients have heavier tails (ten times
 * as many entries reach τ on Student's t₃ at 0.1 %), so τ is corrected until the count is
 * in [3k/4, 5k/4]: by bisection on candidates that one pass has collected, if between
 * 3k/4 and 16·k entries reach the first τ; otherwise τ is first moved there. Error feedback
 * makes that the usual case: a residual lacks the entries above the last τ, and after a few
 * iterations hardly any entry reaches τ. The sample shows it and then gives the first τ itself.
 *
 * Cost: the sum, the sample (summed in fixed point, so that all backends estimate alike),
 * one or a few passes to collect. If no threshold has a count in the band (ties), exactly k
 * are selected. Zeros are never sent: if fewer than 3k/4 entries are non-zero, all of those
 * are.
 *
 * Source: "Understanding top-k sparsification in distributed deep learning" (Shi et al.,
 * 2019), algorithm 1; the sample and the correction are ours.
 */
import { z } from 'zod';
import type { Entries, Leave, Selector } from '../work/selection.ts';
import { wait, type Steps } from '../work/steps.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import {
  diagnosticsMessages,
  diagnosticsParameters,
  withDiagnostics,
} from './diagnostics.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import {
  entriesSent,
  largestRatio,
  rampParameters,
  ratioAt,
  ratioParameters,
  shareLabel,
} from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';
import {
  estimateThreshold,
  mostCandidates,
  mostSelected,
  searchThreshold,
} from './threshold-search.ts';
import { RAMP, WARM_UP } from './policy/schedule.ts';
import { VectorSample } from './vector-sample.ts';

/** A sample must contain at least this many of the k entries to show that too few reach a threshold. */
const LEAST_EVIDENCE = 8;
/** Entries that reach a threshold, in multiples of k: where the search has room for them. */
const MOST_REACHING = 12;
/** Multiples of k to aim at: fluctuations of a sample leave it above 3k/4. */
const REACHING = 3;

const parameters = z.strictObject({
  ...ratioParameters,
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
  ...diagnosticsParameters,
});
type Parameters = z.infer<typeof parameters>;

export const gaussiank: MethodDefinition<typeof parameters> = {
  id: 'gaussiank',
  title: 'Gaussian-k',
  summary: 'About k entries, above a threshold estimated from mean and deviation.',
  source: 'Shi et al., 2019, algorithm 1',
  suits:
    'Slow links, as for top-k, where exact selection takes too long and gradients are close to Gaussian.',
  label: shareLabel,
  parameters,
  schedules: [RAMP, WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  // The search ends at 3k/4 to 5k/4 entries, or at k.
  messages: (parameters, { length }) => [
    ...diagnosticsMessages(parameters, length),
    estimated(sparseSum(length, entriesSent(length, { ratio: parameters.ratio }))),
  ],
  create: (context) => {
    const selection = new GaussianSelection(context);
    const feedback = new SparseFeedback(gaussiank.id, context, selection);
    return withWarmUp(withDiagnostics(feedback, context, selection.capacity), context);
  },
};

class GaussianSelection<V> implements Selection<V> {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters, V>;
  readonly #sample: VectorSample<V>;
  readonly #selector: Selector<V>;

  constructor(context: CompressorContext<Parameters, V>) {
    const { length, parameters, work } = context;
    const k = entriesSent(length, { ratio: largestRatio(parameters) });
    this.#context = context;
    // One more than the band allows shows that there are too many.
    this.capacity = mostSelected(k) + 1;
    this.#sample = new VectorSample(work, length);
    this.#selector = work.selector(length, this.capacity);
  }

  *select(p: V, iteration: number, leave: Leave): Steps<Entries<V>> {
    const { length, parameters } = this.#context;
    const ratio = ratioAt(parameters, iteration);
    const k = entriesSent(length, { ratio });
    const sums = yield* this.#sample.fixedSums(p);
    const estimate = this.#plausible(estimateThreshold(sums, ratio), k);
    const questions = searchThreshold(length, k, estimate);
    const search = this.#selector.search(p, mostCandidates(length, k));
    let step = questions.next();
    while (step.done !== true) {
      const { threshold, limit, among } = step.value;
      step = questions.next(yield* wait(search.count(threshold, limit, among)));
    }
    const found = step.value;
    switch (found.kind) {
      case 'largest':
        return this.#selector.topK(p, k, leave);
      case 'reaching':
        return search.reaching(found.threshold, found.count, leave);
      case 'ties':
        return search.ties(found, k, leave);
      default:
        return found satisfies never;
    }
  }

  /** The estimate or, if the sample contradicts it, a magnitude that some 3k entries reach. */
  #plausible(estimate: number, k: number): number {
    const { size } = this.#sample;
    if (size === 0) return estimate;
    const wanted = (k * size) / this.#context.length;
    const reaching = this.#sample.reaching(estimate);
    const tooFew = wanted >= LEAST_EVIDENCE && reaching < 0.75 * wanted;
    const tooMany = reaching > MOST_REACHING * Math.max(wanted, 1);
    if (!tooFew && !tooMany) return estimate;
    const rank = Math.min(Math.max(1, Math.ceil(REACHING * wanted)), size);
    return this.#sample.kthMagnitude(rank);
  }
}
