/**
 * Error feedback around a selection, the frame that the sparsifiers share: p = m + ∇; the
 * entries that the method selects of p are sent, the others stay in the residual m. Its
 * cost is a pass for the sum beside the selection's own; the payload is 8·k bytes.
 *
 * What a partial sum leaves out of them (`left-out.ts`) goes back to it.
 *
 * The residual is in gradient units, free of the learning rate η, so that a change of η
 * needs no rescaling: wᵗ − η·avg(mᵗ) = w⁰ − η·Σ avg(∇) for constant η.
 *
 * Source: SparCML (Renggli et al., SC 2019), Algorithm 1.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import { writeAverage } from './average.ts';
import { leftOut } from './left-out.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Compressor, CompressorContext, ExchangeStatistics } from './method.ts';
import { NotFiniteInput } from './not-finite-input.ts';
import { parseSparse } from './payload-check.ts';
import { noState, requireNoState } from './stateless.ts';

/** What a sparsifier sends of p: a pure function of p, the iteration and its own state. */
export interface Selection {
  /** Pairs that no selection exceeds. */
  readonly capacity: number;
  /** Into `out`, memory for `capacity` pairs: ascending indices, values of p. */
  select(p: Vector, iteration: number, out: Region): SparseStream;
  /** More than the numbers of entries, about the last selection. */
  statistics?(): ExchangeStatistics;
  /** State from one selection to the next, where there is any. */
  save?(): Uint8Array;
  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restore?(state: Uint8Array): void;
  /** Memory of its own, where it has any. */
  [Symbol.dispose]?(): void;
}

type SparsePayload = Payload & { readonly kind: 'sparse' };

export class SparseFeedback implements Compressor {
  readonly refusesNotFinite = true;
  readonly #method: string;
  readonly #context: CompressorContext;
  readonly #selection: Selection;
  readonly #residual: Vector;
  readonly #region: Region;
  #payload: SparsePayload;

  constructor(method: string, context: CompressorContext, selection: Selection) {
    const { arena, length, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#selection = selection;
    this.#residual = residual;
    this.#region = arena.allocate(sparseBytes(selection.capacity));
    const data = { offset: this.#region.offset, bytes: 0 };
    this.#payload = { kind: 'sparse', length, count: 0, data };
  }

  encode(gradient: Vector, iteration: number): SparsePayload {
    const { arena, kernels } = this.#context;
    const residual = this.#residual;
    const index = kernels.addFinite(residual, gradient);
    if (index >= 0) throw new NotFiniteInput(index, arena.f32(gradient)[index]!);
    const selected = this.#selection.select(residual, iteration, this.#region);
    kernels.clearAt(residual, selected);
    const { offset, count } = selected;
    if (count !== this.#payload.count) {
      const data = { offset, bytes: sparseBytes(count) };
      this.#payload = { ...this.#payload, count, data };
    }
    return this.#payload;
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    const { arena, kernels, world } = this.#context;
    const { count, data } = this.#payload;
    const sent = { offset: data.offset, count };
    kernels.scatterAdd(this.#residual, leftOut(arena, sent, combined), 1);
    return {
      nnzLocal: this.#payload.count,
      ...this.#selection.statistics?.(),
      ...writeAverage(kernels, combined, out, world),
    };
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(this.#method, arena, data, length);
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
  }
}
