/**
 * The two ends of each message in the traces of several ranks. Messages of an exchange on a stream
 * between two ranks are numbered alike at both ends, in their order. Times are
 * nanoseconds since `base`, each by the clock of its rank.
 */
import type { TraceRecord } from '../records/trace.ts';

export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly bucket: number;
  readonly stream: number;
  readonly bytes: number;
  /** Iteration in which it was sent. */
  readonly iteration: number;
  readonly sent: number;
  readonly received: number;
}

/** The moment from which times of several records count: ms since 1970. */
export const baseOf = (records: readonly TraceRecord[]): number =>
  Math.floor(Math.min(...records.map(({ origin }) => origin)));

/** Nanoseconds from the base to a record's origin. */
export const originIn = (base: number, { origin }: TraceRecord): number =>
  Math.round((origin - base) * 1e6);

interface Sent {
  readonly iteration: number;
  readonly bucket: number;
  readonly bytes: number;
  readonly at: number;
}

/** Messages of which both ends were traced. */
export function arrowsOf(
  records: readonly TraceRecord[],
  base: number,
): readonly Arrow[] {
  const sent = new Map<string, Sent[]>();
  const arrows: Arrow[] = [];
  const inOrder = records.toSorted((a, b) => a.iteration - b.iteration);
  for (const record of inOrder) {
    const { iteration, messages, rank } = record;
    const origin = originIn(base, record);
    for (const [received, peer, bucket, stream, sequence, bytes, at] of messages) {
      if (received === 1) continue;
      const key = [rank, peer, stream, sequence].join();
      const list = sent.get(key) ?? [];
      sent.set(key, list);
      list.push({ iteration, bucket, bytes, at: origin + at });
    }
  }
  const taken = new Map<string, number>();
  for (const record of inOrder) {
    const origin = originIn(base, record);
    for (const [received, peer, , stream, sequence, bytes, at] of record.messages) {
      if (received === 0) continue;
      const key = [peer, record.rank, stream, sequence].join();
      const number = taken.get(key) ?? 0;
      taken.set(key, number + 1);
      const match = sent.get(key)?.[number];
      if (match?.bytes !== bytes) continue;
      arrows.push({
        from: peer,
        to: record.rank,
        bucket: match.bucket,
        stream,
        bytes,
        iteration: match.iteration,
        sent: match.at,
        received: origin + at,
      });
    }
  }
  return arrows;
}
