/** Everything that a run records besides its iterations. */
import type { RunRecord } from '../../shared/records.ts';

export type RunEvent = Exclude<RunRecord, { type: 'iteration' }>;
