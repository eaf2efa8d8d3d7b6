/** A run failed. Its last record says so already; the alert tells it to who is elsewhere. */
import { z } from 'zod';
import { alertRule } from './alert-rule.ts';

export const runFailed = alertRule({
  id: 'run-failed',
  title: 'Run failed',
  about: 'A run ends with an error.',
  next: 'Read the error and its log; gradwire errors CODE explains it.',
  parameters: {},
  isRecorded: true,
  state: z.object({}),
  begin: () => ({}),
  observe: (_, seen) => {
    if (seen.kind !== 'record' || seen.record.type !== 'failed') return undefined;
    const { code, message, rank } = seen.record.error;
    return code === 'RUN_STOPPED' ? undefined : { holds: true, message, rank };
  },
});
