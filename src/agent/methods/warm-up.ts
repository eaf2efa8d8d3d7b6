/**
 * Warm-up: the first iterations of a run, or after a switch that asks for it, are
 * uncompressed, because gradients change fastest then, and error feedback would apply
 * most of them late. A residual (after a switch of methods in the warm-up) is sent with
 * the first of them, so nothing is lost.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), section 4: one to five epochs.
 */
import { z } from 'zod';
import { isSteps, wait, type Steps } from '../work/steps.ts';
import { DenseExchange } from './dense-exchange.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
} from './method.ts';
import { passesParameter } from './policy/passes.ts';
import { startParameter } from './policy/starts.ts';

export const warmUpParameters = {
  warmupIterations: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations without compression before the method starts'),
  warmupEpochs: passesParameter('warmupIterations'),
  warmupStart: startParameter('warm-up'),
};

export interface WarmUp {
  readonly warmupIterations: number;
  /** The iteration at which it begins; 0 by default. */
  readonly warmupStart?: number | undefined;
}

function isWarming(
  { warmupIterations, warmupStart = 0 }: WarmUp,
  iteration: number,
): boolean {
  return warmupIterations > 0 && iteration < warmupStart + warmupIterations;
}

/** Uses `compressor` once the warm-up has ended. */
export function withWarmUp<V>(
  after: Compressor<V>,
  context: CompressorContext<WarmUp, V>,
): Compressor<V> {
  const { parameters } = context;
  if (parameters.warmupIterations === 0) return after;
  const before = new DenseExchange('the warm-up', context);
  const at = (iteration: number): Compressor<V> =>
    isWarming(parameters, iteration) ? before : after;
  function* exchange(
    gradient: V,
    iteration: number,
    communicate: Communicate,
  ): Steps<ExchangeStatistics> {
    if (at(iteration) === after) {
      return yield* after.exchange!(gradient, iteration, communicate);
    }
    const encoded = before.encode(gradient);
    const payload = isSteps(encoded) ? yield* encoded : encoded;
    const combined = yield* wait(communicate({ operation: 'reduce', payload }));
    return before.decode(combined, gradient);
  }
  return {
    encode: (gradient, iteration) => at(iteration).encode(gradient, iteration),
    decode: (combined, out, iteration) =>
      at(iteration).decode(combined, out, iteration),
    ...(after.exchange && { exchange }),
    // Dense in the warm-up, whatever the method sends later.
    parse: (data, iteration) => at(iteration).parse(data, iteration),
    state: after.state,
  };
}
