/**
 * The parts of a thread's time, as Linux counts it: a task of a page that takes long may have waited for a
 * processor, or for another thread, most of the time, or the host of a virtual machine ran another one.
 */
import { readFileSync } from 'node:fs';

const EVERY_MS = 10;
/** Clock ticks of /proc in a second. */
export const TICKS = 100;
/** Place of `steal` among the numbers of the first line of /proc/stat. */
const STEAL = 7;

/** Milliseconds of a thread. */
export interface ThreadTime {
  /** Time in which the thread ran. */
  readonly ran: number;
  /** Time in which the thread was ready to run, and other threads had the processors. */
  readonly waited: number;
  /** The host took them from the processors of this machine, all together. */
  readonly stolen: number;
}

interface Reading extends ThreadTime {
  /** Milliseconds since 1970. */
  readonly at: number;
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
   * Most that it can have spent between two moments, in ms since 1970: from the last reading before to
   * the first one after.
   */
  between(from: number, to: number): ThreadTime {
    const before = this.#readings.findLast(({ at }) => at <= from);
    const after = this.#readings.find(({ at }) => at >= to);
    const took = to - from;
    if (before === undefined || after === undefined)
      return { ran: took, waited: 0, stolen: 0 };
    return {
      ran: Math.min(took, after.ran - before.ran),
      waited: Math.min(took, after.waited - before.waited),
      stolen: after.stolen - before.stolen,
    };
  }

  /** The thread's time since the first reading. */
  get all(): ThreadTime {
    const [first, last] = [this.#readings[0]!, this.#readings.at(-1)!];
    return this.between(first.at, last.at);
  }

  #read(): void {
    const [ran, waited] = readFileSync(this.#file, 'utf8').split(' ', 2).map(Number);
    this.#readings.push({
      at: performance.timeOrigin + performance.now(),
      ran: ran! / 1e6,
      waited: waited! / 1e6,
      stolen: stolenMs(),
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Milliseconds that the host has taken from this machine's processors since it started. */
function stolenMs(): number {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/ +/);
  return (1000 / TICKS) * Number(ticks[STEAL]);
}
