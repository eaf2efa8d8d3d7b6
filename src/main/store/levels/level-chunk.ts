/**
 * A chunk of a level: some bins with their cells, as packed columns. A field that no bin has
 * takes nothing, and one that all iterations have takes no counts. Fields lie under their names:
 * one that a version does not know is left out, one that came later was not observed.
 */
import {
  BANDED_FIELDS,
  COLUMN,
  FIELDS,
  type Field,
} from '../../../shared/records/chart-fields.ts';
import {
  CELL_COUNT,
  clearCells,
  COUNTS,
  MAXIMA,
  MINIMA,
} from '../../../shared/records/chart-cells.ts';
import {
  bytesPerValue,
  decodeNumbers,
  encodeNumbers,
  type NumberCode,
} from '../blocks/number-column.ts';
import { packColumns, unpackColumns } from '../blocks/packed-columns.ts';
import type { BinRows } from './bin-rows.ts';

interface FieldColumns {
  readonly name: string;
  readonly sums: NumberCode;
  /** Default: as many values as the wall time has. */
  readonly counts?: NumberCode;
  readonly minima?: NumberCode;
  readonly maxima?: NumberCode;
}

interface ChunkHead {
  readonly count: number;
  /** Numbers of bins: their first iterations in widths. */
  readonly bins: NumberCode;
  readonly ranks: NumberCode;
  /** Records of each. */
  readonly records: NumberCode;
  readonly fields: readonly FieldColumns[];
}

export function encodeChunk(rows: BinRows): Uint8Array {
  const places = rows.sorted();
  const { cells, width } = rows;
  const parts: Uint8Array[] = [];
  const column = (values: readonly number[]): NumberCode => {
    const { bytes, code } = encodeNumbers(values);
    parts.push(bytes);
    return code;
  };
  const cell = (index: number): number[] => places.map(({ at }) => cells[at + index]!);
  const records = cell(COUNTS + COLUMN.wall);
  const bins = column(places.map(({ start }) => start / width));
  const ranks = column(places.map(({ rank }) => rank));
  const recordsCode = column(records);
  const fields = FIELDS.flatMap((name): FieldColumns[] => {
    const index = COLUMN[name];
    const counts = cell(COUNTS + index);
    if (counts.every((count) => count === 0)) return [];
    const isWhole = counts.every((count, row) => count === records[row]);
    const exact = cell(index).map((sum, row) => withoutRounding(sum, counts[row]!));
    const band = (BANDED_FIELDS as readonly Field[]).indexOf(name);
    const extremes = (at: number): NumberCode =>
      column(cell(at + band).map((value, row) => (counts[row] === 0 ? 0 : value)));
    return [
      {
        name,
        sums: column(exact),
        ...(isWhole ? {} : { counts: column(counts) }),
        ...(band < 0 ? {} : { minima: extremes(MINIMA), maxima: extremes(MAXIMA) }),
      },
    ];
  });
  const head: ChunkHead = {
    count: places.length,
    bins,
    ranks,
    records: recordsCode,
    fields,
  };
  return packColumns(head, parts);
}

/** The bins of a chunk that are wanted. */
export interface WantedBins {
  /** First iterations with from ≤ start < to. */
  readonly from: number;
  readonly to: number;
  /** Default: all. */
  readonly rank?: number | undefined;
}

/**
 * Adds the bins of a chunk to those of the same width or a larger one.
 * @param width of the chunk's bins
 */
export function addChunk(
  rows: BinRows,
  content: Uint8Array,
  width: number,
  { from, rank, to }: WantedBins,
): void {
  const { head: read, take } = unpackColumns(content);
  const head = read as ChunkHead;
  const { count } = head;
  const numbers = (code: NumberCode): Float64Array =>
    decodeNumbers({ code, bytes: take(bytesPerValue(code) * count) }, count);
  const bins = numbers(head.bins);
  const ranks = numbers(head.ranks);
  const records = numbers(head.records);
  const wanted: number[] = [];
  for (let row = 0; row < count; row++) {
    const start = bins[row]! * width;
    if (start < from || start >= to) continue;
    if (rank === undefined || ranks[row] === rank) wanted.push(row);
  }
  if (wanted.length === 0) return;
  const cells = new Float64Array(wanted.length * CELL_COUNT);
  clearCells(cells, 0, wanted.length);
  const put = (cell: number, of: (row: number) => number): void => {
    for (const [index, row] of wanted.entries())
      cells[index * CELL_COUNT + cell] = of(row);
  };
  for (const field of head.fields) {
    const column = (COLUMN as Readonly<Partial<Record<string, number>>>)[field.name];
    const band = (BANDED_FIELDS as readonly string[]).indexOf(field.name);
    // In the order of their bytes.
    const sums = numbers(field.sums);
    const counts = field.counts === undefined ? records : numbers(field.counts);
    const minima = field.minima && numbers(field.minima);
    const maxima = field.maxima && numbers(field.maxima);
    if (column === undefined) continue;
    put(column, (row) => sums[row]!);
    put(COUNTS + column, (row) => counts[row]!);
    if (band < 0 || minima === undefined || maxima === undefined) continue;
    put(MINIMA + band, (row) => (counts[row] === 0 ? Infinity : minima[row]!));
    put(MAXIMA + band, (row) => (counts[row] === 0 ? -Infinity : maxima[row]!));
  }
  for (const [index, row] of wanted.entries()) {
    rows.addCells(
      bins[row]! * width,
      rank === undefined ? ranks[row]! : 0,
      cells,
      index * CELL_COUNT,
    );
  }
}

/** Times are whole nanoseconds in milliseconds. */
const PER_MILLISECOND = 1e6;

/**
 * A sum of times without the error of the additions, which takes five bytes that say nothing: a
 * whole number of nanoseconds, if there is one as near as that error is large.
 */
function withoutRounding(sum: number, count: number): number {
  const whole = Math.round(sum * PER_MILLISECOND) / PER_MILLISECOND;
  const error = Math.abs(sum) * Number.EPSILON * count;
  return Math.abs(whole - sum) <= error ? whole : sum;
}
