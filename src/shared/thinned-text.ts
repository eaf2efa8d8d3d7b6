/** In words, what of a run is missing because a journal had reached its bound. */
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
        `${formatCount(iterations.every)} is there`;
  return (
    `${missing}${kept}: ${node} keeps at most ${formatBytes(limitBytes)} of a run while no ` +
    'app stores what it records. Raise journalMB, or leave the app open'
  );
}
