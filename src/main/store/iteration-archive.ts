/**
 * A run's iteration records on disk: blocks of about a thousand, and a tail of the newest ones
 * as rows until they fill a block. Blocks hold consecutive records in the order of arrival, so
 * at every moment a record is in one block or in the tail; moving it is one transaction.
 * A block that is sealed goes on to the run's levels (`run-levels.ts`).
 */
import type Database from 'better-sqlite3';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import {
  encodeBlock,
  RecordBlock,
  type IterationEntry,
} from './blocks/record-block.ts';
import { RunLevels, type LeveledRun } from './run-levels.ts';

/** Records of a block. */
const BLOCK_RECORDS = 1024;
/**
 * Rows that a run in progress keeps at least, so that the newest iterations of all ranks are
 * at hand.
 */
const KEPT_ROWS = 1024;
const KEPT_ITERATIONS = 4;
/** Decoded blocks that are kept: up to a megabyte each. */
const KEPT_BLOCKS = 8;

/** Facts of a block that are known without its content. */
export interface BlockPlace {
  readonly id: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly min_iteration: number;
  readonly max_iteration: number;
  readonly records: number;
}

/** A record that has not been made. */
export interface RecordPlace {
  readonly iteration: number;
  readonly rank: number;
  readonly entry: () => IterationEntry;
}

interface TailRow {
  readonly sequence: number;
  readonly record: string;
}

/** A run, as far as its tail depends on it. */
export interface SealedRun {
  readonly number: number;
  readonly ranks: number;
  readonly hasEnded: boolean;
}

const keptRows = (ranks: number): number =>
  Math.max(KEPT_ROWS, KEPT_ITERATIONS * ranks);

export class IterationArchive {
  readonly levels: RunLevels;
  readonly #statements: ReturnType<typeof prepare>;
  /** Records of the tail that this process has stored, by run and sequence. */
  readonly #fresh = new Map<number, Map<number, IterationRecord>>();
  /** Decoded blocks by id, which no later block gets; the one used last is the last. */
  readonly #kept = new Map<number, RecordBlock>();

  constructor(database: Database.Database) {
    this.#statements = prepare(database);
    this.levels = new RunLevels(database, this);
  }

  /** The first blocks with records after a sequence, in the order of arrival. */
  places(run: number, after: number, limit: number): readonly BlockPlace[] {
    return this.#statements.places.all({ run, after, limit });
  }

  /** Blocks that begin after a sequence and may have iterations with from ≤ i < to. */
  placesIn(
    run: number,
    asked: { readonly after: number; readonly from: number; readonly to: number },
  ): readonly BlockPlace[] {
    return this.#statements.placesIn.all({ run, ...asked });
  }

  /** The least first iteration of blocks that begin at an iteration or later. */
  firstFrom(run: number, from: number): number | undefined {
    return this.#statements.firstFrom.get({ run, from })?.iteration ?? undefined;
  }

  /** The first iteration from one on that may have a record, without looking into blocks. */
  reachFrom(run: number, from: number): number | undefined {
    const inBlocks = this.#statements.reachFrom.get({ run, from })!.iteration;
    const inTail = this.tailFirst(run, from);
    const first = Math.min(inBlocks ?? Infinity, inTail ?? Infinity);
    return first === Infinity ? undefined : first;
  }

  /** The first iteration of the tail from one on. */
  tailFirst(run: number, from: number): number | undefined {
    return this.#statements.tailFirst.get({ run, from })?.iteration;
  }

  /** Records of the tail with from ≤ iteration < to. */
  tail(run: number, from: number, to: number): readonly IterationEntry[] {
    return this.#statements.tail.all({ run, from, to }).map(entryOf);
  }

