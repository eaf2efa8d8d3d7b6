/**
 * Sends the non-zero elements of the gradient, without loss: for models with naturally sparse
 * gradients, such as linear models on sparse samples and embedding look-ups. An exchange
 * costs a pass to find them and 8 bytes for each; ranks get the sums that they would
 * get without compression.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 8.2.
 */
import { z } from 'zod';
import type { Region } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Selector } from '../work/selection.ts';
import { wait, type Steps } from '../work/steps.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';

const parameters = z.strictObject({ ...smallTensorParameters });

/** The smallest non-zero magnitude of an f32. */
const SMALLEST = 2 ** -149;

export const nonzero: MethodDefinition<typeof parameters> = {
  id: 'nonzero',
  title: 'Non-zeros',
  summary: 'The exact non-zero elements, for naturally sparse gradients.',
  source: 'SparCML, SC 2019, section 8.2',
  suits:
    'Gradients that are sparse by themselves, as of linear models on sparse samples. Others become longer.',
  parameters,
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  // A Gaussian gradient has no zeros.
  messages: (_parameters, { length }) => [estimated(sparseSum(length, length))],
  create: (context) => new NonZero(context),
};

class NonZero<V> implements Compressor<V> {
  readonly #context: CompressorContext<unknown, V>;
  readonly #selector: Selector<V>;
  #count = 0;

  constructor(context: CompressorContext<unknown, V>) {
    const { length, work } = context;
    this.#context = context;
    this.#selector = work.selector(length, length);
  }

  *encode(gradient: V): Steps<Payload> {
    const entries = yield* wait(this.#selector.reaching(gradient, SMALLEST, 'keep'));
    const { count, offset } = yield* wait(entries.stream());
    this.#count = count;
    const data = { offset, bytes: sparseBytes(count) };
    return { kind: 'sparse', length: this.#context.length, count, data };
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { work, world } = this.#context;
    return { nnzLocal: this.#count, ...work.average(combined, out, world) };
  }

  parse(data: Region): Payload {
    const { length, work } = this.#context;
    return parseSparse(nonzero.id, work.arena, data, length);
  }
}
