/** A table for a terminal: columns as wide as their cells, two spaces between. */
import { escapeControls } from '../../shared/words/printable.ts';

/** @param align per column, left or right; the last line has no trailing spaces */
export function textTable(
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[],
): string {
  const cells = rows.map((row) => row.map(escapeControls));
  const widths = align.map((_, column) =>
    Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells
    .map((row) =>
      align
        .map((side, column) => {
          const cell = row[column] ?? '';
          return side === 'left'
            ? cell.padEnd(widths[column]!)
            : cell.padStart(widths[column]!);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
