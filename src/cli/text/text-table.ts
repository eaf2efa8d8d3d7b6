/** A table for a terminal: columns as wide as their cells, two spaces between. */
import { escapeControls } from '../../shared/words/printable.ts';

const GAP = 2;
/** A column is not cut below this. */
const LEAST = 8;
const CUT = '…';

/**
 * @param align per column, left or right; the last line has no trailing spaces
 * @param width the terminal's, if the table is to fit: its widest columns of text are cut, and
 * numbers, which stand on the right, are not
 * @param whole columns of text that are not cut either, such as names to copy
 */
export function textTable(
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[],
  width?: number,
  whole: readonly number[] = [],
): string {
  const cells = rows.map((row) => row.map(escapeControls));
  const needed = align.map((_, column) =>
    Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const widths = width === undefined ? needed : fitted(needed, align, width, whole);
  return cells
    .map((row) =>
      align
        .map((side, column) => {
          const cell = cutTo(row[column] ?? '', widths[column]!);
          return side === 'left'
            ? cell.padEnd(widths[column]!)
            : cell.padStart(widths[column]!);
        })
        .join(' '.repeat(GAP))
        .trimEnd(),
    )
    .join('\n');
}

/**
 * The columns that a table keeps so that it fits, though its text is cut.
 * @param spare columns that may go, the first of them first
 */
export function columnsThatFit(
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[],
  width: number | undefined,
  spare: readonly number[],
): readonly number[] {
  const least = align.map((side, column) => {
    const needed = Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
    return side === 'left' ? Math.min(needed, LEAST) : needed;
  });
  const kept = new Set(align.keys());
  const widthOf = (): number =>
    [...kept].reduce((sum, column) => sum + least[column]! + GAP, -GAP);
  for (const column of spare) {
    if (width === undefined || widthOf() <= width) break;
    kept.delete(column);
  }
  return [...kept];
}

/** The widths with the widest columns of text made narrower, one character after another. */
function fitted(
  needed: readonly number[],
  align: readonly ('left' | 'right')[],
  width: number,
  whole: readonly number[],
): readonly number[] {
  const widths = [...needed];
  const gaps = GAP * (widths.length - 1);
  let over = widths.reduce((sum, each) => sum + each, gaps) - width;
  while (over > 0) {
    let widest = -1;
    for (const [column, side] of align.entries()) {
      const isText =
        side === 'left' && widths[column]! > LEAST && !whole.includes(column);
      if (isText && (widest < 0 || widths[column]! > widths[widest]!)) widest = column;
    }
    if (widest < 0) break; // it is as narrow as it can be
    widths[widest]! -= 1;
    over -= 1;
  }
  return widths;
}

const cutTo = (cell: string, width: number): string =>
  cell.length <= width ? cell : `${cell.slice(0, width - 1)}${CUT}`;
