/** A chart's numbers as a table: exactly what is drawn, no more and no less. */
import type { Cell } from '../../shared/records/table-column.ts';

export interface TableTwin {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  /** Distinct within the table. */
  readonly key: number | string;
  readonly cells: readonly TableCell[];
}

/** A text, or a value that is shown shorter than it is saved. */
export type TableCell = string | ValueCell;

interface ValueCell {
  readonly text: string;
  readonly value: Cell;
  /** The end of a range that begins with the value, included. */
  readonly last?: number;
}

/** A cell of a value that is shown in a format; empty if there is none. */
export const valueCell = (
  value: number | undefined,
  format: (value: number) => string,
): TableCell => (value === undefined ? '' : { value, text: format(value) });

/** The text of a cell. */
export const cellText = (cell: TableCell): string =>
  typeof cell === 'string' ? cell : cell.text;

/** The iterations of a bin in words: `812`, `812–819`. */
export function iterationLabel(bin: {
  readonly from: number;
  readonly to: number;
}): string {
  return bin.to - bin.from === 1 ? String(bin.from) : `${bin.from}–${bin.to - 1}`;
}

/** A cell of a bin's iterations. */
export const iterationCell = (bin: {
  readonly from: number;
  readonly to: number;
}): TableCell => ({ text: iterationLabel(bin), value: bin.from, last: bin.to - 1 });
