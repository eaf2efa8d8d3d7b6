/** Events that tell that ranks stand still or are silent, or that none is any more. */
import { silentRank } from '../../shared/alerts/silent-rank.ts';
import type { ErrorCode } from '../../shared/codes/error-code.ts';
import type { RunEvent } from '../../shared/records/record-kinds.ts';

const CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'RANKS_SUSPENDED',
  'RANKS_CONTINUED',
  'RANKS_SILENT',
  'RANKS_HEARD',
]);

export const isStall = (event: RunEvent): boolean =>
  (event.type === 'notice' && CODES.has(event.code)) ||
  (event.type === 'alert' && event.rule === silentRank.id);
