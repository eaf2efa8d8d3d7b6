/** Describes what is missing of a run because a journal reached its bound. */
import type { ThinnedRecord } from './records.ts';
import { formatBytes, formatCount } from './units.ts';

export function describeThinned(record: ThinnedRecord): string {
  const { iterations, limitBytes, node, records } = record;
  const missing =
    records === 1
      ? '1 record is missing'
      : `${formatCount(records)} records are missing`;
  const kept =
    iterations === undefined
      ? ''
      : `; of iterations ${formatCount(iterations.from)} to ` +
        `${formatCount(iterations.to - 1)} at least one in ` +
        `${formatCount(iterations.every)} is kept`;
  return (
    `${missing}${kept}: ${node} keeps at most ${formatBytes(limitBytes)} of a run while no ` +
    'app stores its records. Raise journalMB, or leave the app open'
  );
}
