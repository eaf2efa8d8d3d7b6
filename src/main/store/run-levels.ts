/**
 * The levels of a run: its records in bins of several widths (`levels/`), so that a chart of any
 * part of a run, of all ranks or of one, is read at a cost that follows what is drawn. Means and
 * extremes are those of all records.
 *
 * A stretch of sealed blocks becomes a chunk of bins for each part; four stretches of a level
 * become one of the next. Bins of two chunks may be the same ones, if ranks run apart or records
 * come late: they add up, so no order of arrival is wrong. What no stretch covers yet is read
 * from blocks and rows.
 *
 * Everything belongs into the transaction that seals the block, so a chunk has what was stored,
 * once. A run without levels (of an older version, or cut) gets them a stretch at a time.
 */
import type Database from 'better-sqlite3';
import { FIELD_COUNT, writeRow } from '../../shared/records/chart-fields.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import { MOST_BINS, type BinsQuery } from '../../shared/rpc/run-pieces.ts';
import type { BlockPlace, IterationArchive } from './iteration-archive.ts';
import type { IterationEntry } from './blocks/record-block.ts';
import { BinRows } from './levels/bin-rows.ts';
import { addChunk, encodeChunk, type WantedBins } from './levels/level-chunk.ts';
import {
  ALL_RANKS,
  HIGHEST_LEVEL,
  levelFor,
  levelWidth,
  MERGED,
  partOf,
} from './levels/level-shape.ts';
import { Stretch } from './levels/stretch.ts';

/** Blocks of a stretch: 16,384 records. */
const STRETCH_BLOCKS = 16;
/** Records that an answer is made of, unless a bin has more; as many as a stretch has. */
const MOST_READ = 16_384;
/** Blocks that are in no level, but fit into one answer. */
const MOST_UNCOVERED = 2 * STRETCH_BLOCKS;

/** The stretch that a run in progress is at. */
interface OpenStretch {
  /** The records of all blocks that were sealed after this sequence, and up to the other. */
  readonly after: number;
  last: number;
  blocks: number;
  readonly stretch: Stretch;
}

interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

interface ChunkPlace {
  readonly id: number;
  readonly part: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
}

export interface LeveledRun {
  readonly number: number;
  readonly ranks: number;
}

export class RunLevels {
  readonly #archive: IterationArchive;
  readonly #statements: ReturnType<typeof prepare>;
  /** Open stretches by the run's number, in this process. */
  readonly #open = new Map<number, OpenStretch>();
  readonly #row = new Float64Array(FIELD_COUNT);

  constructor(database: Database.Database, archive: IterationArchive) {
    this.#archive = archive;
    this.#statements = prepare(database);
  }

  /** A block of these entries has been sealed. Spares reading it again. */
  sealed(
    { number, ranks }: LeveledRun,
    { first, last }: SequenceRange,
    entries: readonly IterationEntry[],
  ): void {
    let open = this.#open.get(number);
    if (open === undefined || first <= open.last) {
      const covered = this.covered(number);
      // Blocks before it are not in the bins: they are counted when the stretch is taken.
      const stretch = new Stretch(ranks);
      open = { after: covered, last: covered, blocks: 0, stretch };
      this.#open.set(number, open);
    }
    for (const { record } of entries) open.stretch.add(record);
    open.last = last;
    open.blocks += 1;
  }

  /** The last sequence that is in the levels. */
  covered(run: number, level = 0): number {
    return this.#statements.covered.get({ run, level })?.last_sequence ?? 0;
  }

  /**
   * Whether a stretch is to be made.
   * @param isWhole nothing more comes soon: a shorter one is made
   */
  isDue(run: number, isWhole: boolean): boolean {
    const least = isWhole ? 1 : STRETCH_BLOCKS;
    return this.#places(run, least).length === least;
  }

  /** A run with a stretch to be made, if any. */
  due(): LeveledRun | undefined {
    return this.#statements.due.get({ blocks: STRETCH_BLOCKS });
  }

  /**
   * Makes a stretch of the oldest blocks that are in none, and those above it that are due.
   * Belongs into a transaction.
   * @returns bytes added
   */
  raise({ number, ranks }: LeveledRun): number {
    const places = this.#places(number, STRETCH_BLOCKS);
    const range = {
      first: places[0]!.first_sequence,
      last: places.at(-1)!.last_sequence,
    };
    const { parts } = this.#stretch({ number, ranks }, places);
    let bytes = 0;
    for (const [part, bins] of parts) bytes += this.#put(number, 0, part, range, bins);
    for (let level = 0; level < HIGHEST_LEVEL; level++) {
      const merged = this.#merge({ number, ranks }, level);
      if (merged === undefined) break;
      bytes += merged;
    }
    return bytes;
  }

