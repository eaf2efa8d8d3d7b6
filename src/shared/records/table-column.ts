/** A column of a table in an export: its name, and the cell that a row has in it. */

/** The value in a place of a table; undefined: not observed. */
export type Cell = string | number | undefined;

/** The values that a column has: whole numbers, numbers or text. */
export type ColumnKind = 'whole' | 'number' | 'text';

export interface Column<R> {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly cell: (row: R) => Cell;
}

type Columns = <R>(name: string, cell: (row: R) => Cell) => Column<R>;

/** A column of whole numbers. */
export const whole: Columns = (name, cell) => ({ name, kind: 'whole', cell });

/** A column of numbers. */
export const number: Columns = (name, cell) => ({ name, kind: 'number', cell });

/** A column of text. */
export const words: Columns = (name, cell) => ({ name, kind: 'text', cell });