  /** The same records, each made when it is asked for. */
  tailPlaces(run: number, from: number, to: number): readonly RecordPlace[] {
    return this.#statements.tail.all({ run, from, to }).map((row) => ({
      iteration: row.iteration,
      rank: row.rank,
      entry: () => entryOf(row),
    }));
  }

  block({ id }: Pick<BlockPlace, 'id'>): RecordBlock {
    let block = this.#kept.get(id);
    if (block === undefined) block = new RecordBlock(this.#statements.content.get(id)!);
    this.#kept.delete(id);
    this.#kept.set(id, block);
    if (this.#kept.size > KEPT_BLOCKS)
      this.#kept.delete(this.#kept.keys().next().value!);
    return block;
  }

  /** Whether a block has the record; the tail is not looked at. */
  has(run: number, iteration: number, rank: number): boolean {
    return this.#statements.around.all({ run, iteration }).some((place) => {
      const { iterations, ranks } = this.block(place);
      return iterations.some((at, row) => at === iteration && ranks[row] === rank);
    });
  }

  /**
   * Moves the oldest records of the tail into a block if there are enough, or all that fit in
   * one if the run has ended. Belongs into a transaction.
   * @returns by how many bytes the run has become smaller; undefined: nothing was to be done
   */
  seal({ number: run, ranks, hasEnded }: SealedRun): number | undefined {
    if (!this.isSealable({ number: run, ranks, hasEnded })) return undefined;
    const rows = this.#statements.oldest.all(run, BLOCK_RECORDS);
    const entries = rows.map(({ sequence }) => this.#tailEntry(run, sequence));
    const range = { first: rows[0]!.sequence, last: rows.at(-1)!.sequence };
    let bytes = this.#put(run, range, entries);
    this.#statements.forget.run(run, range.last);
    this.levels.sealed({ number: run, ranks }, range, entries);
    const isWhole = hasEnded && !this.isLong(run, 1);
    if (isWhole) this.#fresh.delete(run);
    if (this.levels.isDue(run, isWhole)) {
      bytes += this.levels.raise({ number: run, ranks });
    }
    return rows.reduce((sum, row) => sum + row.bytes, 0) - bytes;
  }

  /**
   * Entries have been committed to the tail. They need not be read again when they are sealed.
   */
  committed({ number, ranks }: LeveledRun, entries: readonly JournalEntry[]): void {
    const fresh = this.#fresh.get(number) ?? new Map<number, IterationRecord>();
    this.#fresh.set(number, fresh);
    for (const { record, sequence } of entries) {
      if (record.type === 'iteration') fresh.set(sequence, record);
    }
    // Others seal what this process stores, or the run has come to its end.
    if (fresh.size > 2 * (BLOCK_RECORDS + keptRows(ranks))) this.#fresh.delete(number);
  }

  #tailEntry(run: number, sequence: number): IterationEntry {
    const fresh = this.#fresh.get(run);
    const record = fresh?.get(sequence);
    if (record === undefined)
      return entryOf(this.#statements.tailRow.get(run, sequence)!);
    fresh!.delete(sequence);
    return { sequence, record };
  }

  /** Whether the tail has enough records for a block. */
  isSealable({ number, ranks, hasEnded }: SealedRun): boolean {
    return this.isLong(number, hasEnded ? 1 : BLOCK_RECORDS + keptRows(ranks));
  }

  /** Whether a block is to be sealed or a stretch of the levels to be made. */
  isBehind(run: SealedRun): boolean {
    return this.isSealable(run) || this.levels.isDue(run.number, run.hasEnded);
  }

  /**
   * Seals a block of a run, or makes a stretch of its levels, if either is due. Belongs into a
   * transaction.
   * @returns by how many bytes the run has become larger; undefined: nothing was to be done
   */
  catchUp(run: SealedRun): number | undefined {
    if (this.isSealable(run)) return -(this.seal(run) ?? 0);
    return this.levels.isDue(run.number, run.hasEnded)
      ? this.levels.raise(run)
      : undefined;
  }

  /** Whether the tail has at least this number of records. */
  isLong(run: number, records: number): boolean {
    return this.#statements.count.get(run, records)!.count >= records;
  }

  /** A run with a tail that is long for it, if any. */
  due(): SealedRun | undefined {
    const ended = this.#statements.ended.get();
    if (ended !== undefined) return { ...ended, hasEnded: true };
    const long = this.#statements.inProgress
      .all()
      .find(({ number, ranks }) =>
        this.isLong(number, BLOCK_RECORDS + keptRows(ranks)),
      );
    return long && { ...long, hasEnded: false };
  }

  /** @returns the block's bytes */
  #put(
    run: number,
    { first, last }: { readonly first: number; readonly last: number },
    entries: readonly IterationEntry[],
  ): number {
    let [least, most] = [Infinity, -Infinity];
    for (const { record } of entries) {
      least = Math.min(least, record.iteration);
      most = Math.max(most, record.iteration);
    }
    const content = encodeBlock(entries);
    this.#statements.put.run({
      run,
      first,
      last,
      least,
      most,
      records: entries.length,
      bytes: content.length,
      content,
    });
    return content.length;
  }
}

