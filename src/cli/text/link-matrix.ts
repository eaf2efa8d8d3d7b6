/** Links between machines as a table, from the machine of the row to that of the column. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { bitsPerSecond, type LinkStatus } from '../../shared/machines/link-status.ts';
import { formatBitRate, formatDuration } from '../../shared/words/units.ts';
import { textTable } from './text-table.ts';

/** @param names in the order of rows and columns */
export function linkMatrix(
  names: readonly string[],
  links: readonly LinkStatus[],
): string {
  const cell = (from: string, to: string): string => {
    if (from === to) return '';
    const link = links.find((one) => one.from === from && one.to === to);
    if (link?.failure !== undefined) return link.failure.error.code;
    if (link?.measure === undefined) return 'not measured';
    const { alpha } = link.measure;
    return `${formatBitRate(bitsPerSecond(link.measure))}, ${formatDuration(1000 * alpha)}`;
  };
  return textTable(
    [
      ['from \\ to', ...names.map(machineTitle)],
      ...names.map((from) => [
        machineTitle(from),
        ...names.map((to) => cell(from, to)),
      ]),
    ],
    ['left', ...names.map(() => 'right' as const)],
  );
}
