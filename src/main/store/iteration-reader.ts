/**
 * Iteration records in the order that readers ask for, wherever they lie (blocks or tail), in
 * pieces of bounded size. Thinned by a stride, they are read from the highest level that has
 * all of them, so the cost follows what is returned, not the length of the run.
 */
import type Database from 'better-sqlite3';
import { entryBound, fitting } from '../../shared/json-bound.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { IterationPlace } from '../../shared/rpc/rpc.ts';
import type { IterationEntry } from './blocks/record-block.ts';
import {
  HIGHEST_LEVEL,
  type IterationArchive,
  LEVEL_STRIDE,
  type BlockPlace,
} from './iteration-archive.ts';

/** Records that are gathered and sorted at once. */
const WINDOW_RECORDS = 4096;
const FEW_BLOCKS = 4;

export interface IterationRange extends IterationPlace {
  /** The first iteration that is not asked for. */
  readonly to: number;
  /** Only multiples of it. */
  readonly stride: number;
}

/** Some records of a range. */
export interface IterationPiece {
  /** By iteration and rank. */
  readonly entries: readonly IterationEntry[];
  /** Where to go on, perhaps within an iteration; undefined: there is no more. */
  readonly next: IterationPlace | undefined;
}

interface Row {
  readonly sequence: number;
  readonly record: string;
}

export class IterationReader {
  readonly #archive: IterationArchive;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database.Database, archive: IterationArchive) {
    this.#archive = archive;
    this.#statements = prepare(database);
  }

  /**
   * The range's first records: at most a number of them, and what fits into a message, but at
   * least one. All reads of a piece belong into one transaction.
   */
  piece(
    run: { readonly number: number; readonly ranks: number },
    range: IterationRange,
    most: number,
  ): IterationPiece {
    const { fromRank = 0, stride, to } = range;
    const window = Math.min(most, WINDOW_RECORDS);
    const span = Math.max(1, Math.floor(window / run.ranks)) * stride;
    const entries: IterationEntry[] = [];
    let from = range.from;
    for (;;) {
      const sources = this.#sources(run.number, from, stride);
      const first = this.#firstAt(run.number, from, sources);
      from = Math.ceil(Math.max(from, first ?? 0) / stride) * stride;
      const next = first === undefined || from >= to ? undefined : { from };
      if (next === undefined || entries.length >= most) return cut(entries, most, next);
      const end = Math.min(to, from + span);
      for (const entry of this.#window(
        run.number,
        { from, to: end, stride },
        sources,
      )) {
        const { iteration, rank } = entry.record;
        if (iteration > range.from || rank >= fromRank) entries.push(entry);
      }
      from = end;
    }
  }

  /** Records after a sequence, in the order of arrival: the first ones. */
  after(run: number, sequence: number, most: number): readonly IterationEntry[] {
    const entries: IterationEntry[] = [];
    let after = sequence;
    for (;;) {
      const places = this.#archive.places(run, 0, after, FEW_BLOCKS);
      for (const place of places) {
        const block = this.#archive.block(place);
        for (const row of block.bySequence) {
          if (block.sequences[row]! <= after) continue;
          if (entries.length === most) return entries;
          entries.push(block.entry(row));
        }
        after = place.last_sequence;
      }
      if (places.length === 0) break;
    }
    const limit = most - entries.length;
    const tail = this.#statements.tailAfter.all({ run, sequence, limit });
    return [...entries, ...tail.map(entryOf)];
  }

  /** The mean loss of the newest iteration below `to` that all ranks have recorded. */
  lossBefore(
    { number, ranks }: { readonly number: number; readonly ranks: number },
    to: number,
  ): number | undefined {
    const span = Math.max(1, Math.floor(WINDOW_RECORDS / ranks));
    const range = { from: Math.max(0, to - span), to, stride: 1 };
    const entries = this.#window(number, range, this.#sources(number, range.from, 1));
    const byIteration = Map.groupBy(entries, ({ record }) => record.iteration);
    const whole = [...byIteration].filter(([, all]) => all.length === ranks);
    const newest = whole.at(-1)?.[1].flatMap(({ record }) => record.loss ?? []) ?? [];
    if (newest.length === 0) return undefined;
    return newest.reduce((sum, loss) => sum + loss, 0) / newest.length;
  }

  /** Blocks that may have records of the range, each of them in one. */
  #sources(run: number, from: number, stride: number): readonly BlockPlace[] {
    const sources: BlockPlace[] = [];
    let after = 0;
    for (let level = levelOf(stride); level >= 0; level--) {
      sources.push(...this.#archive.placesFrom(run, { level, after, from }));
      after = Math.max(after, this.#archive.covered(run, level));
    }
    return sources;
  }

  /** The first iteration from one on that has a record. */
  #firstAt(
    run: number,
    from: number,
    sources: readonly BlockPlace[],
  ): number | undefined {
    let first = this.#statements.tailFirst.get({ run, from })?.iteration ?? Infinity;
    for (const place of sources) {
      if (place.min_iteration >= from) {
        first = Math.min(first, place.min_iteration);
        continue;
      }
      for (const iteration of this.#archive.block(place).iterations) {
        if (iteration >= from && iteration < first) first = iteration;
      }
    }
    return first === Infinity ? undefined : first;
  }

  #window(
    run: number,
    { from, to, stride }: IterationRange,
    sources: readonly BlockPlace[],
  ): readonly IterationEntry[] {
    const entries = this.#statements.tail.all({ run, from, to, stride }).map(entryOf);
    for (const place of sources) {
      if (place.min_iteration >= to || place.max_iteration < from) continue;
      const block = this.#archive.block(place);
      for (const [row, iteration] of block.iterations.entries()) {
        if (iteration < from || iteration >= to || iteration % stride !== 0) continue;
        entries.push(block.entry(row));
      }
    }
    return entries.sort(byIterationAndRank);
  }
}

/** The highest level that has all multiples of a stride. */
function levelOf(stride: number): number {
  let level = 0;
  while (level < HIGHEST_LEVEL && stride % LEVEL_STRIDE ** (level + 1) === 0) level++;
  return level;
}

/** Leaves out records at the end until they are few and small enough. */
function cut(
  entries: readonly IterationEntry[],
  most: number,
  next: IterationPlace | undefined,
): IterationPiece {
  const end = fitting(entries.slice(0, most), entryBound);
  if (end === entries.length) return { entries, next };
  const { iteration, rank } = entries[end]!.record;
  return {
    entries: entries.slice(0, end),
    next: { from: iteration, fromRank: rank },
  };
}

const byIterationAndRank = (
  { record: a }: IterationEntry,
  { record: b }: IterationEntry,
): number => a.iteration - b.iteration || a.rank - b.rank;

const entryOf = ({ sequence, record }: Row): IterationEntry => ({
  sequence,
  record: JSON.parse(record) as IterationRecord,
});

function prepare(database: Database.Database) {
  return {
    tail: database.prepare<
      [{ run: number; from: number; to: number; stride: number }],
      Row
    >(`
      SELECT sequence, record FROM iterations
      WHERE run = @run AND iteration >= @from AND iteration < @to
        AND iteration % @stride = 0`),
    tailFirst: database.prepare<
      [{ run: number; from: number }],
      { readonly iteration: number }
    >(`
      SELECT iteration FROM iterations WHERE run = @run AND iteration >= @from
      ORDER BY iteration LIMIT 1`),
    tailAfter: database.prepare<
      [{ run: number; sequence: number; limit: number }],
      Row
    >(`
      SELECT sequence, record FROM iterations
      WHERE run = @run AND sequence > @sequence ORDER BY sequence LIMIT @limit`),
  };
}