const entryOf = ({ sequence, record }: TailRow): IterationEntry => ({
  sequence,
  record: JSON.parse(record) as IterationRecord,
});

function prepare(database: Database.Database) {
  const place = `id, first_sequence, last_sequence, min_iteration, max_iteration, records`;
  return {
    places: database.prepare<
      [{ run: number; after: number; limit: number }],
      BlockPlace
    >(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = 0 AND last_sequence > @after
      ORDER BY first_sequence LIMIT @limit`),
    placesIn: database.prepare<
      [{ run: number; after: number; from: number; to: number }],
      BlockPlace
    >(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = 0 AND first_sequence > @after
        AND max_iteration >= @from AND min_iteration < @to
      ORDER BY first_sequence`),
    firstFrom: database.prepare<
      [{ run: number; from: number }],
      { iteration: number | null }
    >(`
      SELECT min(min_iteration) AS iteration FROM iteration_blocks
      WHERE run = @run AND level = 0 AND min_iteration >= @from`),
    reachFrom: database.prepare<
      [{ run: number; from: number }],
      { iteration: number | null }
    >(`
      SELECT min(iif(min_iteration > @from, min_iteration, @from)) AS iteration
      FROM iteration_blocks WHERE run = @run AND level = 0 AND max_iteration >= @from`),
    tailFirst: database.prepare<
      [{ run: number; from: number }],
      { readonly iteration: number }
    >(`
      SELECT iteration FROM iterations WHERE run = @run AND iteration >= @from
      ORDER BY iteration LIMIT 1`),
    tail: database.prepare<
      [{ run: number; from: number; to: number }],
      TailRow & { readonly iteration: number; readonly rank: number }
    >(`
      SELECT iteration, rank, sequence, record FROM iterations
      WHERE run = @run AND iteration >= @from AND iteration < @to`),
    around: database.prepare<[{ run: number; iteration: number }], BlockPlace>(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = 0
        AND min_iteration <= @iteration AND max_iteration >= @iteration`),
    content: database
      .prepare<[number], Buffer>('SELECT content FROM iteration_blocks WHERE id = ?')
      .pluck(),
    put: database.prepare<[Record<string, number | Uint8Array>]>(`
      INSERT INTO iteration_blocks (run, level, first_sequence, last_sequence,
        min_iteration, max_iteration, records, bytes, content)
      VALUES (@run, 0, @first, @last, @least, @most, @records, @bytes, @content)`),
    oldest: database.prepare<[number, number], { sequence: number; bytes: number }>(`
      SELECT sequence, length(record) AS bytes FROM iterations
      WHERE run = ? ORDER BY sequence LIMIT ?`),
    tailRow: database.prepare<[number, number], TailRow>(
      'SELECT sequence, record FROM iterations WHERE run = ? AND sequence = ?',
    ),
    forget: database.prepare<[number, number]>(
      'DELETE FROM iterations WHERE run = ? AND sequence <= ?',
    ),
    count: database.prepare<[number, number], { count: number }>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM iterations WHERE run = ? LIMIT ?)',
    ),
    ended: database.prepare<[], { number: number; ranks: number }>(`
      SELECT number, ranks FROM runs WHERE state NOT IN ('starting', 'running')
        AND EXISTS (SELECT 1 FROM iterations WHERE run = number) LIMIT 1`),
    inProgress: database.prepare<[], { number: number; ranks: number }>(
      `SELECT number, ranks FROM runs WHERE state IN ('starting', 'running')`,
    ),
  };
}
