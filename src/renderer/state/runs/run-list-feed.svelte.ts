/**
 * A page of the list of runs, kept up to date: visible rows follow their runs, and a run that is
 * new, has ended, or was deleted or annotated has the page read again, a few times a second at most.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { HistoryStatus } from '../../../shared/rpc/rpc.ts';
import type { RunSummary } from '../../../shared/rpc/run-summary.ts';
import type {
  RunPage,
  RunPageQuery,
  RunVocabulary,
} from '../../../shared/run-query/run-page.ts';
import type { Connection } from '../host/connection.ts';

/** Pause before changes have the page read again. */
const PAUSE_MS = 300;

export class RunListFeed {
  #page = $state.raw<RunPage<RunSummary>>();
  #error = $state.raw<ErrorData>();
  #vocabulary = $state.raw<RunVocabulary>();
  #history = $state.raw<HistoryStatus>();
  readonly #connection: Connection;
  readonly #stops: (() => void)[];
  #query: RunPageQuery | undefined;
  /** Number of requests, so that a late answer to an earlier one is ignored. */
  #asked = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** The part of each run's summary that decides where it stands, as last told. */
  readonly #told: Record<string, string> = {};

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#stops = [
      connection.on('runChanged', (summary) => this.#note(summary)),
      connection.on('historyPurged', () => this.#later()),
      connection.on('resync', () => this.#later()),
    ];
    void this.#readVocabulary();
  }

  /** Undefined until the first page has come. */
  get page(): RunPage<RunSummary> | undefined {
    return this.#page;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Undefined until it has come. */
  get vocabulary(): RunVocabulary | undefined {
    return this.#vocabulary;
  }

  /** The space of the history; known while deleted runs are shown. */
  get history(): HistoryStatus | undefined {
    return this.#history;
  }

  /** Reads a page, which replaces the current one once it comes. */
  ask(query: RunPageQuery): void {
    this.#query = query;
    void this.#read(query);
  }

  close(): void {
    clearTimeout(this.#pause);
    for (const stop of this.#stops) stop();
  }

  async #read(query: RunPageQuery): Promise<void> {
    const question = ++this.#asked;
    const { api } = this.#connection;
    try {
      const page = await api.runPage(query);
      const history = query.deleted === true ? await api.history() : undefined;
      if (question !== this.#asked) return;
      this.#page = page;
      this.#history = history;
      this.#error = undefined;
      for (const { run } of page.rows) this.#told[run.id] = placeOf(run);
    } catch (thrown) {
      if (question !== this.#asked) return;
      this.#error = toErrorData(thrown);
    }
  }

  async #readVocabulary(): Promise<void> {
    try {
      this.#vocabulary = await this.#connection.api.runVocabulary();
    } catch {
      // Without it the filter has no completions; what fails is told by the page itself.
    }
  }

  #note(summary: RunSummary): void {
    const page = this.#page;
    if (page?.rows.some(({ run }) => run.id === summary.id) === true) {
      this.#page = {
        ...page,
        rows: page.rows.map((row) =>
          row.run.id === summary.id ? { ...row, run: summary } : row,
        ),
      };
    }
    const place = placeOf(summary);
    if (this.#told[summary.id] === place) return;
    this.#told[summary.id] = place;
    this.#later();
  }

  #later(): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      void this.#readVocabulary();
      if (this.#query !== undefined) void this.#read(this.#query);
    }, PAUSE_MS);
  }
}

const placeOf = ({ annotated, deleted, state }: RunSummary): string =>
  `${state} ${deleted} ${annotated}`;
