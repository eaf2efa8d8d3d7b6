/**
 * A comparison as CSV: `results` has a row per run, with its group's ratio, and `curves` a row per
 * point that is drawn. An empty cell is what was not observed; numbers are unrounded.
 */
import { csvCell } from '../words/csv-cell.ts';
import type { Comparison } from './comparison.ts';

export const COMPARISON_TABLES = ['results', 'curves'] as const;
export type ComparisonTable = (typeof COMPARISON_TABLES)[number];

type Cell = string | number | undefined;

export function comparisonCsv(comparison: Comparison, table: ComparisonTable): string {
  const rows = table === 'results' ? resultRows(comparison) : curveRows(comparison);
  return rows.map((row) => `${row.map(csvCell).join(',')}\n`).join('');
}

const COSTS = ['iterations', 'passes', 'time_ms', 'sent_bytes'] as const;

function resultRows(comparison: Comparison): readonly (readonly Cell[])[] {
  const { groups, quantity, runs, target } = comparison;
  return [
    [
      ...['group', 'run', 'name', 'seed', 'state', 'quantity', 'target', 'outcome'],
      ...COSTS,
      ...['best', 'step_ms', 'group_ratio', 'group_ratio_low', 'group_ratio_high'],
    ],
    ...runs.map(({ best, group, id, name, outcome, seed, state, step }) => {
      const costs = outcome.kind === 'reached' ? outcome.costs : undefined;
      const { label, speedup } = groups[group]!;
      return [
        ...[label, id, name, seed, state, quantity?.id, target, outcome.kind],
        ...[costs?.iterations, costs?.passes, costs?.time, costs?.bytes],
        ...[best, step?.wall, speedup?.ratio, speedup?.low, speedup?.high],
      ];
    }),
  ];
}

function curveRows({
  groups,
  quantity,
  runs,
}: Comparison): readonly (readonly Cell[])[] {
  return [
    ['group', 'run', 'seed', ...COSTS, quantity?.id ?? 'value'],
    ...runs.flatMap(({ group, id, points, seed }) =>
      points.map(({ bytes, iterations, passes, time, value }) => [
        ...[groups[group]!.label, id, seed],
        ...[iterations, passes, time, bytes, value],
      ]),
    ),
  ];
}
