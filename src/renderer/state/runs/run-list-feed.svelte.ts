/**
 * The list of runs, kept up to date: the rows that are looked at are read, a hundred at a time, and
 * follow their runs. A run that is new, has ended, or was deleted or annotated has them read again,
 * a few times a second at most.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { HistoryStatus } from '../../../shared/rpc/rpc.ts';
import type { RunSummary } from '../../../shared/rpc/run-summary.ts';
import type {
  CellValue,
  RunPage,
  RunPageQuery,
  RunPageRow,
  RunVocabulary,
} from '../../../shared/run-query/run-page.ts';
import type { Connection } from '../host/host-connection.ts';
import { isLive } from './run-state.ts';

/** Pause before changes have the list read again. */
const PAUSE_MS = 300;
/** Rows of a request: enough for a screen, and quickly answered. */
const CHUNK = 100;

/** A list without the part of it that is asked for. */
export type RunListQuery = Omit<RunPageQuery, 'limit' | 'offset'>;
type Row = Omit<RunPageRow<RunSummary>, 'values'> & {
  /** Values of the asked columns by their names. */
  readonly values: Readonly<Record<string, CellValue>>;
};
/** A part of a list, and the size of the whole. */
type ListPart = Omit<RunPage<RunSummary>, 'rows'> & { readonly rows: readonly Row[] };
/** Rows by the number of their request. */
type Chunks = Readonly<Record<number, readonly Row[]>>;
/** Rows that are looked at: from ≤ row < to. */
interface Sight {
  readonly from: number;
  readonly to: number;
}
const TOP: Sight = { from: 0, to: 1 };
/** A run as last told. */
interface Told {
  /** The part of its summary that decides where it stands. */
  readonly place: string;
  readonly isLive: boolean;
}

