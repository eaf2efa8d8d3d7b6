/** Whether a training diverged, by what ended its run and what was noticed of it. */
import type { ErrorData } from '../errors/errors.ts';
import type { RunRecord } from './record-kinds.ts';

/** A loss, a gradient or what stages pass on is no number any more. */
const DIVERGED: readonly string[] = [
  'LOSS_NOT_FINITE',
  'GRADIENT_NOT_FINITE',
  'ACTIVATION_NOT_FINITE',
];

/** @param error what ended the run, if anything did; a loss on the test set alone ends none */
export const hasDiverged = (
  error: Pick<ErrorData, 'code'> | undefined,
  records: readonly RunRecord[],
): boolean =>
  (error !== undefined && DIVERGED.includes(error.code)) ||
  records.some(
    (record) => record.type === 'notice' && record.code === 'EVALUATION_NOT_FINITE',
  );
