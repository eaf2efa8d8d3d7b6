/**
 * Turns the output of a rank's process into log records of its run. The pipes are always
 * read, so a rank that prints without end is not held back, and the log is bounded: a line
 * costs its length, from a budget that refills slowly, and the more the rank has used, the
 * more slowly. Of the lines beyond the budget the newest wait; lines that are pushed out are
 * counted, and the next line reports the number.
 */
import type { LogRecord } from '../../../shared/records/log.ts';
import { LineSplitter, type PrintedLine } from './line-splitter.ts';
import { levelOf } from './log-level.ts';

/** Characters per rank: at once, per second, and before the refill halves… */
const BURST = 100_000;
const PER_SECOND = 20_000;
const AT_FULL_RATE = 4_000_000;
/** Characters after each of which it halves again. A day of floods is about 15 MB. */
const HALVES_WITH = 1_000_000;
/** The minimum cost of a line. */
const LEAST_COST = 100;
/** Number of newest lines that wait, and that are always kept when the process ends. */
const WAITING = 50;
const BATCH_MS = 100;

type Stream = LogRecord['stream'];
type Waiting = Omit<LogRecord, 'dropped'>;

export interface PrintedLogOptions {
  /** The rank's current iteration, if known. */
  readonly iteration: () => number | undefined;
  /** Takes some records, in order. */
  readonly write: (records: readonly LogRecord[]) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class PrintedLog {
  readonly #rank: number;
  readonly #options: PrintedLogOptions;
  readonly #now: () => number;
  readonly #splitters: Readonly<Record<Stream, LineSplitter>> = {
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  };
  #dropped = 0;
  #waiting: Waiting[] = [];
  #budget = BURST;
  #spent = 0;
  #refilledAt: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(rank: number, options: PrintedLogOptions) {
    this.#rank = rank;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#refilledAt = this.#now();
  }

  readonly take = (stream: Stream, bytes: Buffer): void => {
    this.#makeRoom();
    // Beyond the budget only the newest lines can count, so the others are skipped.
    const most = WAITING + Math.max(0, Math.ceil(this.#budget / LEAST_COST));
    const { lines, skipped } = this.#splitters[stream].split(bytes, most);
    if (skipped > 0) this.#dropped += skipped + this.#waiting.splice(0).length;
    this.#add(stream, lines);
  };

  /** The process has ended: keeps its last lines at any cost. */
  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#add(stream, this.#splitters[stream].end());
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#write(this.#waiting.splice(0));
  }

  #add(stream: Stream, lines: readonly PrintedLine[]): void {
    if (lines.length === 0) return;
    const at = this.#now();
    const iteration = this.#options.iteration();
    const rank = this.#rank;
    for (const { text, cut } of lines) {
      const level = levelOf(text);
      this.#waiting.push({
        type: 'log',
        at,
        rank,
        stream,
        ...(level === undefined ? {} : { level }),
        ...(iteration === undefined ? {} : { iteration }),
        text,
        ...(cut === 0 ? {} : { cut }),
      });
      if (this.#waiting.length >= 2 * WAITING) this.#makeRoom();
    }
    this.#timer ??= setTimeout(this.#flush, BATCH_MS);
  }

  readonly #flush = (): void => {
    this.#timer = undefined;
    this.#makeRoom();
    if (this.#waiting.length > 0) this.#timer = setTimeout(this.#flush, BATCH_MS);
  };

  /** Writes what the budget covers, and leaves the newest of the rest waiting. */
  #makeRoom(): void {
    this.#refill();
    const covered: Waiting[] = [];
    while (this.#waiting.length > 0 && this.#budget > 0) {
      const line = this.#waiting.shift()!;
      const cost = Math.max(LEAST_COST, line.text.length);
      this.#budget -= cost;
      this.#spent += cost;
      covered.push(line);
    }
    this.#write(covered);
    const excess = Math.max(0, this.#waiting.length - WAITING);
    this.#dropped += this.#waiting.splice(0, excess).length;
  }

  #refill(): void {
    const now = this.#now();
    const beyond = Math.max(0, this.#spent - AT_FULL_RATE);
    const perSecond = PER_SECOND * 2 ** (-beyond / HALVES_WITH);
    // A clock that is set back refills nothing.
    const seconds = Math.max(0, now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#budget = Math.min(BURST, this.#budget + seconds * perSecond);
  }

  #write(lines: readonly Waiting[]): void {
    if (lines.length === 0) return;
    const [first, ...others] = lines as [Waiting, ...Waiting[]];
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#options.write([dropped === 0 ? first : { ...first, dropped }, ...others]);
  }
}