  /**
   * Bins of the range, each with all that is stored of its iterations. All reads belong into one
   * transaction.
   */
  bins({ number, ranks }: LeveledRun, query: BinsQuery): BinRows {
    const { to, width } = query;
    const from = Math.floor(query.from / width) * width;
    // The last bin is whole, too.
    const wanted = { from, to: Math.ceil(to / width) * width, rank: query.rank };
    const part = query.rank === undefined ? ALL_RANKS : partOf(query.rank, ranks);
    const bins = new BinRows(width);
    let after = 0;
    for (let level = levelFor(part, width, ranks); level >= 0; level--) {
      const own = levelWidth(part, level, ranks);
      const rank = part === ALL_RANKS ? undefined : query.rank;
      for (const { id } of this.#statements.chunks.iterate({
        run: number,
        part,
        level,
        after,
        from: wanted.from,
        to: wanted.to,
      })) {
        const content = this.#statements.content.get(id)!;
        addChunk(bins, content, own, { ...wanted, rank });
      }
      after = Math.max(after, this.covered(number, level));
    }
    this.#addRecords(bins, { number, ranks }, wanted, after);
    return bins;
  }

  /**
   * Iterations that one answer may have, so that it takes neither long nor much: fewer where bins
   * are made of records that lie in no level.
   */
  span({ number, ranks }: LeveledRun, { rank, width }: BinsQuery): number {
    const part = rank === undefined ? ALL_RANKS : partOf(rank, ranks);
    const isLeveled =
      levelFor(part, width, ranks) >= 0 &&
      this.#places(number, MOST_UNCOVERED).length < MOST_UNCOVERED &&
      !this.#archive.isLong(number, MOST_READ);
    if (isLeveled) return MOST_BINS * width;
    return Math.max(width, Math.floor(MOST_READ / ranks / width) * width);
  }

  /** Adds records after a sequence. */
  #addRecords(
    bins: BinRows,
    { number, ranks }: LeveledRun,
    wanted: WantedBins,
    after: number,
  ): void {
    const add = (record: IterationRecord): void => {
      writeRow(record, this.#row);
      bins.addRow(record.iteration, 0, this.#row);
    };
    const { from, rank: only, to } = wanted;
    const open = this.#open.get(number);
    const part = only === undefined ? ALL_RANKS : partOf(only, ranks);
    let last = after;
    if (
      open?.after === after &&
      bins.width >= levelWidth(part, 0, ranks) &&
      this.#isCurrent(number, open)
    ) {
      const of = open.stretch.parts.get(part);
      for (const { at, rank, start } of of?.sorted() ?? []) {
        if (start < from || start >= to) continue;
        if (part !== ALL_RANKS && rank !== only) continue;
        bins.addCells(start, 0, of!.cells, at);
      }
      ({ last } = open);
    }
    for (const place of this.#archive.placesIn(number, { after: last, from, to })) {
      const block = this.#archive.block(place);
      for (const [row, iteration] of block.iterations.entries()) {
        if (iteration < from || iteration >= to) continue;
        if (only !== undefined && block.ranks[row] !== only) continue;
        add(block.entry(row).record);
      }
    }
    for (const { record } of this.#archive.tail(number, from, to)) {
      if (only === undefined || record.rank === only) add(record);
    }
  }

  /** Whether all blocks after those in the levels are in the open stretch, and no others. */
  #isCurrent(run: number, open: OpenStretch): boolean {
    const places = this.#archive.places(run, open.after, open.blocks + 1);
    return (
      open.after === this.covered(run) &&
      places.length === open.blocks &&
      places.at(-1)?.last_sequence === open.last
    );
  }

  #places(run: number, limit: number): readonly BlockPlace[] {
    return this.#archive.places(run, this.covered(run), limit);
  }

  #stretch(run: LeveledRun, places: readonly BlockPlace[]): Stretch {
    const open = this.#open.get(run.number);
    this.#open.delete(run.number);
    if (open !== undefined && this.#isCurrent(run.number, open)) return open.stretch;
    const stretch = new Stretch(run.ranks);
    for (const place of places) {
      const block = this.#archive.block(place);
      for (const row of block.iterations.keys()) stretch.add(block.entry(row).record);
    }
    return stretch;
  }

  /** @returns bytes added; undefined: too few stretches are in no higher level */
  #merge({ number, ranks }: LeveledRun, level: number): number | undefined {
    const query = { run: number, level, after: this.covered(number, level + 1) };
    const stretches = this.#statements.next.all({ ...query, part: ALL_RANKS });
    if (stretches.length < MERGED) return undefined;
    const range = {
      first: stretches[0]!.first_sequence,
      last: stretches.at(-1)!.last_sequence,
    };
    const parts = new Map<number, BinRows>();
    for (const { id, part } of this.#statements.of.all({
      ...query,
      last: range.last,
    })) {
      const width = levelWidth(part, level + 1, ranks);
      const bins = parts.get(part) ?? new BinRows(width);
      parts.set(part, bins);
      const everything = { from: -Infinity, to: Infinity };
      const own = levelWidth(part, level, ranks);
      addChunk(bins, this.#statements.content.get(id)!, own, everything);
    }
    let bytes = 0;
    for (const [part, bins] of parts) {
      bytes += this.#put(number, level + 1, part, range, bins);
    }
    return bytes;
  }

  /** @returns the chunk's bytes */
  #put(
    run: number,
    level: number,
    part: number,
    { first, last }: SequenceRange,
    bins: BinRows,
  ): number {
    let [least, most] = [Infinity, -Infinity];
    for (const { start } of bins.sorted()) {
      least = Math.min(least, start);
      most = Math.max(most, start + bins.width - 1);
    }
    const content = encodeChunk(bins);
    this.#statements.put.run({
      run,
      level,
      part,
      first,
      last,
      least,
      most,
      bytes: content.length,
      content,
    });
    return content.length;
  }
}

