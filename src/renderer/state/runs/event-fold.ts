/**
 * Folds the list of events: in a row of consecutive measurements, the newest of each type
 * represents all of its type, so that an old switch stays visible. Charts and exports
 * still have every event.
 */
import { eventKindOf, type RunEvent } from '../../../shared/records/record-kinds.ts';

export interface FoldedEvent {
  readonly event: RunEvent;
  /** The event's position among all events, stable while the run continues. */
  readonly index: number;
  /** Number of earlier events of the same type that it represents. */
  readonly folded: number;
}

interface Row extends FoldedEvent {
  /** The position of its event, the newest that it represents. */
  readonly last: number;
}

/** @returns newest first */
export function foldEvents(events: readonly RunEvent[]): readonly FoldedEvent[] {
  const rows: Row[] = [];
  // The current row by type; its key stays while its event changes.
  const open = new Map<RunEvent['type'], number>();
  events.forEach((event, index) => {
    const { type } = event;
    const isFolded = eventKindOf(event).folds;
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
