/**
 * Processor time and memory of each rank on this machine: of its process, and of all that this has
 * started, such as a program of one's own. On Linux.
 */
import { readFileSync } from 'node:fs';
import {
  bytesOf,
  processNumbers,
  processTime,
} from '../../../shared/machines/proc-texts.ts';
import { startedBy } from '../ranks/process-states.ts';

/** Milliseconds between two looks for new processes: first and later. */
const FIRST_LOOK_MS = 1000;
const LATER_LOOK_MS = 10_000;

export interface FamilyReading {
  /** Milliseconds of processor time, of processes that have ended, too. */
  readonly busy: number;
  /** Bytes in memory; what processes share counts once. */
  readonly memory: number;
}

export class RankFamilies {
  /** The processes of each rank, its own first. */
  readonly #families: Map<number, readonly number[]>;
  readonly #begun = performance.now();
  #lookedAt = -Infinity;
  #looking = false;

  /** @param processes of ranks on this machine, by rank */
  constructor(processes: ReadonlyMap<number, number>) {
    this.#families = new Map([...processes].map(([rank, pid]) => [rank, [pid]]));
  }

  get ranks(): readonly number[] {
    return [...this.#families.keys()];
  }

  /** Ranks whose processes are gone are left out. */
  read(): ReadonlyMap<number, FamilyReading> {
    void this.#look();
    const readings = new Map<number, FamilyReading>();
    for (const [rank, pids] of this.#families) {
      const reading = readFamily(pids);
      if (reading !== undefined) readings.set(rank, reading);
    }
    return readings;
  }

  /** Looks for processes that ranks have started, at times. */
  async #look(): Promise<void> {
    const now = performance.now();
    const pause = Math.min(
      LATER_LOOK_MS,
      Math.max(FIRST_LOOK_MS, this.#lookedAt - this.#begun),
    );
    if (this.#looking || now < this.#lookedAt + pause) return;
    this.#looking = true;
    this.#lookedAt = now;
    for (const [rank, [own]] of this.#families) {
      this.#families.set(rank, [own!, ...(await startedBy(own!))]);
    }
    this.#looking = false;
  }
}

/** Undefined if its first process is gone. */
function readFamily(pids: readonly number[]): FamilyReading | undefined {
  let [busy, own, shared] = [0, 0, 0];
  for (const [index, pid] of pids.entries()) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      busy += processTime(processNumbers(stat));
      const bytes = (name: string): number => bytesOf(status, name) ?? 0;
      own += bytes('RssAnon');
      shared = Math.max(shared, bytes('RssFile') + bytes('RssShmem'));
    } catch {
      if (index === 0) return undefined;
    }
  }
  return { busy, memory: own + shared };
}
