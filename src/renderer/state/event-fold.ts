/**
 * The list of events without its monotony: of evaluations in a row the newest stands for
 * all, so that a switch of long ago is still in sight. Nothing is lost: charts and exports
 * have every one.
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
  'similarity',
  'checkpoint',
  'queued',
]);

/** @returns newest first */
export function foldEvents(events: readonly RunEvent[]): readonly FoldedEvent[] {
  const folded: FoldedEvent[] = [];
  // The start of a row is its key: its newest member changes with every evaluation.
  let start = 0;
  events.forEach((event, index) => {
    const previous = folded.at(-1);
    if (previous?.event.type === event.type && FOLDED.has(event.type)) {
      folded[folded.length - 1] = { event, index: start, folded: index - start };
    } else {
      start = index;
      folded.push({ event, index, folded: 0 });
    }
  });
  return folded.reverse();
}
