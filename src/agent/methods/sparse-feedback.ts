/**
 * Error feedback around a selection, the frame that the sparsifiers share: p = m + ∇; the
 * entries of p that the method selects are sent, the others stay in the residual m. It
 * costs one pass for the sum plus the selection; the payload is 8·k bytes.
 *
 * Entries that a partial sum leaves out (`left-out.ts`) go back to the residual.
 *
 * The residual is in gradient units, free of the learning rate η, so that a change of η
 * needs no rescaling: wᵗ − η·avg(mᵗ) = w⁰ − η·Σ avg(∇) for constant η.
 *
 * Source: SparCML (Renggli et al., SC 2019), Algorithm 1.
 */
import type { Region } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Entries, Leave } from '../work/selection.ts';
import { follow, type Answer, type Steps } from '../work/steps.ts';
import { leftOut } from './left-out.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  KeptState,
} from './method.ts';
import { parseSparse } from './payload-check.ts';

/** A sparsifier's selection: a pure function of p, the iteration and its own state. */
export interface Selection<V> {
  /** The most entries of any selection. */
  readonly capacity: number;
  /**
   * Selects entries, valid until the next selection, and leaves the rest of p in place.
   * Returns the entries or, if it has to wait for a device, a promise or steps.
   */
  select(p: V, iteration: number, leave: Leave): Answer<Entries<V>> | Steps<Entries<V>>;
  /** Statistics of the last selection beyond the number of entries. */
  statistics?(): ExchangeStatistics;
  /** State kept between selections, if any. */
  readonly state?: KeptState | undefined;
}

type SparsePayload = Payload & { readonly kind: 'sparse' };

export class SparseFeedback<V> implements Compressor<V> {
  readonly refusesNotFinite = true;
  readonly #method: string;
  readonly #context: CompressorContext<unknown, V>;
  readonly #selection: Selection<V>;
  readonly #residual: V;
  /** The entries that the last encode sent, in the arena. */
  #stream: SparseStream = { offset: 0, count: 0 };
  #sent: Entries<V> | undefined;

  constructor(
    method: string,
    context: CompressorContext<unknown, V>,
    selection: Selection<V>,
  ) {
    const { residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#selection = selection;
    this.#residual = residual;
  }

  get state(): KeptState | undefined {
    return this.#selection.state;
  }

  /** The entries that the last encode sent; valid until the next one. */
  get sent(): Entries<V> | undefined {
    return this.#sent;
  }

  encode(gradient: V, iteration: number): SparsePayload | Steps<SparsePayload> {
    const { work } = this.#context;
    work.addFinite(this.#residual, gradient);
    const selected = this.#selection.select(this.#residual, iteration, 'clear');
    return follow(selected, this.#send);
  }

  readonly #send = (entries: Entries<V>): SparsePayload | Steps<SparsePayload> => {
    this.#sent = entries;
    return follow(entries.stream(), this.#payload);
  };

  readonly #payload = (stream: SparseStream): SparsePayload => {
    this.#stream = stream;
    const { count, offset } = stream;
    const data = { offset, bytes: sparseBytes(count) };
    return { kind: 'sparse', length: this.#context.length, count, data };
  };

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { work, world } = this.#context;
    const { count } = this.#stream;
    work.scatterAdd(this.#residual, leftOut(work.arena, this.#stream, combined), 1);
    return {
      nnzLocal: count,
      ...this.#selection.statistics?.(),
      ...work.average(combined, out, world),
    };
  }

  parse(data: Region): Payload {
    const { length, work } = this.#context;
    return parseSparse(this.#method, work.arena, data, length);
  }
}
