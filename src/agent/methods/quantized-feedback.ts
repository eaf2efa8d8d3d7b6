/**
 * Error feedback around a selection with quantised values, SparCML's combination of
 * sparsity and low precision: p = m + ∇; the selected entries of p are sent, their
 * values as levels of a scale for each run of values. The quantisation error stays in
 * the residual with the entries that were not selected: m ← p − g for the g that was
 * sent, so the invariant of error feedback holds as for exact values. This departs from
 * SparCML: its Algorithm 1 removes the selected entries from the residual before
 * quantising them, and drops the error.
 *
 * The payload is laid out in `work/quantized-entries.ts`. It is gathered, as scales differ.
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 6 and 8.
 */
import type { Quantizer } from '../kernels/quantization.ts';
import type { Region } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { EntryCoder } from '../work/quantized-entries.ts';
import { isSteps, wait, type Steps } from '../work/steps.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  KeptState,
} from './method.ts';
import { sentBy } from './payload-check.ts';
import { checkQuantized } from './quantized-stream.ts';
import { NOISE_PURPOSE } from './sectioned-compressor.ts';
import type { Selection } from './sparse-feedback.ts';

export class QuantizedFeedback<V> implements Compressor<V> {
  readonly #method: string;
  readonly #context: CompressorContext<unknown, V>;
  readonly #selection: Selection<V>;
  readonly #quantizer: Quantizer;
  readonly #coder: EntryCoder<V>;
  readonly #residual: V;
  #sent = 0;

  /** @throws BeyondDevice */
  constructor(
    method: string,
    context: CompressorContext<unknown, V>,
    selection: Selection<V>,
    quantizer: Quantizer,
  ) {
    const { residual, work } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#selection = selection;
    this.#quantizer = quantizer;
    this.#coder = work.entryCoder(selection.capacity, quantizer);
    this.#residual = residual;
  }

  get state(): KeptState | undefined {
    return this.#selection.state;
  }

  *encode(gradient: V, iteration: number): Steps<Payload> {
    const { bucket, length, rank, seed, work } = this.#context;
    const residual = this.#residual;
    work.add(residual, gradient);
    const selected = this.#selection.select(residual, iteration, 'keep');
    const entries = isSteps(selected) ? yield* selected : yield* wait(selected);
    const noise = { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE };
    const data = yield* wait(this.#coder.encode(entries, noise));
    entries.addTo(residual, -1);
    this.#sent = entries.count;
    return { kind: 'quantized', length, data };
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: V): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums here`);
    }
    const { work, world } = this.#context;
    work.clear(out);
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        this.#coder.addTo(out, data, this.#check(data));
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) work.scale(out, 1 / world);
    return { nnzLocal: this.#sent, ...this.#selection.statistics?.() };
  }

  parse(data: Region): Payload {
    this.#check(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  /** Entries of the payload. @throws GradwireError `PAYLOAD_INVALID` */
  #check(data: Region): number {
    const { length, work } = this.#context;
    const { capacity } = this.#selection;
    const { arena } = work;
    return checkQuantized(this.#method, arena, data, this.#quantizer, length, capacity);
  }
}
