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
} from '../../../src/agent/methods/method.ts';
import type { Region, Vector } from '../../../src/agent/memory/arena.ts';
import type { Entries, EntryRoom } from '../../../src/agent/work/selection.ts';
import { wait, type Steps } from '../../../src/agent/work/steps.ts';

const parameters = z.strictObject({
  stride: z.int().min(1).max(1000).default(4).describe('Entries from one that is sent'),
});

type Parameters = z.infer<typeof parameters>;

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

class Striding<V> implements Compressor<V> {
  readonly #context: CompressorContext<Parameters, V>;
  readonly #room: EntryRoom<V>;

  constructor(context: CompressorContext<Parameters, V>) {
    const { length, parameters, work } = context;
    this.#context = context;
    this.#room = work.entries(valuesOf(length, parameters.stride));
  }

  *encode(gradient: V, iteration: number): Steps<Payload> {
    const { residual, work } = this.#context;
    work.add(residual!, gradient);
    const entries = this.#entries(iteration);
    entries.gather(residual!);
    entries.clearIn(residual!);
    return dense(yield* wait(entries.values()));
  }

  decode(combined: Combined, out: V, iteration: number): ExchangeStatistics {
    const { work, world } = this.#context;
    if (combined.form !== 'dense') throw new Error(`internal: ${combined.form} sums`);
    const entries = this.#entries(iteration);
    entries.setValues({ offset: combined.data.offset, length: entries.count });
    work.clear(out);
    entries.addTo(out, 1 / world);
    return { nnzLocal: entries.count };
  }

  parse({ offset, bytes }: Region): Payload {
    return dense({ offset, length: bytes / 4 });
  }

  #entries(iteration: number): Entries<V> {
    const { length, parameters, work } = this.#context;
    const { stride } = parameters;
    const first = iteration % stride;
    const count = Math.max(0, Math.ceil((length - first) / stride));
    const { offset } = this.#room.list(count);
    const indices = work.arena.u32(offset, count);
    for (let i = 0; i < count; i++) indices[i] = first + i * stride;
    return this.#room.named(count);
  }
}

function dense({ offset, length }: Vector): Payload {
  return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
}
