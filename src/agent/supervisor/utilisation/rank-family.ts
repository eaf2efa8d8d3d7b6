/**
 * Processor time and memory of one rank: of its process, and of all that this has started, such as a
 * program of one's own. On Linux.
 */
import { existsSync, readFileSync } from 'node:fs';
import {
  bytesOf,
  processNumbers,
  processTime,
} from '../../../shared/machines/proc-texts.ts';
import { startedBy } from '../ranks/process-states.ts';

export interface FamilyReading {
  /** Milliseconds of processor time, of processes that have ended, too. */
  readonly busy: number;
  /** Bytes in memory; what processes share counts once. */
  readonly memory: number;
}

/** Readings of a family until none of its processes ends in the middle of one. */
const TRIES = 3;

export class RankFamily {
  readonly #own: number;
  /** Processes that it has started, and those that these have; each is kept until it is gone. */
  readonly #started = new Set<number>();
  /** Milliseconds that processes had used when the first look found them: before the watch. */
  #before = 0;
  #looked = false;

  /** @param own the rank's process */
  constructor(own: number) {
    this.#own = own;
  }

  /** Looks for processes that it has started. */
  async look(): Promise<void> {
    for (const pid of await startedBy(this.#own)) {
      if (this.#started.has(pid)) continue;
      this.#started.add(pid);
      if (!this.#looked) this.#before += readProcess(pid)?.busy ?? 0;
    }
    this.#looked = true;
  }

  /** The use of the rank's processes; undefined if the rank's own is gone. */
  read(): FamilyReading | undefined {
    let reading = this.#readOnce();
    for (let tries = 1; tries < TRIES && this.#lost(); tries++) {
      reading = this.#readOnce();
    }
    return reading;
  }

  #readOnce(): FamilyReading | undefined {
    let [busy, own, shared] = [-this.#before, 0, 0];
    // What started others comes last: whoever waits for a process that has ended has its time from then on.
    for (const pid of [...this.#started].toReversed().concat(this.#own)) {
      const use = readProcess(pid);
      if (use === undefined) {
        if (pid === this.#own) return undefined;
        this.#started.delete(pid);
        continue;
      }
      busy += use.busy;
      own += use.own;
      shared = Math.max(shared, use.shared);
    }
    // One that nobody waits for takes its time with it.
    return { busy: Math.max(0, busy), memory: own + shared };
  }

  /** Says whether a process has ended since it was read, so that its time may have counted twice. */
  #lost(): boolean {
    return [...this.#started].some((pid) => !existsSync(`/proc/${pid}`));
  }
}

interface ProcessUse {
  /** Milliseconds of processor time. */
  readonly busy: number;
  /** Bytes of its own, and bytes that others may have, too. */
  readonly own: number;
  readonly shared: number;
}

/** The use of one process; undefined if it is gone. */
function readProcess(pid: number): ProcessUse | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const bytes = (name: string): number => bytesOf(status, name) ?? 0;
    return {
      busy: processTime(processNumbers(stat)),
      own: bytes('RssAnon'),
      shared: bytes('RssFile') + bytes('RssShmem'),
    };
  } catch {
    return undefined;
  }
}
