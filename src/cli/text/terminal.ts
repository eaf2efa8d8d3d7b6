/** The terminal that is written to: its width, and whether its lines can be written anew. */

/** Whether a line can be cleared and written again: not in a file, and not with TERM=dumb. */
export const rewrites = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && process.env['TERM'] !== 'dumb';

/** Columns of the terminal for tables; undefined where nothing has to fit. */
export const tableWidth = (wide: boolean): number | undefined =>
  wide || !process.stdout.isTTY ? undefined : process.stdout.columns;

/** The option of commands whose tables are cut to the terminal. */
export const WIDE = [
  '--wide',
  'do not cut the table to the width of the terminal',
] as const;
