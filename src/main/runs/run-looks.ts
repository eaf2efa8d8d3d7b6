/**
 * Lets the rules of alerts look at followed runs from time to time: some tell what does not arrive,
 * or watch this computer's disk.
 */
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { CoordinatorParts } from './coordinator-parts.ts';

const LOOK_MS = 5000;

export class RunLooks {
  readonly #parts: CoordinatorParts;
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;
  #closed = false;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      this.#look().catch((error: unknown) => {
        parts.news.trouble(error);
      });
    }, LOOK_MS);
    // The timer alone does not keep the process alive.
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { followers, news, store } = this.#parts;
    if (followers.size === 0 || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const freeBytes = await freeIn(path.dirname(store.file));
      if (this.#closed) return;
      const moment = { now: Date.now(), freeBytes };
      for (const id of followers.ids()) {
        // An error with one run must not keep the rules from the others.
        try {
          if (store.has(id)) {
            news.stored(store.ownRecords.look(id, moment, { seen: news.lastTold(id) }));
          } else followers.drop(id); // another process has purged it
        } catch (error) {
          news.trouble(error);
        }
      }
    } finally {
      this.#isLooking = false;
    }
  }
}

/** Free bytes on the disk of a directory; undefined if the system does not tell. */
async function freeIn(directory: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return undefined;
  }
}
