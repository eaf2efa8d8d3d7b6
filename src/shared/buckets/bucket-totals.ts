/** Sums of one bucket over intervals and ranks, and the means that follow from them. */
import type { BucketSum } from '../records/bucket-sums.ts';
import type { BucketMeasure, BucketValues } from './bucket-measures.ts';

export class BucketTotals {
  /** Exchanges that are summed, of all ranks; a part of an interval counts as one. */
  exchanges = 0;
  #time = 0;
  readonly #parts = {
    wait: 0,
    transfer: 0,
    compress: 0,
    combine: 0,
    hidden: 0,
    begin: 0,
    end: 0,
  };
  /** Bytes of payloads, and the exchanges whose payloads were seen. */
  readonly #payload = { bytes: 0, exchanges: 0 };
  /** Bytes sent, and the exchanges that sent some. */
  readonly #sent = { bytes: 0, exchanges: 0 };
  /** Elements and entries of the exchanges that selected. */
  readonly #selected = { elements: 0, local: 0 };
  readonly #reduced = { local: 0, reduced: 0 };
  readonly #residual = new Mean();
  readonly #error = new Mean();

  /** Milliseconds of all ranks in all exchanges. */
  get time(): number {
    return this.#time;
  }

  /**
   * Adds a share of an interval, 0…1.
   * @param ofInterval exchanges of the whole interval
   */
  add(sum: BucketSum, ofInterval: number, share: number): void {
    const { ownExchanges: exchanges = ofInterval } = sum;
    const { compress = 0, decompress = 0, receive = 0, reduce = 0 } = sum;
    const { nnzLocal, nnzReduced, send = 0, wait = 0 } = sum;
    const { nnzCounted = nnzLocal, selections = exchanges } = sum;
    const parts = this.#parts;
    this.exchanges += share * exchanges;
    this.#time += share * (compress + send + receive + wait + reduce + decompress);
    parts.wait += share * wait;
    parts.transfer += share * (send + receive);
    parts.compress += share * compress;
    parts.combine += share * (reduce + decompress);
    parts.hidden += share * (sum.hidden ?? 0);
    parts.begin += share * sum.begin;
    parts.end += share * sum.end;
    if (sum.payload !== undefined) {
      this.#payload.bytes += share * sum.payload;
      this.#payload.exchanges += share * exchanges;
    }
    if (sum.sent !== undefined) {
      this.#sent.bytes += share * sum.sent;
      this.#sent.exchanges += share * exchanges;
    }
    if (nnzLocal !== undefined) {
      this.#selected.elements += share * selections * sum.length;
      this.#selected.local += share * nnzLocal;
      if (nnzReduced !== undefined) {
        this.#reduced.local += share * nnzCounted!;
        this.#reduced.reduced += share * nnzReduced;
      }
    }
    // Measured at the interval's end, they stand for all of its exchanges.
    this.#residual.add(sum.residualNorm, share * exchanges);
    this.#error.add(sum.error, share * exchanges);
  }

  /** The mean of a measure; undefined if it was not observed. */
  mean(measure: BucketMeasure): number | undefined {
    switch (measure) {
      case 'time':
        return quotient(this.#time, this.exchanges);
      case 'payload':
        return quotient(this.#payload.bytes, this.#payload.exchanges);
      case 'sent':
        return quotient(this.#sent.bytes, this.#sent.exchanges);
      case 'density':
        return quotient(this.#selected.local, this.#selected.elements);
      case 'fillIn':
        return quotient(this.#reduced.reduced, this.#reduced.local);
      case 'residualNorm':
        return this.#residual.value;
      case 'error':
        return this.#error.value;
      default:
        return quotient(this.#parts[measure], this.exchanges);
    }
  }

  means(measures: readonly BucketMeasure[]): BucketValues {
    return Object.fromEntries(
      measures.flatMap((measure) => {
        const value = this.mean(measure);
        return value === undefined ? [] : [[measure, value]];
      }),
    );
  }
}

class Mean {
  #sum = 0;
  #weight = 0;

  add(value: number | undefined, weight: number): void {
    if (value === undefined) return;
    this.#sum += weight * value;
    this.#weight += weight;
  }

  get value(): number | undefined {
    return quotient(this.#sum, this.#weight);
  }
}

const quotient = (sum: number, count: number): number | undefined =>
  count === 0 ? undefined : sum / count;
