/** Rows of a list of runs in groups, as a table shows them. */
import type { RunSummary } from '../../../shared/rpc/run-summary.ts';
import type { CellValue, RunPageRow } from '../../../shared/run-query/run-page.ts';
import { RUN_KEYS } from '../../../shared/run-query/run-key.ts';
import { escapeControls } from '../../../shared/words/printable.ts';
import {
  formatBytes,
  formatDateTime,
  formatElapsed,
} from '../../../shared/words/units.ts';

export interface RunGroup {
  /** Undefined for a list that is not grouped. */
  readonly title: string | undefined;
  readonly rows: readonly {
    readonly run: RunSummary;
    readonly values: readonly CellValue[];
  }[];
  /** Names of the rows' values. */
  readonly names: readonly string[];
}

/** Runs that come in no groups and have no columns of specs. */
export const ungrouped = (runs: readonly RunSummary[]): readonly RunGroup[] => [
  { title: undefined, names: [], rows: runs.map((run) => ({ run, values: [] })) },
];

/** @param by the key by which the rows are grouped, if any */
export function groupsOf(
  rows: readonly RunPageRow<RunSummary>[],
  names: readonly string[],
  by: string | undefined,
): readonly RunGroup[] {
  const groups = new Map<string | undefined, RunPageRow<RunSummary>[]>();
  for (const row of rows) {
    const title = by === undefined ? undefined : titleOf(by, row.group);
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [row]);
    else group.push(row);
  }
  return [...groups].map(([title, members]) => ({ title, names, rows: members }));
}

function titleOf(by: string, group: RunPageRow<RunSummary>['group']): string {
  const runs = group?.runs ?? 0;
  const key = RUN_KEYS.find(({ id }) => id === by);
  const value = valueText(group?.value ?? null, key?.kind);
  return `${key?.title ?? by} ${value} (${runs === 1 ? '1 run' : `${runs} runs`})`;
}

function valueText(
  value: CellValue,
  kind: (typeof RUN_KEYS)[number]['kind'] | undefined,
): string {
  if (value === null) return '–';
  if (typeof value === 'string') return escapeControls(value);
  if (kind === 'moment') return formatDateTime(value);
  if (kind === 'duration') return formatElapsed(value);
  return kind === 'bytes' ? formatBytes(value) : String(value);
}
