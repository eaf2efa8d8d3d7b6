/**
 * A run's iteration records on disk: blocks of about a thousand, and a tail of the newest ones
 * as rows until they fill a block. Blocks hold consecutive records in the order of arrival, so
 * at every moment a record is in one block or in the tail; moving it is one transaction.
 *
 * Level n holds every 16ⁿ-th iteration once more (a fifteenth of the records in all). A level
 * follows the one below it at some distance: what it does not cover yet is read from there.
 *
 * Cost at four ranks: about 50 bytes a record, levels included. Sealing a block takes some
 * 20 ms of processor time.
 */
import type Database from 'better-sqlite3';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  encodeBlock,
  RecordBlock,
  type IterationEntry,
} from './blocks/record-block.ts';

/** Records of a block. */
export const BLOCK_RECORDS = 1024;
/**
 * Rows that a run in progress keeps at least, so that the newest iterations of all ranks are
 * at hand.
 */
const KEPT_ROWS = 1024;
const KEPT_ITERATIONS = 4;
/** Iterations of a level for each one of the next. */
export const LEVEL_STRIDE = 16;
export const HIGHEST_LEVEL = 5;
/** Decoded blocks that are kept: a few hundred kilobytes each. */
const KEPT_BLOCKS = 32;

/** What is known of a block without its content. */
export interface BlockPlace {
  readonly id: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly min_iteration: number;
  readonly max_iteration: number;
  readonly records: number;
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
  readonly #statements: ReturnType<typeof prepare>;
  /** By id, which no later block gets; the one used last is the last. */
  readonly #kept = new Map<number, RecordBlock>();

  constructor(database: Database.Database) {
    this.#statements = prepare(database);
  }

  /** The first blocks of a level with records after a sequence, in the order of arrival. */
  places(
    run: number,
    level: number,
    after: number,
    limit: number,
  ): readonly BlockPlace[] {
    return this.#statements.places.all({ run, level, after, limit });
  }

  /** Blocks of a level that begin after a sequence and reach an iteration. */
  placesFrom(
    run: number,
    asked: { readonly level: number; readonly after: number; readonly from: number },
  ): readonly BlockPlace[] {
    return this.#statements.placesFrom.all({ run, ...asked });
  }

  /** The last sequence that a level covers. */
  covered(run: number, level: number): number {
    return this.#statements.covered.get(run, level)?.last_sequence ?? 0;
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
    const least = hasEnded ? 1 : BLOCK_RECORDS + keptRows(ranks);
    if (!this.isLong(run, least)) return undefined;
    const rows = this.#statements.oldest.all(run, BLOCK_RECORDS);
    const entries = rows.map(({ sequence, record }) => ({
      sequence,
      record: JSON.parse(record) as IterationRecord,
    }));
    const range = { first: rows[0]!.sequence, last: rows.at(-1)!.sequence };
    let bytes = this.#put(run, 0, range, entries);
    this.#statements.forget.run(run, range.last);
    bytes += this.#raise(run, 1, range, entries);
    return rows.reduce((sum, { record }) => sum + record.length, 0) - bytes;
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

  /**
   * Adds the next records to a level: those of its iterations, to its last block. A full block
   * is closed, and raised in turn.
   * @returns bytes added
   */
  #raise(
    run: number,
    level: number,
    { first, last }: { readonly first: number; readonly last: number },
    entries: readonly IterationEntry[],
  ): number {
    const stride = LEVEL_STRIDE ** level;
    const own = entries.filter(({ record }) => record.iteration % stride === 0);
    if (level > HIGHEST_LEVEL || own.length === 0) return 0;
    const open = this.#statements.open.get({ run, level, full: BLOCK_RECORDS });
    if (open === undefined) {
      return this.#put(run, level, { first, last }, own);
    }
    const all = [...entriesOf(this.block(open)), ...own];
    this.#statements.remove.run(open.id);
    const range = { first: open.first_sequence, last };
    const added = this.#put(run, level, range, all) - open.bytes;
    if (all.length < BLOCK_RECORDS) return added;
    return added + this.#raise(run, level + 1, range, all);
  }

  /** @returns the block's bytes */
  #put(
    run: number,
    level: number,
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
      ...{ run, level, first, last, least, most },
      ...{ records: entries.length, bytes: content.length, content },
    });
    return content.length;
  }
}

function* entriesOf(block: RecordBlock): Generator<IterationEntry> {
  for (const row of block.bySequence) yield block.entry(row);
}

function prepare(database: Database.Database) {
  const place = `id, first_sequence, last_sequence, min_iteration, max_iteration, records`;
  return {
    places: database.prepare<
      [{ run: number; level: number; after: number; limit: number }],
      BlockPlace
    >(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = @level AND last_sequence > @after
      ORDER BY first_sequence LIMIT @limit`),
    placesFrom: database.prepare<
      [{ run: number; level: number; after: number; from: number }],
      BlockPlace
    >(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = @level AND first_sequence > @after
        AND max_iteration >= @from
      ORDER BY first_sequence`),
    covered: database.prepare<[number, number], { last_sequence: number }>(`
      SELECT last_sequence FROM iteration_blocks WHERE run = ? AND level = ?
      ORDER BY first_sequence DESC LIMIT 1`),
    around: database.prepare<[{ run: number; iteration: number }], BlockPlace>(`
      SELECT ${place} FROM iteration_blocks
      WHERE run = @run AND level = 0
        AND min_iteration <= @iteration AND max_iteration >= @iteration`),
    open: database.prepare<
      [{ run: number; level: number; full: number }],
      BlockPlace & { readonly bytes: number }
    >(`
      SELECT * FROM (
        SELECT ${place}, bytes FROM iteration_blocks
        WHERE run = @run AND level = @level ORDER BY first_sequence DESC LIMIT 1)
      WHERE records < @full`),
    content: database
      .prepare<[number], Buffer>('SELECT content FROM iteration_blocks WHERE id = ?')
      .pluck(),
    put: database.prepare<[Record<string, number | Uint8Array>]>(`
      INSERT INTO iteration_blocks (run, level, first_sequence, last_sequence,
        min_iteration, max_iteration, records, bytes, content)
      VALUES (@run, @level, @first, @last, @least, @most, @records, @bytes, @content)`),
    remove: database.prepare<[number]>('DELETE FROM iteration_blocks WHERE id = ?'),
    oldest: database.prepare<[number, number], TailRow>(`
      SELECT sequence, record FROM iterations
      WHERE run = ? ORDER BY sequence LIMIT ?`),
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
