/**
 * The costs of a run's buckets, as a page shows them: one read at a time, of what was wanted last,
 * and again when ranks have recorded more.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import type { BucketQuery, BucketTable } from '../../../shared/buckets/bucket-table.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { Connection } from '../host/connection.ts';
import { RedrawClock } from '../page/redraw-clock.svelte.ts';

/** Milliseconds between two reads of a run in progress. */
const PAUSE_MS = 1000;

/** A table with the question that it answers. */
export interface ReadBuckets {
  readonly query: BucketQuery;
  readonly table: BucketTable;
}

export class RunBuckets {
  readonly #run: string;
  readonly #api: AppApi;
  readonly #stops: readonly (() => void)[];
  readonly #news = new RedrawClock(PAUSE_MS);
  readonly #reading = new OneAtATime(() => this.#read());
  #wanted: BucketQuery | undefined;
  #shown = $state.raw<ReadBuckets>();
  #error = $state.raw<ErrorData>();

  constructor(connection: Connection, run: string) {
    this.#run = run;
    this.#api = connection.api;
    this.#stops = [
      connection.on('records', (id, entries) => {
        if (id !== run) return;
        if (entries.some(({ record }) => record.type === 'bucket-sums'))
          this.#news.touch();
      }),
      connection.on('resync', () => this.#news.touch()),
    ];
  }

  /** Changes when ranks have recorded more, at most once a second. */
  get news(): number {
    return this.#news.tick;
  }

  /** The table that was read last. */
  get shown(): ReadBuckets | undefined {
    return this.#shown;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Reads the answer to a question. */
  want(query: BucketQuery): void {
    this.#wanted = query;
    void this.#reading.run();
  }

  close(): void {
    this.#reading.close();
    this.#news.close();
    for (const stop of this.#stops) stop();
  }

  async #read(): Promise<void> {
    const query = this.#wanted!;
    try {
      const table = await this.#api.buckets(this.#run, query);
      this.#shown = { query, table };
      this.#error = undefined;
    } catch (error) {
      const data = toErrorData(error);
      // The connection reports that it is back, and then it is read again.
      if (data.code !== 'CONNECTION_LOST') this.#error = data;
    }
  }
}
