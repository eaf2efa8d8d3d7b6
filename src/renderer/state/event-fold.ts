/**
 * The list of events without its monotony: among measurements in a row, the newest of each
 * type stands for all of its type, so that a switch of long ago is still in sight. Nothing
 * is lost: charts and exports have every one.
 */
import type { RunEvent } from '../../shared/records.ts';

export interface FoldedEvent {
  readonly event: RunEvent;
  /** Its place among all events: stable while the run continues. */
  readonly index: number;
  /** Events of the same type before it that it stands for. */
  readonly folded: number;
}

const FOLDED: ReadonlySet<RunEvent['type']> = new Set([
  'evaluation',
  'divergence',
  'comparison',
  'buckets',
  'similarity',
  'checkpoint',
  'queued',
]);

interface Row extends FoldedEvent {
  /** The place of its event, the newest that it stands for. */
  readonly last: number;
}

/** @returns newest first */
export function foldEvents(events: readonly RunEvent[]): readonly FoldedEvent[] {
  const rows: Row[] = [];
  // By type, the row of the measurements in a row: its key stays while its event changes.
  const open = new Map<RunEvent['type'], number>();
  events.forEach((event, index) => {
    const { type } = event;
    const isFolded = FOLDED.has(type);
    if (!isFolded) open.clear();
    const place = isFolded ? open.get(type) : undefined;
    if (place === undefined) {
      open.set(type, rows.push({ event, index, last: index, folded: 0 }) - 1);
    } else {
      const before = rows[place]!;
      rows[place] = { ...before, event, last: index, folded: before.folded + 1 };
    }
  });
  return rows
    .toSorted((a, b) => b.last - a.last)
    .map(({ event, index, folded }) => ({ event, index, folded }));
}
