/**
 * Times and bytes of each stream, summed until they are taken. The phase clock writes it: one
 * addition for each stretch of time.
 */
import { BUCKET_PHASES, type BucketPhase } from '../../shared/records/bucket-sums.ts';
import type { Phase } from '../../shared/records/phases.ts';

export interface StreamTotals {
  /** Milliseconds of each phase that nothing hid. */
  readonly phases: Readonly<Record<BucketPhase, number>>;
  /** Milliseconds of all phases while the trainer computed. */
  readonly hidden: number;
  /** Bytes sent, without framing. */
  readonly sent: number;
}

interface Totals {
  readonly phases: Record<BucketPhase, number>;
  hidden: number;
  sent: number;
}

const zeros = (): Totals => ({
  phases: { compress: 0, send: 0, receive: 0, wait: 0, reduce: 0, decompress: 0 },
  hidden: 0,
  sent: 0,
});

const isOfBuckets = (phase: Phase): phase is BucketPhase =>
  (BUCKET_PHASES as readonly Phase[]).includes(phase);

export class StreamTimes {
  /** Totals of each stream; streams have small numbers. */
  readonly #totals: (Totals | undefined)[] = [];

  /** Adds time to a phase of a stream; negative: no stream. */
  add(stream: number, phase: Phase, elapsed: number): void {
    if (stream >= 0 && isOfBuckets(phase)) this.#of(stream).phases[phase] += elapsed;
  }

  /** Time that was added before turns out to be hidden. */
  hide(stream: number, phase: Phase, elapsed: number): void {
    if (stream < 0 || !isOfBuckets(phase)) return;
    const totals = this.#of(stream);
    totals.phases[phase] -= elapsed;
    totals.hidden += elapsed;
  }

  sent(stream: number, bytes: number): void {
    if (stream >= 0) this.#of(stream).sent += bytes;
  }

  /** Takes a stream's totals since the last time. */
  take(stream: number): StreamTotals {
    const totals = this.#totals[stream] ?? zeros();
    this.#totals[stream] = undefined;
    return totals;
  }

  #of(stream: number): Totals {
    return (this.#totals[stream] ??= zeros());
  }
}
