/**
 * The events of a run that the page keeps: all that say what the run is, and the newest of the
 * others, of which a run that inspects every iteration has hundreds of thousands. The store keeps
 * all of them.
 */
import { eventKindOf, type RunEvent } from '../../../shared/records/record-kinds.ts';

/** Events kept when there are too many, and how many more there may be before. */
const KEPT = 2000;
const SLACK = 500;

export interface KeptEvents {
  readonly events: readonly RunEvent[];
  /** Events that were left out. */
  readonly dropped: number;
}

/** Leaves events out once there are many more than are kept: O(1) per event on average. */
export function keptEvents(events: readonly RunEvent[]): KeptEvents {
  if (events.length <= KEPT + SLACK) return { events, dropped: 0 };
  const first = events.length - KEPT;
  const kept = events.filter(
    (event, index) => index >= first || eventKindOf(event).thinning === 'history',
  );
  return { events: kept, dropped: events.length - kept.length };
}

/** Newest ones of a list that is not shown. */
export const newest = <T>(items: readonly T[]): T[] =>
  items.length > KEPT + SLACK ? items.slice(-KEPT) : [...items];
