/**
 * The list of events without its monotony: among measurements in a row, the newest of each
 * type stands for all of its type, so that a switch of long ago is still in sight. Nothing
 * is lost: charts and exports have every one.
 */
import type { RunEvent } from '../../shared/records.ts';

export interface FoldedEvent {
  readonly event: RunEvent;
  /** Its place among all events: stable while the run goes on. */
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

/** @returns newest first */
export function foldEvents(events: readonly RunEvent[]): readonly FoldedEvent[] {
  const folded: FoldedEvent[] = [];
  // By type, the row of the measurements in a row: its key stays while its event changes.
  const rows = new Map<RunEvent['type'], number>();
  events.forEach((event, index) => {
    const { type } = event;
    if (!FOLDED.has(type)) {
      rows.clear();
      folded.push({ event, index, folded: 0 });
      return;
    }
    const row = rows.get(type);
    if (row === undefined) {
      rows.set(type, folded.push({ event, index, folded: 0 }) - 1);
    } else {
      const before = folded[row]!;
      folded[row] = { ...before, event, folded: before.folded + 1 };
    }
  });
  return folded.reverse();
}
