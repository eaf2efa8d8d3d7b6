/**
 * Iteration records in the order that readers ask for, wherever they lie (blocks or tail), in
 * pieces of bounded size. What is drawn of a long run is read from its levels instead
 * (`run-levels.ts`).
 */
import type Database from 'better-sqlite3';
import { fitting } from '../../shared/json-bound.ts';
import { iterationBound } from '../../shared/records/iteration-bound.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { IterationPlace } from '../../shared/rpc/rpc.ts';
import type { IterationEntry } from './blocks/record-block.ts';
import type { IterationArchive } from './iteration-archive.ts';

/** Records that are gathered and sorted at once. */
const WINDOW_RECORDS = 4096;
const FEW_BLOCKS = 4;

export interface IterationRange extends IterationPlace {
  /** The first iteration that is not asked for. */
  readonly to: number;
}

/** Some records of a range. */
export interface IterationPiece {
  /** Entries by iteration and rank. */
  readonly entries: readonly IterationEntry[];
  /** The place to go on from, perhaps within an iteration; undefined: there is no more. */
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
    const { fromRank = 0, to } = range;
    const window = Math.min(most, WINDOW_RECORDS);
    const span = Math.max(1, Math.floor(window / run.ranks));
    const entries: IterationEntry[] = [];
    let from = range.from;
    for (;;) {
      const first = this.#firstAt(run.number, from);
      from = first ?? from;
      const next = first === undefined || from >= to ? undefined : { from };
      if (next === undefined || entries.length >= most) return cut(entries, most, next);
      const end = Math.min(to, from + span);
      for (const entry of this.#window(run.number, from, end)) {
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
      const places = this.#archive.places(run, after, FEW_BLOCKS);
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
    const entries = this.#window(number, Math.max(0, to - span), to);
    const byIteration = Map.groupBy(entries, ({ record }) => record.iteration);
    const whole = [...byIteration].filter(([, all]) => all.length === ranks);
    const newest = whole.at(-1)?.[1].flatMap(({ record }) => record.loss ?? []) ?? [];
    if (newest.length === 0) return undefined;
    return newest.reduce((sum, loss) => sum + loss, 0) / newest.length;
  }

  /** The first iteration from one on that has a record. */
  #firstAt(run: number, from: number): number | undefined {
    const inTail = this.#archive.tailFirst(run, from);
    let first = Math.min(
      inTail ?? Infinity,
      this.#archive.firstFrom(run, from) ?? Infinity,
    );
    for (const place of this.#archive.placesIn(run, { after: 0, from, to: from })) {
      for (const iteration of this.#archive.block(place).iterations) {
        if (iteration >= from && iteration < first) first = iteration;
      }
    }
    return first === Infinity ? undefined : first;
  }

  /** Records with from ≤ iteration < to. */
  #window(run: number, from: number, to: number): readonly IterationEntry[] {
    const entries = [...this.#archive.tail(run, from, to)];
    for (const place of this.#archive.placesIn(run, { after: 0, from, to })) {
      const block = this.#archive.block(place);
      for (const [row, iteration] of block.iterations.entries()) {
        if (iteration >= from && iteration < to) entries.push(block.entry(row));
      }
    }
    return entries.sort(byIterationAndRank);
  }
}

/** Leaves out records at the end until they are few and small enough. */
function cut(
  entries: readonly IterationEntry[],
  most: number,
  next: IterationPlace | undefined,
): IterationPiece {
  const end = fitting(entries.slice(0, most), ({ record }) => iterationBound(record));
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
    tailAfter: database.prepare<
      [{ run: number; sequence: number; limit: number }],
      Row
    >(`
      SELECT sequence, record FROM iterations
      WHERE run = @run AND sequence > @sequence ORDER BY sequence LIMIT @limit`),
  };
}
