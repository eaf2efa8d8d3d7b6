/**
 * Watches a node where this process is not, through a watcher there (`watcher-main.ts`), which is
 * started as ranks are. What it says comes at once, so that a node's last second is known, too, when
 * the node is lost. A watcher that fails costs its records and nothing else.
 */
import { bundledFile } from '../../bundle/bundled-file.ts';
import { parseReport } from '../../world/line-message.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
  type RankCommand,
} from '../../world/rank-process.ts';
import { UseRecords, type UseRecordsOptions } from './use-records.ts';
import {
  fromWatcherSchema,
  type FromWatcher,
  type ToWatcher,
} from './watcher-protocol.ts';

const WATCHER = { bundle: 'watcher.js', source: 'watcher-main.ts' };

/** Time for which ranks must outlive a watcher that has ended: a node's end takes both. */
const ALONE_MS = 5000;

export interface NodeWatchOptions extends UseRecordsOptions {
  readonly run: string;
  /** The command that starts a file there. */
  readonly commandOf: (entry: string) => Pick<RankCommand, 'prefix' | 'reports'>;
  /** Hears why the node is no longer watched, while its ranks go on. */
  readonly failed: (why: string) => void;
  readonly aloneMs?: number;
}

export class NodeWatch {
  readonly #options: NodeWatchOptions;
  readonly #records: UseRecords;
  readonly #watcher: RankProcess<ToWatcher, FromWatcher>;
  #closed = false;
  #alone: NodeJS.Timeout | undefined;

  constructor(options: NodeWatchOptions) {
    const { commandOf, node, processes, run } = options;
    this.#options = options;
    this.#records = new UseRecords(options);
    const entry = bundledFile(WATCHER, import.meta.dirname);
    // Errors of a process name a rank; nobody sees these.
    const [rank = 0] = processes.keys();
    this.#watcher = new RankProcess<ToWatcher, FromWatcher>(
      rank,
      { entry, args: [run, node], ...commandOf(entry) },
      (event) => {
        this.#receive(event);
      },
      { parse: parseReport(fromWatcherSchema, rank) },
    );
    this.#watcher.send({
      type: 'watch',
      processes: [...processes].map(([one, pid]) => ({ rank: one, pid })),
    });
  }

  /** Resolves when the watcher's process is gone. */
  get gone(): Promise<void> {
    return this.#watcher.closed;
  }

  /** Ends the watcher, and records what is known of the last interval. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#alone);
    if (!this.#watcher.exited) this.#watcher.kill();
    this.#records.close();
  }

  #receive(event: FromWatcher | ProcessExit | ProcessBroken): void {
    if (this.#closed) return;
    switch (event.type) {
      case 'read': {
        const { at, machine, own, processors, ranks } = event;
        const byRank = new Map(ranks.map(({ rank, ...use }) => [rank, use]));
        this.#records.add(processors, { at, machine, own, ranks: byRank });
        return;
      }
      case 'gpu':
        this.#records.addGpu(event);
        return;
      case 'broken':
        if (!this.#watcher.exited) this.#watcher.kill();
        this.#leave(event.error.message);
        return;
      case 'exit':
        this.#leave(lastWords(event));
        return;
      default:
        event satisfies never;
    }
  }

  #leave(why: string): void {
    this.#alone ??= setTimeout(() => {
      this.close();
      this.#options.failed(why);
    }, this.#options.aloneMs ?? ALONE_MS);
    this.#alone.unref();
  }
}

/** The last line that it printed, or how it ended. */
function lastWords({ code, signal, stderr }: ProcessExit): string {
  const line = stderr.trim().split('\n').at(-1)!;
  if (line !== '') return line;
  return signal === null ? `it exited with code ${code}` : `${signal} ended it`;
}
