/** The loss, a gradient or an evaluation became infinite or not a number. */
import { z } from 'zod';
import type { ErrorCode } from '../codes/error-code.ts';
import { alertRule } from './alert-rule.ts';

const CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'ACTIVATION_NOT_FINITE',
  'EVALUATION_NOT_FINITE',
  'GRADIENT_NOT_FINITE',
  'LOSS_NOT_FINITE',
]);

export const lossNotFinite = alertRule({
  id: 'loss-not-finite',
  title: 'Loss not finite',
  about: 'The loss, a gradient or an evaluation is infinite or not a number.',
  next: 'Lower the learning rate, clip gradients, or compress less at the start.',
  parameters: {},
  state: z.object({}),
  begin: () => ({}),
  observe: (_, seen) => {
    if (seen.kind !== 'record') return undefined;
    const { record } = seen;
    if (record.type === 'evaluation' && record.loss !== undefined) {
      const { iteration } = record;
      return { holds: false, message: 'the loss is finite again', iteration };
    }
    // What is only worth knowing, such as a step that a GradScaler skips, is no alarm.
    const isWarning = record.type === 'notice' && record.level === 'warning';
    if (isWarning && CODES.has(record.code)) {
      return { holds: true, message: record.message, rank: record.rank };
    }
    if (record.type === 'failed' && CODES.has(record.error.code)) {
      const { message, rank } = record.error;
      return { holds: true, message, rank };
    }
    return undefined;
  },
});
