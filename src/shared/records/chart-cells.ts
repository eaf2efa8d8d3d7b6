/**
 * Cells that charts keep of several iterations together: for each field the sum and how many
 * values are in it, for banded fields their extremes. Cells of parts add up to those of the
 * whole, in any order, so that they are kept at several widths and grow as records come.
 *
 *   sums (FIELD_COUNT) · counts (FIELD_COUNT) · minima · maxima (one of each for a banded field)
 */
import { BANDED_FIELDS, COLUMN, FIELD_COUNT } from './chart-fields.ts';

const BANDS = BANDED_FIELDS.length;

/** Offsets at which the kinds of cells begin in a bin. */
export const COUNTS = FIELD_COUNT;
export const MINIMA = 2 * FIELD_COUNT;
export const MAXIMA = MINIMA + BANDS;
/** Cells of one bin. */
export const CELL_COUNT = MAXIMA + BANDS;

/** The columns of banded fields in a row of `writeRow`. */
const BANDED_COLUMNS = BANDED_FIELDS.map((field) => COLUMN[field]);

/** Makes the cells at a place those of nothing. */
export function clearCells(cells: Float64Array, at: number, bins = 1): void {
  cells.fill(0, at, at + bins * CELL_COUNT);
  for (let bin = 0; bin < bins; bin++) {
    const base = at + bin * CELL_COUNT;
    cells.fill(Infinity, base + MINIMA, base + MAXIMA);
    cells.fill(-Infinity, base + MAXIMA, base + CELL_COUNT);
  }
}

/** Adds a row of `writeRow`, which begins at `from`. Allocates nothing. */
export function addRow(
  cells: Float64Array,
  at: number,
  rows: Float64Array,
  from = 0,
): void {
  for (let column = 0; column < FIELD_COUNT; column++) {
    const value = rows[from + column]!;
    if (Number.isNaN(value)) continue;
    cells[at + column]! += value;
    cells[at + COUNTS + column]! += 1;
  }
  for (let band = 0; band < BANDS; band++) {
    const value = rows[from + BANDED_COLUMNS[band]!]!;
    if (value < cells[at + MINIMA + band]!) cells[at + MINIMA + band] = value;
    if (value > cells[at + MAXIMA + band]!) cells[at + MAXIMA + band] = value;
  }
}

/** Adds the cells of another bin. Allocates nothing. */
export function addCells(
  cells: Float64Array,
  at: number,
  other: Float64Array,
  from: number,
): void {
  for (let cell = 0; cell < MINIMA; cell++) cells[at + cell]! += other[from + cell]!;
  for (let cell = MINIMA; cell < MAXIMA; cell++) {
    cells[at + cell] = Math.min(cells[at + cell]!, other[from + cell]!);
  }
  for (let cell = MAXIMA; cell < CELL_COUNT; cell++) {
    cells[at + cell] = Math.max(cells[at + cell]!, other[from + cell]!);
  }
}
