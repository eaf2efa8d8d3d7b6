/**
 * When a thread ran, as Linux counts it: a task of a page that takes long may have waited for a processor, or for
 * another thread, most of the time.
 */
import { readFileSync } from 'node:fs';

const EVERY_MS = 10;

interface Reading {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds that the thread has run. */
  readonly ran: number;
}

export class ThreadClock implements Disposable {
  readonly #file: string;
  readonly #readings: Reading[] = [];
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param pid the process whose main thread is followed, a hundred times a second */
  constructor(pid: number) {
    this.#file = `/proc/${pid}/task/${pid}/schedstat`;
    this.#timer = setInterval(() => this.#read(), EVERY_MS);
  }

  /**
   * Most milliseconds that it can have run between two moments, in ms since 1970: from the last reading
   * before to the first one after.
   */
  ran(from: number, to: number): number {
    const before = this.#readings.findLast(({ at }) => at <= from);
    const after = this.#readings.find(({ at }) => at >= to);
    if (before === undefined || after === undefined) return to - from;
    return Math.min(to - from, after.ran - before.ran);
  }

  #read(): void {
    const [ran] = readFileSync(this.#file, 'utf8').split(' ', 1);
    const at = performance.timeOrigin + performance.now();
    this.#readings.push({ at, ran: Number(ran) / 1e6 });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
