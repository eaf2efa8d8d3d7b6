/**
 * Deep Gradient Compression: top-k with velocities instead of gradients in the error
 * memory, so that waiting entries keep their momentum (correction): u ← μ·u + ∇; v ← v +
 * u; the k largest of v are sent and cleared from v, and from u as well (factor masking),
 * so that stale momentum does not keep moving them. The momentum is here instead of in the
 * optimiser (`replacesMomentum`): both the payload and the residual are sums of
 * velocities. If everything is sent and nothing masked, this is SGD with momentum. Weight decay
 * stays in the optimiser, with a velocity of its own.
 *
 * Entries that a partial sum leaves out go back to v; their velocity starts from 0. Records of the ranks'
 * similarity are of v and of u + v; SparCML's ξ is measured against the gradient.
 *
 * A gradient is clipped before it enters the memory, at P^(−1/2) of the global limit; its norm is
 * that of the bucket, in fixed point. The ratio ramps down (`rampIterations`).
 *
 * Source: Deep Gradient Compression (Lin et al., ICLR 2018), section 3.
 */
import { z } from 'zod';
import type { Region } from '../memory/arena.ts';
import {
  diagnosticsMessages,
  diagnosticsParameters,
  withDiagnostics,
} from './diagnostics.ts';
import { sparseSum } from './expected-messages.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { clipNorm } from '../work/clip-norm.ts';
import { isSteps, type Steps } from '../work/steps.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  KeptState,
  MethodDefinition,
} from './method.ts';
import {
  entriesSent,
  rampParameters,
  ratioParameters,
  shareLabel,
} from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { stateOf } from './saved-state.ts';
import { SparseFeedback } from './sparse-feedback.ts';
import { TopKSelection } from './topk-selection.ts';
import { RAMP } from './policy/schedule.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  momentum: z
    .number()
    .min(0)
    .lt(1)
    .optional()
    .describe(
      'Momentum of the local velocities; default: the optimiser’s, which it replaces',
    ),
  factorMasking: z
    .boolean()
    .default(true)
    .describe(
      'Reset the velocity of entries that are sent, so that no stale momentum builds up',
    ),
  clip: z
    .number()
    .min(0)
    .max(1e30)
    .default(0)
    .describe(
      'Limit of the norm of a bucket’s gradient, summed over ranks (for a limit c of the average: P·c); 0: no limit',
    ),
  ...smallTensorParameters,
  ...rampParameters,
  ...diagnosticsParameters,
});
type Parameters = z.infer<typeof parameters>;

export const dgc: MethodDefinition<typeof parameters> = {
  id: 'dgc',
  title: 'DGC',
  summary: 'The k largest sums of velocities; replaces the optimiser’s momentum.',
  source: 'Deep Gradient Compression (Lin et al., ICLR 2018), section 3',
  suits:
    'Very slow links, with momentum, in runs that are much longer than its warm-up.',
  label: shareLabel,
  parameters,
  schedules: [RAMP],
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'velocity',
  // u; v is the residual.
  keptVectors: 1,
  replicas: 'identical',
  messages: (parameters, { length }) => [
    ...diagnosticsMessages(parameters, length),
    sparseSum(length, entriesSent(length, { ratio: parameters.ratio })),
  ],
  replacesMomentum: 'momentum',
  // Velocities are sums of gradients, so changes of the ratio or the momentum keep them
  // valid.
  stateHolds: () => true,
  create: (context) => {
    const correction = new MomentumCorrection(context);
    return withDiagnostics(correction, context, correction.capacity);
  },
};

/** Momentum of a rank without an optimiser. */
const USUAL_MOMENTUM = 0.9;

const momentumOf = ({ momentum }: Pick<Parameters, 'momentum'>): number =>
  momentum ?? USUAL_MOMENTUM;

class MomentumCorrection<V> implements Compressor<V> {
  readonly state: KeptState;
  /** The most entries that it sends. */
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters, V>;
  /** u */
  readonly #velocity: V;
  /** v and its selection: error feedback on velocities. */
  readonly #feedback: SparseFeedback<V>;

  constructor(context: CompressorContext<Parameters, V>) {
    const { length, parameters, work } = context;
    this.#context = context;
    const selection = new TopKSelection({
      ...context,
      parameters: { ...parameters, k: 0, bucket: 0, warmupIterations: 0 },
    });
    this.capacity = selection.capacity;
    this.#feedback = new SparseFeedback(dgc.id, context, selection);
    this.#velocity = work.vector(length);
    this.state = stateOf(dgc.id, work, this.#velocity, length);
  }

  *encode(gradient: V, iteration: number): Steps<Payload> {
    const { parameters, work, world } = this.#context;
    if (parameters.clip > 0)
      yield* clipNorm(work, gradient, parameters.clip / Math.sqrt(world));
    work.blend(this.#velocity, momentumOf(parameters), gradient, 1);
    const encoded = this.#feedback.encode(this.#velocity, iteration);
    const payload = isSteps(encoded) ? yield* encoded : encoded;
    if (parameters.factorMasking) this.#feedback.sent!.clearIn(this.#velocity);
    return payload;
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    return this.#feedback.decode(combined, out);
  }

  parse(data: Region): Payload {
    return this.#feedback.parse(data);
  }
}
