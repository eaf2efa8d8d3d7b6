/** A table for a terminal: columns as wide as their cells, two spaces between. */

/** @param align per column, left or right; the last line has no trailing spaces */
export function textTable(
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[],
): string {
  const widths = align.map((_, column) =>
    Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
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
