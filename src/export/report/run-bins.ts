/** A whole run in bins of all its records, as its charts show it. */
import {
  CELL_COUNT,
  COUNTS,
  MAXIMA,
  MINIMA,
} from '../../shared/records/chart-cells.ts';
import {
  BANDED_FIELDS,
  COLUMN,
  type BandedField,
  type Field,
} from '../../shared/records/chart-fields.ts';
import { binWidth } from '../../shared/numbers/bin-width.ts';
import type { BinsPiece } from '../../shared/rpc/run-pieces.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';

/** Most points of a curve and bars of a chart. */
const POINTS = 300;

export interface RunBin {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** The sum of a field over its records, and how many of them have it. */
  readonly sum: (field: Field) => number;
  readonly count: (field: Field) => number;
  readonly extremes: (field: BandedField) => readonly [number, number] | undefined;
}

/** @param iterations of the run */
export async function readRunBins(
  runs: Pick<CoreApi, 'bins'>,
  run: string,
  iterations: number,
): Promise<readonly RunBin[]> {
  const width = binWidth(iterations, POINTS);
  const bins: RunBin[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && from < iterations) {
    const query = { from, to: iterations, width };
    const { cells, next, starts }: BinsPiece = await runs.bins(run, query);
    for (const [index, start] of starts.entries()) {
      const at = index * CELL_COUNT;
      const end = Math.min(start + width, iterations);
      if (start < iterations)
        bins.push(binOf(cells.slice(at, at + CELL_COUNT), start, end));
    }
    from = next;
  }
  return bins;
}

function binOf(cells: BinsPiece['cells'], from: number, to: number): RunBin {
  return {
    from,
    to,
    sum: (field) => cells[COLUMN[field]] ?? 0,
    count: (field) => cells[COUNTS + COLUMN[field]] ?? 0,
    extremes: (field) => {
      const band = BANDED_FIELDS.indexOf(field);
      const [low, high] = [cells[MINIMA + band], cells[MAXIMA + band]];
      return typeof low === 'number' && typeof high === 'number'
        ? [low, high]
        : undefined;
    },
  };
}

/** The mean of a field over all records of some bins; undefined: not observed. */
export function meanOf(bins: readonly RunBin[], field: Field): number | undefined {
  const count = bins.reduce((total, bin) => total + bin.count(field), 0);
  const sum = bins.reduce((total, bin) => total + bin.sum(field), 0);
  return count === 0 ? undefined : sum / count;
}

/** Points of a field's means, in the middle of each bin that has it. */
export function curveOf(
  bins: readonly RunBin[],
  field: Field,
): { readonly x: number; readonly y: number }[] {
  return bins.flatMap((bin) => {
    const y = meanOf([bin], field);
    return y === undefined ? [] : [{ x: (bin.from + bin.to - 1) / 2, y }];
  });
}
