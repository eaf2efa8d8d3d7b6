/**
 * Error feedback around a selection whose values are quantised as well, SparCML's
 * composition of sparsity and low precision: p = m + ∇; of p the selected entries are
 * sent, their values as levels of a scale for each run of values. What quantisation adds
 * or takes away stays in the residual, with the entries that were not selected:
 * m ← p − g for the g that was sent, so the invariant of error feedback holds as it does
 * for exact values. Here this departs from SparCML: its Algorithm 1 takes the selected
 * entries out of the residual before they are quantised, and drops the error.
 *
 * The payload is laid out in `quantized-stream.ts`. It is gathered, as scales differ.
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 6 and 8.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { Quantizer } from '../kernels/quantization.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Compressor, CompressorContext, ExchangeStatistics } from './method.ts';
import { sentBy } from './payload-check.ts';
import { checkQuantized, quantizedBytes, quantizedParts } from './quantized-stream.ts';
import type { Selection } from './sparse-feedback.ts';
import { noState, requireNoState } from './stateless.ts';
import { NOISE_PURPOSE } from './stochastic-codec.ts';

export class QuantizedFeedback implements Compressor {
  readonly #method: string;
  readonly #context: CompressorContext;
  readonly #selection: Selection;
  readonly #quantizer: Quantizer;
  readonly #residual: Vector;
  /** Entries with exact or decoded values. */
  readonly #stream: Region;
  readonly #region: Region;
  #payload: Payload & { readonly kind: 'quantized' };
  #sent = 0;

  constructor(
    method: string,
    context: CompressorContext,
    selection: Selection,
    quantizer: Quantizer,
  ) {
    const { arena, length, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#selection = selection;
    this.#quantizer = quantizer;
    this.#residual = residual;
    this.#stream = arena.allocate(sparseBytes(selection.capacity));
    this.#region = arena.allocate(quantizedBytes(selection.capacity, quantizer));
    this.#payload = { kind: 'quantized', length, data: this.#region };
  }

  encode(gradient: Vector, iteration: number): Payload {
    const { arena, kernels, seed, rank, bucket } = this.#context;
    const residual = this.#residual;
    kernels.add(residual, gradient);
    const { offset, count } = this.#selection.select(residual, iteration, this.#stream);
    const data = {
      offset: this.#region.offset,
      bytes: quantizedBytes(count, this.#quantizer),
    };
    const { indices, scales, codes } = quantizedParts(
      data.offset,
      count,
      this.#quantizer,
    );
    arena.u32(data.offset, 1)[0] = count;
    kernels.copy(indices, { offset, length: count });
    const values = { offset: offset + 4 * count, length: count };
    kernels.quantization.quantize(
      values,
      this.#quantizer,
      'max',
      { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE },
      scales,
      codes,
    );
    kernels.quantization.dequantize(values, this.#quantizer, scales, codes, false);
    kernels.scatterAdd(residual, { offset, count }, -1);
    this.#sent = count;
    if (data.bytes !== this.#payload.data.bytes) {
      this.#payload = { ...this.#payload, data };
    }
    return this.#payload;
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: Vector): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums here`);
    }
    const { kernels, world } = this.#context;
    kernels.fill(out, 0);
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        kernels.scatterAdd(out, this.#read(data), 1);
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) kernels.scale(out, 1 / world);
    return { nnzLocal: this.#sent, ...this.#selection.statistics?.() };
  }

  parse(data: Region): Payload {
    this.#check(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return this.#selection.save?.() ?? noState();
  }

  restore(state: Uint8Array): void {
    if (this.#selection.restore === undefined) requireNoState(this.#method, state);
    else this.#selection.restore(state);
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]?.();
    this.#context.arena.release(this.#region);
    this.#context.arena.release(this.#stream);
  }

  /** The entries of a payload, with their decoded values. */
  #read(data: Region): SparseStream {
    const { kernels } = this.#context;
    const count = this.#check(data);
    const { offset } = this.#stream;
    const { indices, scales, codes } = quantizedParts(
      data.offset,
      count,
      this.#quantizer,
    );
    kernels.copy({ offset, length: count }, indices);
    const values = { offset: offset + 4 * count, length: count };
    kernels.quantization.dequantize(values, this.#quantizer, scales, codes, false);
    return { offset, count };
  }

  /** Entries of the payload. @throws GradwireError `PAYLOAD_INVALID` */
  #check(data: Region): number {
    const { arena, length } = this.#context;
    const { capacity } = this.#selection;
    return checkQuantized(this.#method, arena, data, this.#quantizer, length, capacity);
  }
}
