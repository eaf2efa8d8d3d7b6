/** The families of the ranks on this machine: looks for their processes at times, and reads them. */
import { RankFamily, type FamilyReading } from './rank-family.ts';

/** Milliseconds between two looks for new processes: first and later. */
const FIRST_LOOK_MS = 1000;
const LATER_LOOK_MS = 10_000;

export class RankFamilies {
  readonly #families: ReadonlyMap<number, RankFamily>;
  readonly #begun = performance.now();
  #lookedAt = -Infinity;
  #looking = false;

  /** @param processes of ranks on this machine, by rank */
  constructor(processes: ReadonlyMap<number, number>) {
    this.#families = new Map(
      [...processes].map(([rank, pid]) => [rank, new RankFamily(pid)]),
    );
  }

  /** Ranks whose processes are gone are left out. */
  read(): ReadonlyMap<number, FamilyReading> {
    void this.#look();
    const readings = new Map<number, FamilyReading>();
    for (const [rank, family] of this.#families) {
      const reading = family.read();
      if (reading !== undefined) readings.set(rank, reading);
    }
    return readings;
  }

  async #look(): Promise<void> {
    const now = performance.now();
    const pause = Math.min(
      LATER_LOOK_MS,
      Math.max(FIRST_LOOK_MS, this.#lookedAt - this.#begun),
    );
    if (this.#looking || now < this.#lookedAt + pause) return;
    this.#looking = true;
    this.#lookedAt = now;
    for (const family of this.#families.values()) await family.look();
    this.#looking = false;
  }
}
