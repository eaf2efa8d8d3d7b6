/**
 * Reads one run: its detail, its records of each kind in pieces, and its bins. Every
 * answer is bounded, but `detail` and `after`, which their callers need whole.
 */
import { GradwireError } from '../../shared/errors/errors.ts';
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { RunEvent } from '../../shared/records/record-kinds.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type {
  BinsPiece,
  BinsQuery,
  IterationPlace,
} from '../../shared/rpc/run-pieces.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { IterationArchive } from './iteration-archive.ts';
import type {
  IterationPiece,
  IterationRange,
  IterationReader,
} from './iteration-reader.ts';
import { summaryOf, type RunRow } from './run-row.ts';
import type { RunRows } from './run-rows.ts';
import { PAGE, type Statements } from './statements.ts';
import { storedSpec } from './stored-json.ts';
import { entriesOf, entryOf, fittingRows } from './stored-rows.ts';

/** Newest events of a run that is shown, and earlier ones that say what it is: at most. */
const SHOWN_EVENTS = 2000;
/** Bytes of either: events of many ranks are large. */
const SHOWN_BYTES = 1.5 * 2 ** 20;

/** Time for which a reader makes levels before it answers. */
const RAISE_MS = 40;

export interface ReadSources {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly archive: IterationArchive;
  readonly reader: IterationReader;
  readonly rows: RunRows;
}

export class RunReads {
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #archive: IterationArchive;
  readonly #reader: IterationReader;
  readonly #rows: RunRows;

  constructor({ archive, database, reader, rows, statements }: ReadSources) {
    this.#database = database;
    this.#statements = statements;
    this.#archive = archive;
    this.#reader = reader;
    this.#rows = rows;
  }

