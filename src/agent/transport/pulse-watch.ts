/**
 * Finds peers that have been silent for too long, in the watcher's own ticks: a clock that stops
 * while the watcher itself does, so that a sleeping laptop is not mistaken for a peer's silence.
 * Pure: no timers.
 */

/** Ticks within the limit of silence: at each, heartbeats are sent and missing ones looked for. */
export const TICKS_PER_SILENCE = 12;
/**
 * Ticks without a heartbeat that do not count as silence yet. The next one does, a
 * quarter before the limit: on a busy machine ticks come late, and the report takes time.
 */
const SILENT_TICKS = 8;

export type PulseChange = { readonly rank: number; readonly state: 'silent' | 'heard' };

export class PulseWatch {
  /** The tick of each watched rank's last heartbeat. */
  readonly #heard = new Map<number, number>();
  readonly #silent = new Set<number>();
  #tick = 0;

  /** Expects heartbeats of the rank from now on. */
  watch(rank: number): void {
    this.#heard.set(rank, this.#tick);
  }

  /**
   * The rank has left, so no heartbeats are expected. Whoever sees its connections end
   * knows better.
   */
  forget(rank: number): void {
    this.#heard.delete(rank);
    this.#silent.delete(rank);
  }

  /** A heartbeat has arrived. Returns the change if the rank had been silent. */
  heard(rank: number): PulseChange | undefined {
    if (!this.#heard.has(rank)) return undefined;
    this.#heard.set(rank, this.#tick);
    return this.#silent.delete(rank) ? { rank, state: 'heard' } : undefined;
  }

  /** Counts another tick. Returns the peers that became silent. */
  tick(): readonly PulseChange[] {
    this.#tick++;
    const changes: PulseChange[] = [];
    for (const [rank, at] of this.#heard) {
      if (this.#tick - at <= SILENT_TICKS || this.#silent.has(rank)) continue;
      this.#silent.add(rank);
      changes.push({ rank, state: 'silent' });
    }
    return changes;
  }
}
