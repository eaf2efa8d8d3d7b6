/** A bar or a point of a chart: some iterations together. */
import {
  BANDED_FIELDS,
  COLUMN,
  type BandedField,
  type Field,
  FIELD_COUNT,
} from '../../../shared/records/chart-fields.ts';
import { COUNTS, MAXIMA, MINIMA } from '../../../shared/records/chart-cells.ts';

/** The iterations from ≤ i < to as one bar or point. */
export interface Bin {
  readonly from: number;
  /** Not beyond the run: its last bin may be narrower than the others. */
  readonly to: number;
  /** Iterations that were observed in it, at least 1. */
  readonly count: number;
  /** Records in it. */
  readonly records: number;
  /** Means, by COLUMN. */
  readonly means: Float64Array;
  /** Extremes over the bin's iterations and the query's ranks, in the order of BANDED_FIELDS. */
  readonly minima: readonly number[];
  readonly maxima: readonly number[];
}

const BANDS = BANDED_FIELDS.length;

/**
 * A bin from its cells; undefined if nothing was observed.
 * @param ranks whose records are in it
 */
export function binOf(
  { from, to }: { readonly from: number; readonly to: number },
  cells: Float64Array,
  at: number,
  ranks: number,
): Bin | undefined {
  const records = cells[at + COUNTS + COLUMN.wall]!;
  if (records === 0) return undefined;
  const means = new Float64Array(FIELD_COUNT);
  for (let column = 0; column < FIELD_COUNT; column++) {
    const count = cells[at + COUNTS + column]!;
    means[column] = count === 0 ? NaN : cells[at + column]! / count;
  }
  return {
    from,
    to,
    records,
    means,
    count: Math.ceil(records / ranks),
    minima: Array.from(cells.subarray(at + MINIMA, at + MINIMA + BANDS)),
    maxima: Array.from(cells.subarray(at + MAXIMA, at + MAXIMA + BANDS)),
  };
}

/** The iterations of the widest bin: those at the ends of a view may be narrower. */
export const widestOf = (bins: readonly Bin[]): number =>
  bins.reduce((most, { from, to }) => Math.max(most, to - from), 0);

/** A bin's mean of a field; undefined if it was not observed. */
export function meanOf(bin: Bin, field: Field): number | undefined {
  const value = bin.means[COLUMN[field]]!;
  return Number.isNaN(value) ? undefined : value;
}

/** A banded field's smallest and largest value in a bin. */
export function extremesOf(bin: Bin, field: BandedField): [number, number] | undefined {
  const band = BANDED_FIELDS.indexOf(field);
  const low = bin.minima[band]!;
  return Number.isFinite(low) ? [low, bin.maxima[band]!] : undefined;
}
