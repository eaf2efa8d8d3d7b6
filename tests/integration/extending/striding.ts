/**
 * A method from outside: every `stride`-th entry of p = m + ∇, beginning with another one in
 * each iteration; the others wait in the residual. All ranks send the same places, so values
 * are summed densely.
 */
import { z } from 'zod';
import type { Combined, Payload } from '../../../src/agent/memory/payload.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from '../../../src/agent/compression/method.ts';
import type { Region, Vector } from '../../../src/agent/memory/arena.ts';

const parameters = z.strictObject({
  stride: z.int().min(1).max(1000).default(4).describe('Entries from one that is sent'),
});

const valuesOf = (length: number, stride: number): number => Math.ceil(length / stride);

export const striding: MethodDefinition<typeof parameters> = {
  id: 'striding',
  title: 'Striding',
  summary: 'Every stride-th entry, in turn; the rest waits.',
  source: 'A test',
  parameters,
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  messages: ({ stride }, { length }) => {
    const values = valuesOf(length, stride);
    return [{ operation: 'reduce', kind: 'dense', length: values, bytes: 4 * values }];
  },
  create: (context) => new Striding(context),
};

class Striding implements Compressor {
  readonly #context: CompressorContext<z.infer<typeof parameters>>;
  readonly #values: Vector & Region;

  constructor(context: CompressorContext<z.infer<typeof parameters>>) {
    const { arena, length, parameters } = context;
    const count = valuesOf(length, parameters.stride);
    this.#context = context;
    this.#values = { ...arena.allocateVector(count), length: count };
  }

  encode(gradient: Vector, iteration: number): Payload {
    const { arena, kernels, parameters, residual } = this.#context;
    kernels.add(residual!, gradient);
    const p = arena.f32(residual!);
    const values = arena.f32(this.#values).fill(0);
    const { stride } = parameters;
    for (let i = iteration % stride, k = 0; i < p.length; i += stride, k++) {
      values[k] = p[i]!;
      p[i] = 0;
    }
    const { offset, length } = this.#values;
    return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
  }

  decode(combined: Combined, out: Vector, iteration: number): ExchangeStatistics {
    if (combined.form !== 'dense') throw new Error(`internal: ${combined.form} sums`);
    const { arena, parameters, world } = this.#context;
    const { length } = this.#values;
    const sums = arena.f32({ offset: combined.data.offset, length });
    const average = arena.f32(out).fill(0);
    const { stride } = parameters;
    for (let i = iteration % stride, k = 0; i < average.length; i += stride, k++) {
      average[i] = sums[k]! / world;
    }
    return { nnzLocal: length };
  }

  parse(data: Region): Payload {
    return { kind: 'dense', length: this.#values.length, data };
  }

  save(): Uint8Array {
    return new Uint8Array();
  }

  restore(): void {
    // There is no state but the residual.
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#values);
  }
}