  detail(id: string): RunDetail {
    // The events and the last sequence belong to the same moment.
    return this.#database.read(() => {
      const row = this.#rows.row(id);
      return {
        ...summaryOf(row),
        spec: storedSpec(row),
        events: this.#statements.events
          .all(row.number)
          .map(({ record }) => JSON.parse(record) as RunEvent),
        lastSequence: row.last_sequence,
      };
    });
  }

  /**
   * A run as it is shown: `detail` with a bound on its events. It has the newest ones, and of
   * the others those that say what the run is.
   */
  shown(id: string): RunDetail {
    return this.#database.read(() => {
      const row = this.#rows.row(id);
      const run = row.number;
      const limit = SHOWN_EVENTS;
      const all = this.#statements.newestEvents.all(run, limit);
      const newest = fittingRows(all, SHOWN_BYTES);
      const isWhole = all.length < limit && newest.length === all.length;
      const before = isWhole ? 0 : newest.at(-1)!.sequence;
      const shaping = fittingRows(
        this.#statements.shapingEvents.all({ run, before, limit }),
        SHOWN_BYTES,
      );
      const shown = [...newest, ...shaping].reverse();
      const omitted =
        before === 0 ? 0 : this.#statements.countEvents.get(run)!.count - shown.length;
      return {
        ...summaryOf(row),
        spec: storedSpec(row),
        events: shown.map(({ record }) => JSON.parse(record) as RunEvent),
        ...(omitted === 0 ? {} : { omittedEvents: omitted }),
        lastSequence: row.last_sequence,
      };
    });
  }

  /** The first records of a range, by iteration and rank: as many as were asked for and fit. */
  iterations(id: string, range: IterationRange, most: number): IterationPiece {
    return this.#database.read(() =>
      this.#reader.piece(this.#rows.row(id), range, most),
    );
  }

  /**
   * Bins of a run for a chart. A run whose levels lag behind (of an older version) gets some of
   * them instead, and the piece is empty: the next one is asked for at the same place.
   */
  bins(id: string, query: BinsQuery): BinsPiece {
    const hasMore = this.#raise(id);
    return this.#database.read(() => {
      const row = this.#rows.row(id);
      const { levels } = this.#archive;
      const lastSequence = row.last_sequence;
      const { from, to } = query;
      if (hasMore) return { starts: [], cells: [], lastSequence, next: from };
      const first = this.#archive.reachFrom(row.number, from) ?? to;
      const end = Math.min(to, Math.max(from, first) + levels.span(row, query));
      const bins = levels.bins(row, { ...query, to: end });
      return { ...bins.plain(), lastSequence, ...(end < to ? { next: end } : {}) };
    });
  }

  /** A page of a run's records of all kinds after a sequence, in the journal's order. */
  entriesAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#database.read(() => this.#page(this.#rows.row(id).number, after));
  }

  /** A page of a run's merged log after a sequence, in the order of arrival. */
  logAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#database.guard(() =>
      entriesOf(
        this.#statements.logAfter.all({ run: this.#rows.row(id).number, after }),
      ),
    );
  }

  /** A page of a run's events after a sequence. */
  eventsAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#database.guard(() =>
      entriesOf(
        this.#statements.eventsAfter.all({
          run: this.#rows.row(id).number,
          after,
          limit: PAGE,
        }),
      ),
    );
  }

  /** A page of the lines that its ranks printed after a sequence. */
  logLinesAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#database.guard(() =>
      entriesOf(
        this.#statements.logLinesAfter.all({ run: this.#rows.row(id).number, after }),
      ),
    );
  }

  /** Evaluations after iterations with from ≤ iteration < to, in their order. */
  evaluations(id: string, from: number, to: number): readonly EvaluationRecord[] {
    return this.#database.guard(() =>
      this.#statements.evaluations
        .all({ run: this.#rows.row(id).number, from, to })
        .map(({ record }) => JSON.parse(record) as EvaluationRecord),
    );
  }

  /**
   * All iteration records by iteration and rank, a page at a time, so that others can
   * use the database between two pages and only one page is in memory.
   */
  *allIterations(id: string): Generator<IterationRecord> {
    let place: IterationPlace | undefined = { from: 0 };
    while (place !== undefined) {
      const range = { ...place, to: Infinity };
      const { entries, next }: IterationPiece = this.iterations(id, range, PAGE);
      for (const { record } of entries) yield record;
      place = next;
    }
  }

  /** All records of a run after a sequence, in the journal's order. */
  after(row: RunRow, seen: number): readonly JournalEntry[] {
    const entries: JournalEntry[] = [];
    let after = seen;
    while (after < row.last_sequence) {
      const page = this.#page(row.number, after);
      if (page.length === 0) break;
      after = page.at(-1)!.sequence;
      entries.push(...page);
    }
    return entries;
  }

  #page(run: number, after: number): readonly JournalEntry[] {
    const others = this.#statements.logAfter.all({ run, after }).map(entryOf);
    const iterations = this.#reader.after(run, after, PAGE);
    return [...others, ...iterations]
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, PAGE);
  }

  /**
   * Seals blocks of a run and makes its levels for a moment.
   * @returns whether there is more to do, and it could be done
   */
  #raise(id: string): boolean {
    if (this.#database.readOnly !== undefined) return false;
    const end = performance.now() + RAISE_MS;
    const step = (): boolean => {
      const row = this.#rows.row(id);
      const run = { ...row, hasEnded: hasEnded(row.state) };
      const bytes = this.#archive.catchUp(run);
      if (bytes !== undefined) this.#statements.addBytes.run(bytes, row.number);
      return bytes !== undefined;
    };
    const { number, ranks, state } = this.#database.guard(() => this.#rows.row(id));
    const run = { number, ranks, hasEnded: hasEnded(state) };
    if (!this.#database.guard(() => this.#archive.isBehind(run))) return false;
    try {
      while (this.#database.write(step)) {
        if (performance.now() > end) return true;
      }
    } catch (error) {
      // A full disk or a lock: bins are made of records then, which takes longer.
      const isExpected =
        error instanceof GradwireError && error.code.startsWith('DATABASE_');
      if (!isExpected) throw error;
    }
    return false;
  }
}
