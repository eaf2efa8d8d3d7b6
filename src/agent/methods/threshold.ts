/**
 * Sends every entry of p with |p| ≥ τ, for a fixed τ: one pass, and a payload of any
 * number of pairs, from none to all.
 *
 * Source: "Scalable distributed DNN training using commodity GPU cloud computing" (Strom,
 * Interspeech 2015), section 4, with the values themselves instead of ±τ.
 */
import { z } from 'zod';
import type { Entries, Leave, Selector } from '../work/selection.ts';
import type { Answer } from '../work/steps.ts';
import { ASSUMED_DEVIATION, estimated, sparseSum } from './expected-messages.ts';
import {
  diagnosticsMessages,
  diagnosticsParameters,
  withDiagnostics,
} from './diagnostics.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';
import { WARM_UP } from './policy/schedule.ts';

const parameters = z.strictObject({
  threshold: z
    .number()
    .gt(0)
    .max(1e30)
    .default(0.001)
    .describe('Elements of at least this magnitude are sent, residual included'),
  ...smallTensorParameters,
  ...warmUpParameters,
  ...diagnosticsParameters,
});

type Parameters = z.infer<typeof parameters>;

export const threshold: MethodDefinition<typeof parameters> = {
  id: 'threshold',
  title: 'Threshold',
  summary: 'The elements that reach a fixed magnitude; the rest stays in a residual.',
  source: 'Strom, Interspeech 2015, section 4',
  suits:
    'Gradients of a known and steady scale. How much is sent follows the gradient.',
  label: ({ threshold: τ }) => `≥ ${τ}`,
  parameters,
  schedules: [WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, { length }) => [
    ...diagnosticsMessages(parameters, length),
    estimated(
      sparseSum(
        length,
        Math.round(length * shareReaching(parameters.threshold / ASSUMED_DEVIATION)),
      ),
    ),
  ],
  create: (context) => {
    const selection = new FixedThreshold(context);
    const feedback = new SparseFeedback(threshold.id, context, selection);
    return withWarmUp(withDiagnostics(feedback, context, selection.capacity), context);
  },
};

class FixedThreshold<V> implements Selection<V> {
  readonly capacity: number;
  readonly #threshold: number;
  readonly #selector: Selector<V>;

  constructor({ length, parameters, work }: CompressorContext<Parameters, V>) {
    this.capacity = length;
    this.#threshold = parameters.threshold;
    this.#selector = work.selector(length, length);
  }

  select(p: V, _iteration: number, leave: Leave): Answer<Entries<V>> {
    return this.#selector.reaching(p, this.#threshold, leave);
  }
}

/**
 * The share of the elements sent in an iteration, once the residual has settled, for Gaussian
 * gradients and a threshold of `a` deviations. An entry of the residual walks from 0 until it
 * reaches ±τ, after about 1 + 2ρ·a + a² steps (ρ = 0.583, the mean overshoot of a Gaussian
 * walk), and is then sent.
 *
 * Source: Siegmund, "Sequential Analysis", 1985, chapter 10, for ρ.
 */
function shareReaching(deviations: number): number {
  return 1 / (1 + 1.166 * deviations + deviations * deviations);
}
