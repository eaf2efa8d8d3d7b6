/**
 * A run as a file, in pieces of bounded size: JSON (one object: run, spec, events, log, buckets,
 * utilisation, iterations), JSON Lines (run and spec, then a record in each line, in the same order) or CSV
 * (one row per iteration and rank). All contain exactly the stored data; in CSV an empty cell is
 * a quantity that was not observed.
 *
 * A piece says where the next one begins, so that a reader needs no place in memory between
 * two of them.
 */
import type { PieceFormat } from '../../shared/records/export-format.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type {
  ExportPiece,
  ExportPlace,
  IterationPlace,
} from '../../shared/rpc/run-pieces.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { csvLine } from '../../export/formats/csv.ts';
import { iterationColumns } from '../../export/tables/iteration-columns.ts';
import { iterationRows } from '../../export/tables/iteration-rows.ts';
import type { RunStore } from './run-store.ts';

/** Iteration records of a piece: a megabyte of JSON. */
const PIECE_RECORDS = 1000;

/** The whole export, piece by piece. */
export function* exportRun(
  store: RunStore,
  run: string,
  format: PieceFormat,
): Generator<string> {
  let place: ExportPlace | undefined;
  do {
    const piece: ExportPiece = exportPiece(store, run, format, place);
    yield piece.text;
    place = piece.next;
  } while (place !== undefined);
}

/** @param place where the previous piece ended; default: the first piece */
export function exportPiece(
  store: RunStore,
  run: string,
  format: PieceFormat,
  place?: ExportPlace,
): ExportPiece {
  const { next, text } =
    format === 'csv'
      ? csvPiece(store, run, place)
      : jsonPiece(store, run, place, format === 'json' ? OBJECT : LINES);
  if (next === undefined) return { text, done: 1 };
  return { text, next, done: partBefore(store.summary(run), next) };
}

type Piece = Omit<ExportPiece, 'done'>;

/** Iterations are nearly all of a file. */
function partBefore({ iterations }: RunSummary, { from, part }: ExportPlace): number {
  return part === 'iterations' ? Math.min(1, from / Math.max(1, iterations)) : 0;
}

/** The text around records. */
interface Frame {
  readonly head: (run: string, spec: string) => string;
  readonly beforeLog: string;
  readonly beforeBuckets: string;
  readonly beforeUtilisation: string;
  readonly beforeIterations: string;
  readonly end: string;
  /** Text before a record; `beforeFirst`: before the first one of a part. */
  readonly before: string;
  readonly beforeFirst: string;
}

const OBJECT: Frame = {
  head: (run, spec) => `{"run":${run},\n"spec":${spec},\n"events":[`,
  beforeLog: '\n],\n"log":[',
  beforeBuckets: '\n],\n"buckets":[',
  beforeUtilisation: '\n],\n"utilisation":[',
  beforeIterations: '\n],\n"iterations":[',
  end: '\n]}\n',
  before: ',\n',
  beforeFirst: '\n',
};

const LINES: Frame = {
  head: (run, spec) => `{"type":"run","run":${run},"spec":${spec}}`,
  beforeLog: '',
  beforeBuckets: '',
  beforeUtilisation: '',
  beforeIterations: '',
  end: '\n',
  before: '\n',
  beforeFirst: '\n',
};

function jsonPiece(
  store: RunStore,
  run: string,
  place: ExportPlace | undefined,
  frame: Frame,
): Piece {
  if (place === undefined) {
    const summary = JSON.stringify(store.summary(run));
    const text = frame.head(summary, JSON.stringify(store.spec(run)));
    return { text, next: { part: 'events', from: 0, isFirst: true } };
  }
  const { part, from, fromRank, isFirst, last: lastTo } = place;
  if (part === 'iterations') {
    const range = { from, fromRank, to: Infinity };
    const { entries, next } = store.reads.iterations(run, range, PIECE_RECORDS);
    const text = listed(entries, isFirst, frame);
    return next === undefined
      ? { text: text + frame.end }
      : { text, next: { part, ...next, isFirst: isFirst && text === '' } };
  }
  if (part === 'buckets') {
    const after = { first: from, last: lastTo ?? -1, rank: fromRank ?? -1 };
    const records = store.buckets.after(run, after);
    const newest = records.at(-1);
    if (newest === undefined) {
      const next = { part: 'utilisation', from: 0, isFirst: true } as const;
      return { text: frame.beforeUtilisation, next };
    }
    const entries = records.map((record) => ({ record }));
    const { from: first, rank, to } = newest;
    const next = { part, from: first, last: to, fromRank: rank, isFirst: false };
    return { text: listed(entries, isFirst, frame), next };
  }
  if (part === 'utilisation') {
    const rows = store.utilisation.after(run, from);
    if (rows.length === 0) {
      const next = { part: 'iterations', from: 0, isFirst: true } as const;
      return { text: frame.beforeIterations, next };
    }
    const next = { part, from: rows.at(-1)!.sequence, isFirst: false };
    const items = rows.map(({ record }) => record);
    return { text: listedTexts(items, isFirst, frame), next };
  }
  const page =
    part === 'events'
      ? store.reads.eventsAfter(run, from)
      : store.reads.logLinesAfter(run, from);
  const last = page.at(-1);
  if (last !== undefined) {
    const next = { part, from: last.sequence, isFirst: false };
    return { text: listed(page, isFirst, frame), next };
  }
  return part === 'events'
    ? { text: frame.beforeLog, next: { part: 'log', from: 0, isFirst: true } }
    : {
        text: frame.beforeBuckets,
        next: { part: 'buckets', from: 0, isFirst: true },
      };
}

function listed(
  entries: readonly Pick<JournalEntry, 'record'>[],
  isFirst: boolean,
  frame: Frame,
): string {
  const items = entries.map(({ record }) => JSON.stringify(record));
  return listedTexts(items, isFirst, frame);
}

function listedTexts(
  items: readonly string[],
  isFirst: boolean,
  { before, beforeFirst }: Frame,
): string {
  if (items.length === 0) return '';
  return `${isFirst ? beforeFirst : before}${items.join(before)}`;
}

function csvPiece(
  store: RunStore,
  run: string,
  place: IterationPlace | undefined,
): Piece {
  const table = iterationColumns(store.summary(run));
  const { from, fromRank } = place ?? { from: 0 };
  const range = { from, fromRank, to: Infinity };
  const { entries, next } = store.reads.iterations(run, range, PIECE_RECORDS);
  const evaluations = store.reads.evaluations(
    run,
    withRankZero(range),
    withRankZero(next),
  );
  const records = entries.map(({ record }) => record);
  const head = place === undefined ? csvLine(table.map(({ name }) => name)) : '';
  const lines = iterationRows(records, evaluations).map((row) =>
    csvLine(table.map(({ cell }) => cell(row))),
  );
  const text = head + lines.join('');
  return next === undefined
    ? { text }
    : { text, next: { part: 'iterations', ...next, isFirst: false } };
}

/** The first iteration whose rank 0 is not before a place. */
function withRankZero(place: IterationPlace | undefined): number {
  if (place === undefined) return Infinity;
  return place.from + ((place.fromRank ?? 0) > 0 ? 1 : 0);
}
