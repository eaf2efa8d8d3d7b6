/** The line above the runs of a group, in a list that is grouped by a key. */
import type { CellValue, RunPageRow } from '../../../shared/run-query/run-page.ts';
import { RUN_KEYS } from '../../../shared/run-query/run-key.ts';
import { escapeControls } from '../../../shared/words/printable.ts';
import {
  formatBytes,
  formatDateTime,
  formatElapsed,
} from '../../../shared/words/units.ts';

/** @param by the key by which the list is grouped */
export function runHeading(by: string, group: RunPageRow<unknown>['group']): string {
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