function prepare(database: Database.Database) {
  return {
    covered: database.prepare<
      [{ run: number; level: number }],
      { last_sequence: number }
    >(`
      SELECT last_sequence FROM level_chunks
      WHERE run = @run AND part = ${ALL_RANKS} AND level = @level
      ORDER BY first_sequence DESC LIMIT 1`),
    chunks: database.prepare<
      [
        {
          run: number;
          part: number;
          level: number;
          after: number;
          from: number;
          to: number;
        },
      ],
      { id: number }
    >(`
      SELECT id FROM level_chunks
      WHERE run = @run AND part = @part AND level = @level AND first_sequence > @after
        AND max_iteration >= @from AND min_iteration < @to`),
    next: database.prepare<
      [{ run: number; part: number; level: number; after: number }],
      ChunkPlace
    >(`
      SELECT id, part, first_sequence, last_sequence FROM level_chunks
      WHERE run = @run AND part = @part AND level = @level AND first_sequence > @after
      ORDER BY first_sequence LIMIT ${MERGED}`),
    of: database.prepare<
      [{ run: number; level: number; after: number; last: number }],
      ChunkPlace
    >(`
      SELECT id, part, first_sequence, last_sequence FROM level_chunks
      WHERE run = @run AND level = @level
        AND first_sequence > @after AND last_sequence <= @last
      ORDER BY part, first_sequence`),
    content: database
      .prepare<[number], Buffer>('SELECT content FROM level_chunks WHERE id = ?')
      .pluck(),
    put: database.prepare<[Record<string, number | Uint8Array>]>(`
      INSERT INTO level_chunks (run, level, part, first_sequence, last_sequence,
        min_iteration, max_iteration, bytes, content)
      VALUES (@run, @level, @part, @first, @last, @least, @most, @bytes, @content)`),
    due: database.prepare<[{ blocks: number }], { number: number; ranks: number }>(`
      SELECT number, ranks FROM runs
      WHERE deleted < 2 AND (SELECT count(*) FROM (
        SELECT 1 FROM iteration_blocks
        WHERE run = number AND level = 0 AND first_sequence > coalesce((
          SELECT last_sequence FROM level_chunks
          WHERE run = number AND part = ${ALL_RANKS} AND level = 0
          ORDER BY first_sequence DESC LIMIT 1), 0)
        LIMIT @blocks)) >= iif(state IN ('starting', 'running'), @blocks, 1)
      LIMIT 1`),
  };
}
