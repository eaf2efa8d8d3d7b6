/**
 * The events of a run as the page has them: those read with the run, and those pushed since.
 * Their number is bounded; how many were left out is counted.
 */
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunEvent } from '../../../shared/records/record-kinds.ts';
import type { RunDetail } from '../../../shared/rpc/run-summary.ts';
import { keptEvents, newest } from './kept-events.ts';

export class RunEvents {
  #all = $state.raw<readonly RunEvent[]>([]);
  /** Events pushed since they were last read whole. */
  #pushed: JournalEntry[] = [];
  /** Events left out since they were last read. */
  #dropped = $state(0);

  /** Oldest first. */
  get all(): readonly RunEvent[] {
    return this.#all;
  }

  /** Events left out here, in addition to those that main has left out. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes the events that were read, and keeps those pushed after them. */
  read(detail: RunDetail): void {
    this.#dropped = 0;
    this.#pushed = this.#pushed.filter((entry) => entry.sequence > detail.lastSequence);
    this.#all = [
      ...detail.events,
      ...this.#pushed.map((entry) => entry.record as RunEvent),
    ];
  }

  /** Adds entries of events, in order. */
  push(entries: readonly JournalEntry[]): void {
    this.#pushed.push(...entries);
    const records = entries.map((entry) => entry.record as RunEvent);
    const kept = keptEvents([...this.#all, ...records]);
    this.#all = kept.events;
    this.#dropped += kept.dropped;
    this.#pushed = newest(this.#pushed);
  }
}
