/**
 * Ranks on nodes of a cluster that report nothing. Whether their processes are suspended cannot
 * be seen from here, as it can of processes on this machine (`suspension-watch.ts`); and ranks
 * that are all suspended name nobody. A silence counts that is longer than any before it in
 * this run. Looks are counted, not time: this process may have been suspended itself.
 */
import type { Notice } from '../../../shared/records/notice.ts';

const LOOK_MS = 2000;
/** The fewest looks without a sign of the ranks before anything is said: 30 s. */
const LEAST_LOOKS = 15;
/** An iteration may take that many times as long as those before it. */
const LONGER = 3;

export interface SilenceWatchOptions {
  readonly ranks: readonly number[];
  /** The name of a rank's node. */
  readonly nodeOf: (rank: number) => string;
  readonly told: (notice: Notice) => void;
  readonly lookMs?: number | undefined;
}

export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #timer: NodeJS.Timeout;
  /** Looks since each rank was heard. */
  readonly #quiet: Map<number, number>;
  #longest = 0;
  #silent = '';

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#quiet = new Map(options.ranks.map((rank) => [rank, 0]));
    const { lookMs = LOOK_MS } = options;
    this.#timer = setInterval(() => {
      this.#look(lookMs);
    }, lookMs);
    this.#timer.unref();
  }

  /** The rank has reported something. */
  heard(rank: number): void {
    this.#longest = Math.max(this.#longest, this.#quiet.get(rank) ?? 0);
    this.#quiet.set(rank, 0);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(lookMs: number): void {
    const limit = Math.max(LEAST_LOOKS, LONGER * this.#longest);
    const silent: number[] = [];
    for (const [rank, looks] of this.#quiet) {
      this.#quiet.set(rank, looks + 1);
      if (looks + 1 > limit) silent.push(rank);
    }
    const seen = silent.join(' ');
    if (seen === this.#silent) return;
    this.#silent = seen;
    this.#options.told(
      seen === '' ? HEARD : this.#noticeOf(silent, (limit * lookMs) / 1000),
    );
  }

  #noticeOf(silent: readonly number[], seconds: number): Notice {
    const byNode = Map.groupBy(silent, this.#options.nodeOf);
    const who = [...byNode].map(([node, ranks]) => {
      const which = ranks.length === 1 ? 'rank' : 'ranks';
      return `${which} ${ranks.join(', ')} on ${node}`;
    });
    const verb = silent.length === 1 ? 'has' : 'have';
    return {
      level: 'warning',
      code: 'RANKS_SILENT',
      message:
        `${who.join('; ')} ${verb} reported nothing for ${seconds} s, longer than ever before in ` +
        'this run: its processes may be suspended there, or the node be overloaded. A stop ends ' +
        'the run all the same',
    };
  }
}

const HEARD: Notice = {
  level: 'info',
  code: 'RANKS_HEARD',
  message: 'all ranks report again',
};
