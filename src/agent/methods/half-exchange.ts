/**
 * Sends the whole gradient in 16 bits, to be summed on its way: every addition of a collective
 * is in f32 and rounded to 16 bits again. A rank sends its gradient divided by P, so that the
 * sum is the average and does not overflow where no gradient does. What is lost is lost: there
 * is no residual.
 */
import { z } from 'zod';
import type { Region } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { HalfType } from '../memory/value-type.ts';
import type { HalfCoder } from '../work/halves.ts';
import { follow, type Steps } from '../work/steps.ts';
import { halfSum } from './expected-messages.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { payloadInvalid, requireBytes } from './payload-check.ts';
import { roundingParameter } from './policy/rounding.ts';

const parameters = z.strictObject({ rounding: roundingParameter });
type Parameters = z.infer<typeof parameters>;

const NOISE_PURPOSE = 1 << 16;

/** A method that sends the gradient as values of this type. */
export const halfPrecision = (
  values: HalfType,
  names: Pick<MethodDefinition, 'id' | 'title' | 'summary' | 'source' | 'suits'>,
): MethodDefinition<typeof parameters> => ({
  ...names,
  label: ({ rounding }) => (rounding === 'nearest' ? '' : rounding),
  parameters,
  payload: 'dense',
  values,
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  messages: (_parameters, { length }) => [halfSum(length)],
  create: (context) => new HalfExchange(names.id, values, context),
});

class HalfExchange<V> implements Compressor<V> {
  readonly #method: string;
  readonly #values: HalfType;
  readonly #context: CompressorContext<Parameters, V>;
  readonly #coder: HalfCoder<V>;

  constructor(
    method: string,
    values: HalfType,
    context: CompressorContext<Parameters, V>,
  ) {
    this.#method = method;
    this.#values = values;
    this.#context = context;
    this.#coder = context.work.halves(context.length, values);
  }

  encode(gradient: V, iteration: number): Payload | Steps<Payload> {
    const { bucket, parameters: given, rank, seed, world } = this.#context;
    const noise = { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE };
    const data = this.#coder.encode(
      gradient,
      1 / world,
      given.rounding === 'stochastic' ? noise : undefined,
    );
    return follow(data, (region) => this.#payload(region));
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    if (combined.form !== 'dense') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums`);
    }
    this.#coder.decode(combined.data, out);
    return {};
  }

  parse(data: Region): Payload {
    requireBytes(this.#method, data, 2 * this.#context.length);
    const { halfPrecision: kernels } = this.#context.work.kernels;
    const index = kernels.firstNonFinite(this.#values, data);
    if (index >= 0) throw payloadInvalid(this.#method, `value ${index} is not finite`);
    return this.#payload(data);
  }

  #payload(data: Region): Payload {
    const { length } = this.#context;
    return { kind: 'dense', length, data, values: this.#values };
  }
}
