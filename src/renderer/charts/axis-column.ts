/** A column that tables have beside the iteration, if charts are over something else. */
import type { AxisKind } from './axis-map.ts';
import { clockText } from '../../shared/words/display-units.ts';
import { isoText, zoneText } from './axis-ticks.ts';
import type { PlacedRun } from './placed-run.ts';
import type { TableCell, TableTwin } from './table-twin.ts';

const TITLES: Readonly<Record<AxisKind, string>> = {
  iteration: 'iteration',
  time: 's since start',
  clock: 'clock time',
  bytes: 'bytes sent',
};

/**
 * A table whose rows begin with their iterations, with their places on the axis: those of their
 * middles, as drawn.
 */
export function withAxisColumn(
  { map }: Pick<PlacedRun, 'map'>,
  { columns, rows }: TableTwin,
): TableTwin {
  if (map.kind === 'iteration') return { columns, rows };
  const zone = map.kind === 'clock' ? ` ${zoneText(map.toX(0))}` : '';
  const [first, ...others] = columns;
  return {
    columns: [first!, TITLES[map.kind] + zone, ...others],
    rows: rows.map(({ cells, key }) => ({
      key,
      cells: [cells[0]!, placeOf(cells[0]!, map), ...cells.slice(1)],
    })),
  };
}

function placeOf(iterations: TableCell, map: PlacedRun['map']): TableCell {
  if (typeof iterations === 'string') return '';
  const first = Number(iterations.value);
  return cellOf(map.kind, map.toX((first + (iterations.last ?? first)) / 2));
}

const CLOCK = { dateStyle: 'short', timeStyle: 'medium' } as const;

function cellOf(kind: AxisKind, x: number): TableCell {
  if (kind === 'clock') return { text: clockText(x, CLOCK), value: isoText(x) };
  return kind === 'time'
    ? { text: (x / 1000).toFixed(3), value: x / 1000 }
    : { text: String(Math.round(x)), value: x };
}
