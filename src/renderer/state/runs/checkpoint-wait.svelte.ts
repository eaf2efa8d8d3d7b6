/**
 * The wait for a checkpoint that was ordered: until the events of the run end with a checkpoint, or with
 * what kept one from being written, that was not there then.
 */
import type { RunEvent } from '../../../shared/records/record-kinds.ts';

export class CheckpointWait {
  /** The ends that were known when it was ordered; undefined: none is being waited for. */
  #known = $state.raw<readonly string[]>();

  get isOn(): boolean {
    return this.#known !== undefined;
  }

  /** @param events of the run as it is ordered, oldest first */
  begin(events: readonly RunEvent[]): void {
    this.#known = events.filter(endsWait).map(nameOf);
  }

  /** Ends the wait if the last end among the run's events is new. */
  look(events: readonly RunEvent[]): void {
    const known = this.#known;
    const last = events.findLast(endsWait);
    if (known === undefined || last === undefined) return;
    // Their number says nothing: the oldest are left out as others come.
    if (!known.includes(nameOf(last))) this.#known = undefined;
  }

  end(): void {
    this.#known = undefined;
  }
}

/** Whether it is a checkpoint, or what kept one from being written. */
const endsWait = (event: RunEvent): boolean =>
  event.type === 'checkpoint' ||
  event.type === 'interrupted' ||
  (event.type === 'notice' && event.code === 'CHECKPOINT_WRITE_FAILED');

/** The same for an event that was read again. */
const nameOf = (event: RunEvent): string => JSON.stringify(event);
