/**
 * No compression: the gradient itself travels, in place. The baseline that every other
 * method is compared with, so it must cost nothing beyond the division by P.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import { writeAverage } from './average.ts';
import { denseSum } from './expected-messages.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { requireBytes } from './payload-check.ts';
import { noState, requireNoState } from './stateless.ts';

const parameters = z.strictObject({});

export const none: MethodDefinition<typeof parameters> = {
  id: 'none',
  title: 'None (dense)',
  summary: 'Every element of the gradient, as 32-bit floats.',
  source: 'Synchronous data-parallel SGD',
  parameters,
  payload: 'dense',
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  messages: (_parameters, { length }) => [denseSum(length)],
  create: (context) => new NoCompression(context),
};

class NoCompression implements Compressor {
  readonly #context: CompressorContext;
  #payload: Payload | undefined;

  constructor(context: CompressorContext) {
    this.#context = context;
  }

  encode({ offset, length }: Vector): Payload {
    if (this.#payload?.data.offset !== offset) {
      this.#payload = { kind: 'dense', length, data: { offset, bytes: 4 * length } };
    }
    return this.#payload;
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    return writeAverage(this.#context.kernels, combined, out, this.#context.world);
  }

  parse(data: Region): Payload {
    const { length } = this.#context;
    requireBytes(none.id, data, 4 * length);
    return { kind: 'dense', length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(none.id, state);
  }

  [Symbol.dispose](): void {
    this.#payload = undefined;
  }
}
