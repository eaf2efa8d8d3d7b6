/**
 * Iteration records in the order that readers ask for, wherever they lie (blocks or tail), in
 * pieces of bounded size. What is drawn of a long run is read from its levels instead
 * (`run-levels.ts`).
 */
import type Database from 'better-sqlite3';
import { MOST_PAGE_BYTES } from './json-bound.ts';
import { iterationBound } from './iteration-bound.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { IterationPlace } from '../../shared/rpc/run-pieces.ts';
import type { IterationEntry } from './blocks/record-block.ts';
import type { IterationArchive, RecordPlace } from './iteration-archive.ts';

/** Records that are gathered and sorted at once. */
const WINDOW_RECORDS = 4096;
const FEW_BLOCKS = 4;
/** Heap of a piece, of a record without ranks that it waited for, and for each rank. */
const HEAP_BYTES = 8e6;
const RECORD_BYTES = 3000;
const RANK_BYTES = 12;

export interface IterationRange extends IterationPlace {
  /** The first iteration after the range. */
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
    asked: number,
  ): IterationPiece {
    const { fromRank = 0, to } = range;
    const most = Math.min(asked, mostAtOnce(run.ranks));
    const window = Math.min(most, WINDOW_RECORDS);
    const span = Math.max(1, Math.floor(window / run.ranks));
    const places: RecordPlace[] = [];
    let from = range.from;
    for (;;) {
      const first = this.#firstAt(run.number, from);
      from = first ?? from;
      const next = first === undefined || from >= to ? undefined : { from };
      if (next === undefined || places.length >= most) return made(places, most, next);
      const end = Math.min(to, from + span);
      for (const place of this.#window(run.number, from, end)) {
        const { iteration, rank } = place;
        if (iteration > range.from || rank >= fromRank) places.push(place);
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

  /** The mean loss of the newest iteration below `to` that all ranks have recorded and that has one. */
  lossBefore(
    { number, ranks }: { readonly number: number; readonly ranks: number },
    to: number,
  ): number | undefined {
    const span = Math.max(1, Math.floor(WINDOW_RECORDS / ranks));
    const entries = this.#window(number, Math.max(0, to - span), to).map((place) =>
      place.entry(),
    );
    const byIteration = Map.groupBy(entries, ({ record }) => record.iteration);
    const losses = [...byIteration.values()]
      .filter((all) => all.length === ranks)
      .map((all) => all.flatMap(({ record }) => record.loss ?? []));
    const newest = losses.findLast(({ length }) => length > 0);
    if (newest === undefined) return undefined;
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
  #window(run: number, from: number, to: number): readonly RecordPlace[] {
    const places = [...this.#archive.tailPlaces(run, from, to)];
    for (const each of this.#archive.placesIn(run, { after: 0, from, to })) {
      const block = this.#archive.block(each);
      for (const [row, iteration] of block.iterations.entries()) {
        if (iteration < from || iteration >= to) continue;
        const rank = block.ranks[row]!;
        places.push({ iteration, rank, entry: () => block.entry(row) });
      }
    }
    return places.sort((a, b) => a.iteration - b.iteration || a.rank - b.rank);
  }
}

/**
 * Records of a run that fit into some megabytes of the heap. V8 gives an object with numbers as
 * names, such as the times that a rank waited for others, room for all of them up to the largest.
 */
const mostAtOnce = (ranks: number): number =>
  Math.max(1, Math.floor(HEAP_BYTES / (RECORD_BYTES + RANK_BYTES * ranks)));

/** Makes the first records, as many as are asked for and fit into a message. */
function made(
  places: readonly RecordPlace[],
  most: number,
  next: IterationPlace | undefined,
): IterationPiece {
  const entries: IterationEntry[] = [];
  let bytes = 0;
  for (const { entry, iteration, rank } of places) {
    const isFull = entries.length === most || bytes > MOST_PAGE_BYTES;
    if (isFull) return { entries, next: { from: iteration, fromRank: rank } };
    const one = entry();
    bytes += iterationBound(one.record);
    if (bytes > MOST_PAGE_BYTES && entries.length > 0) {
      return { entries, next: { from: iteration, fromRank: rank } };
    }
    entries.push(one);
  }
  return { entries, next };
}

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
