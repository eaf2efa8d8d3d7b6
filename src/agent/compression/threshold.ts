/**
 * Every entry of p with |p| ≥ τ, for a τ that is given and stays: one pass, a payload of
 * as many pairs as there happen to be, from none to all.
 *
 * Source: "Scalable distributed DNN training using commodity GPU cloud computing" (Strom,
 * Interspeech 2015), section 4, with the values themselves instead of ±τ.
 */
import { z } from 'zod';
import { closeStream } from '../kernels/sparsification.ts';
import { ASSUMED_DEVIATION, estimated, sparseSum } from './expected-messages.ts';
import type { MethodDefinition } from './method.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';

const parameters = z.strictObject({
  threshold: z
    .number()
    .gt(0)
    .max(1e30)
    .default(0.001)
    .describe('Entries of at least this magnitude are sent, residual included'),
  ...smallTensorParameters,
  ...warmUpParameters,
});

export const threshold: MethodDefinition<typeof parameters> = {
  id: 'threshold',
  title: 'Threshold',
  summary: 'The entries that reach a fixed magnitude; the rest waits in a residual.',
  source: 'Strom, Interspeech 2015, section 4',
  parameters,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  messages: ({ threshold: τ }, { length }) => [
    estimated(
      sparseSum(length, Math.round(length * shareReaching(τ / ASSUMED_DEVIATION))),
    ),
  ],
  create: (context) => {
    const { arena, kernels, length, parameters } = context;
    const selection: Selection = {
      capacity: length,
      select: (p, _iteration, { offset }) => {
        const room = { offset, capacity: length };
        const count = kernels.sparsification.appendAtLeast(
          p,
          parameters.threshold,
          0,
          room,
          0,
          length,
        );
        return closeStream(arena, room, count);
      },
    };
    return withWarmUp(new SparseFeedback(threshold.id, context, selection), context);
  },
};

/**
 * The share of the entries that is sent in an iteration, once the residual has settled, of
 * Gaussian gradients with a threshold of this many deviations. An entry of the residual walks
 * from 0 until it reaches ±τ, which takes about 1 + 2ρ·a + a² steps (ρ = 0.583, the mean
 * overshoot of a Gaussian walk), and is sent then.
 *
 * Source: Siegmund, "Sequential Analysis", 1985, chapter 10, for ρ.
 */
function shareReaching(deviations: number): number {
  return 1 / (1 + 1.166 * deviations + deviations ** 2);
}
