/** The terminal that is written to: its width, and whether its lines can be written anew. */

/** Whether a line can be cleared and written again: not in a file, and not with TERM=dumb. */
export const rewrites = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && process.env['TERM'] !== 'dumb';

/** Columns of the terminal for tables; undefined where nothing has to fit. */
export const tableWidth = (wide: boolean): number | undefined =>
  wide || !process.stdout.isTTY ? undefined : columns();

/** Columns of the terminal for a line that is written anew; undefined where none can be. */
export const liveWidth = (): number | undefined =>
  rewrites(process.stdout) ? columns() : undefined;

/** A serial console and some terminals of build servers say that they have 0. */
const columns = (): number | undefined => process.stdout.columns || undefined;

/** The option of commands whose tables are cut to the terminal. */
export const WIDE = [
  '--wide',
  'do not cut the table to the width of the terminal',
] as const;
