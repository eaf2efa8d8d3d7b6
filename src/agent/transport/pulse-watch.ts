/**
 * Which peers have given no sign of life for too long, in the watcher's own ticks: a clock that
 * stands still while the watcher itself does, so that a sleeping laptop is not a peer's
 * silence. Pure: no timers.
 */

/** Signs of life, and looks at who gave none, per limit of silence. */
export const TICKS_PER_SILENCE = 12;
/**
 * Ticks without a sign that do not count as silence yet. The next one makes it, a quarter before the
 * limit: on a busy machine ticks come late, and the news must still travel.
 */
const SILENT_TICKS = 8;

export type PulseChange = { readonly rank: number; readonly state: 'silent' | 'heard' };

export class PulseWatch {
  /** The tick of each watched rank's last sign. */
  readonly #heard = new Map<number, number>();
  readonly #silent = new Set<number>();
  #tick = 0;

  /** From now on the rank is expected to give signs. */
  watch(rank: number): void {
    this.#heard.set(rank, this.#tick);
  }

  /** It has left: it owes no more signs. Who sees its connections end knows better. */
  forget(rank: number): void {
    this.#heard.delete(rank);
    this.#silent.delete(rank);
  }

  /** A sign of life. Returns the change where the rank had been silent. */
  heard(rank: number): PulseChange | undefined {
    if (!this.#heard.has(rank)) return undefined;
    this.#heard.set(rank, this.#tick);
    return this.#silent.delete(rank) ? { rank, state: 'heard' } : undefined;
  }

  /** Another tick has passed. Returns the peers that became silent. */
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
