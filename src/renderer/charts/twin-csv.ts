/** A chart's table as CSV: its numbers unrounded, ranges of iterations in two columns. */
import { csvLine } from '../../export/formats/csv.ts';
import type { Cell } from '../../shared/records/table-column.ts';
import type { TableCell, TableTwin } from './table-twin.ts';

export function twinCsv({ columns, rows }: TableTwin): string {
  const isRange = columns.map((_, column) =>
    rows.some(({ cells }) => {
      const cell = cells[column]!;
      return (
        typeof cell === 'object' && cell.last !== undefined && cell.last !== cell.value
      );
    }),
  );
  const head = columns.flatMap((title, column) =>
    isRange[column]! ? [`first ${title}`, `last ${title}`] : [title],
  );
  return [
    csvLine(head),
    ...rows.map(({ cells }) =>
      csvLine(cells.flatMap((cell, column) => saved(cell, isRange[column]!))),
    ),
  ].join('');
}

function saved(cell: TableCell, isRange: boolean): readonly Cell[] {
  if (typeof cell === 'string') return isRange ? [cell, cell] : [cell];
  return isRange ? [cell.value, cell.last] : [cell.value];
}