export class RunListFeed {
  #chunks = $state.raw<Chunks>({});
  #size = $state.raw<Omit<RunPage<RunSummary>, 'rows'>>();
  #error = $state.raw<ErrorData>();
  #vocabulary = $state.raw<RunVocabulary>();
  #history = $state.raw<HistoryStatus>();
  readonly #connection: Connection;
  readonly #stops: (() => void)[];
  #query: RunListQuery | undefined;
  #sight = TOP;
  /** Number of readings of the whole list, so that a late answer to an earlier one is ignored. */
  #readings = 0;
  /** Whether the whole list is being read. */
  #isReading = false;
  /** Numbers of chunks that are asked for. */
  #asked: readonly number[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Runs by their ids. */
  readonly #told: Record<string, Told | undefined> = {};

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#stops = [
      connection.on('runChanged', (summary) => this.#note(summary)),
      connection.on('historyPurged', () => this.#later()),
      connection.on('resync', () => this.#later()),
    ];
    void this.#readVocabulary();
  }

  /** The number of runs and their bytes; undefined until the first rows have come. */
  get size(): Omit<RunPage<RunSummary>, 'rows'> | undefined {
    return this.#size;
  }

  /** All rows that have come, in the order of the list. */
  get rows(): readonly Row[] {
    // Keys that are numbers are in their order.
    return Object.values(this.#chunks).flat();
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Words for the filter; undefined until the host has sent them. */
  get vocabulary(): RunVocabulary | undefined {
    return this.#vocabulary;
  }

  /** The space of the history; known while deleted runs are shown. */
  get history(): HistoryStatus | undefined {
    return this.#history;
  }

  /**
   * The row at a place of the list: undefined if it has not come yet, null if it cannot be read and
   * is left out.
   */
  row(index: number): Row | null | undefined {
    const chunk = this.#chunks[Math.floor(index / CHUNK)];
    return chunk === undefined ? undefined : (chunk[index % CHUNK] ?? null);
  }

  /** Reads a list, which replaces the current one once it comes. */
  ask(query: RunListQuery): void {
    this.#query = query;
    void this.#readAgain();
  }

  /** Reads rows from ≤ row < to unless they have come; after a change, only these are read again. */
  see(from: number, to: number): void {
    this.#sight = { from, to };
    for (const chunk of chunksOf(this.#sight)) {
      if (chunk in this.#chunks || this.#asked.includes(chunk)) continue;
      void this.#readMore(chunk);
    }
  }

  close(): void {
    clearTimeout(this.#pause);
    for (const stop of this.#stops) stop();
  }

  async #readAgain(): Promise<void> {
    const query = this.#query;
    if (query === undefined) return;
    const reading = ++this.#readings;
    this.#isReading = true;
    this.#asked = [];
    try {
      const numbers = chunksOf(this.#sight);
      const pages = await Promise.all(numbers.map((chunk) => this.#read(query, chunk)));
      const history =
        query.deleted === true ? await this.#connection.api.history() : undefined;
      if (reading !== this.#readings) return;
      this.#forgetLeft(pages);
      this.#chunks = Object.fromEntries(
        numbers.map((chunk, index) => [chunk, pages[index]!.rows]),
      );
      this.#size = pages.at(-1)!;
      this.#history = history;
      this.#error = undefined;
      // Rows that came into sight meanwhile were of the list before.
      const { from, to } = this.#sight;
      this.see(from, to);
    } catch (thrown) {
      if (reading === this.#readings) this.#error = toErrorData(thrown);
    } finally {
      if (reading === this.#readings) this.#isReading = false;
    }
  }

  /**
   * Runs that the list lacks come back by their next event, whatever was told of them: one that is
   * deleted and restored at once has a single event, of a run as it was before. Runs in progress
   * cannot be deleted, and have many events.
   */
  #forgetLeft(pages: readonly ListPart[]): void {
    const there = pages.flatMap(({ rows }) => rows.map(({ run }) => run.id));
    for (const [id, told] of Object.entries(this.#told)) {
      if (told?.isLive === false && !there.includes(id)) this.#told[id] = undefined;
    }
  }

  async #readMore(chunk: number): Promise<void> {
    const reading = this.#readings;
    if (this.#query === undefined) return;
    this.#asked = [...this.#asked, chunk];
    try {
      const page = await this.#read(this.#query, chunk);
      if (reading !== this.#readings) return;
      this.#chunks = { ...this.#chunks, [chunk]: page.rows };
      this.#size = page;
    } catch (thrown) {
      if (reading === this.#readings) this.#error = toErrorData(thrown);
    } finally {
      if (reading === this.#readings)
        this.#asked = this.#asked.filter((asked) => asked !== chunk);
    }
  }

  async #read(query: RunListQuery, chunk: number): Promise<ListPart> {
    const { columns = [] } = query;
    const page = await this.#connection.api.runPage({
      ...query,
      limit: CHUNK,
      offset: chunk * CHUNK,
    });
    for (const { run } of page.rows) this.#told[run.id] = toldOf(run);
    const rows = page.rows.map(({ values, ...row }) => ({
      ...row,
      values: Object.fromEntries(columns.map((name, at) => [name, values[at] ?? null])),
    }));
    return { ...page, rows };
  }

  async #readVocabulary(): Promise<void> {
    try {
      this.#vocabulary = await this.#connection.api.runVocabulary();
    } catch {
      // Without it the filter has no completions; what fails is told by the page itself.
    }
  }

  #note(summary: RunSummary): void {
    const isOf = ({ run }: Row): boolean => run.id === summary.id;
    const own = Object.entries(this.#chunks).find(([, rows]) => rows.some(isOf));
    if (own !== undefined) {
      const [chunk, rows] = own;
      this.#chunks = {
        ...this.#chunks,
        [chunk]: rows.map((row) => (isOf(row) ? { ...row, run: summary } : row)),
      };
    }
    const told = toldOf(summary);
    // An answer on its way may lack it, too.
    const mayBeLeft = !told.isLive && (this.#isReading || this.#asked.length > 0);
    if (this.#told[summary.id]?.place === told.place && !mayBeLeft) return;
    this.#told[summary.id] = told;
    this.#later();
  }

  #later(): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      void this.#readVocabulary();
      void this.#readAgain();
    }, PAUSE_MS);
  }
}

/** Numbers of the chunks with the rows of a sight: one at least. */
function chunksOf({ from, to }: Sight): readonly number[] {
  const first = Math.floor(from / CHUNK);
  const last = Math.floor((Math.max(from + 1, to) - 1) / CHUNK);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const toldOf = (run: RunSummary): Told => ({
  place: `${run.state} ${run.deleted} ${run.annotated}`,
  isLive: isLive(run),
});
