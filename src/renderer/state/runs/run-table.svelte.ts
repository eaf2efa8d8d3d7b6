/**
 * A table of a run that is made of records of one kind, as a page shows it: one read at a time, of
 * what was wanted last, and again when there are more such records.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { Connection } from '../host/host-connection.ts';
import { RedrawClock } from '../page/redraw-clock.svelte.ts';

/** Milliseconds between two reads of a run in progress. */
const PAUSE_MS = 1000;

/** The way to read a table. */
export interface TableSource<Query, Table> {
  readonly run: string;
  /** The type of the records that it is made of. */
  readonly type: RunRecord['type'];
  readonly read: (api: AppApi, query: Query) => Promise<Table>;
}

/** A table with the question that it answers. */
interface ReadTable<Query, Table> {
  readonly query: Query;
  readonly table: Table;
}

export class RunTable<Query, Table> {
  readonly #source: TableSource<Query, Table>;
  readonly #api: AppApi;
  readonly #stops: readonly (() => void)[];
  readonly #news = new RedrawClock(PAUSE_MS);
  readonly #reading = new OneAtATime(() => this.#read());
  #wanted: Query | undefined;
  #shown = $state.raw<ReadTable<Query, Table>>();
  #error = $state.raw<ErrorData>();

  constructor(connection: Connection, source: TableSource<Query, Table>) {
    this.#source = source;
    this.#api = connection.api;
    const { run, type } = source;
    this.#stops = [
      connection.on('records', (id, entries) => {
        if (id !== run) return;
        if (entries.some(({ record }) => record.type === type)) this.#news.touch();
      }),
      connection.on('resync', () => {
        this.#news.touch();
        // A view that stands still does not heed news; its read may have failed.
        if (this.#wanted !== undefined) void this.#reading.run();
      }),
    ];
  }

  /** Changes when there are more records, at most once a second. */
  get news(): number {
    return this.#news.tick;
  }

  /** The table that was read last. */
  get shown(): ReadTable<Query, Table> | undefined {
    return this.#shown;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Reads the answer to a question. */
  want(query: Query): void {
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
      const table = await this.#source.read(this.#api, query);
      this.#shown = { query, table };
      this.#error = undefined;
    } catch (error) {
      const data = toErrorData(error);
      // The connection reports that it is back, and then it is read again.
      if (data.code !== 'CONNECTION_LOST') this.#error = data;
    }
  }
}
