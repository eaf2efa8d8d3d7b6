/** A run's state in the page's words. */
import { clockOffset, clockText } from '../../../shared/words/display-units.ts';
import type { QueuedRecord } from '../../../shared/records/queued.ts';
import { hasEnded, type RunState } from '../../../shared/records/run-state.ts';
import type { RunSummary } from '../../../shared/rpc/run-summary.ts';

export function isLive(run: Pick<RunSummary, 'state'>): boolean {
  return !hasEnded(run.state);
}

export const STATE_TITLES: Readonly<
  Record<RunState | 'queued' | 'interrupted', string>
> = {
  queued: 'Queued',
  interrupted: 'Interrupted',
  starting: 'Starting',
  running: 'Running',
  completed: 'Completed',
  stopped: 'Stopped',
  failed: 'Failed',
};

/** Milliseconds that a run took, or has taken until `now`. */
export function runDuration(run: RunSummary, now: number): number | undefined {
  if (run.endedAt !== undefined) return run.endedAt - run.createdAt;
  return isLive(run) ? Math.max(0, now - run.createdAt) : undefined;
}

/** About the job that a run waits for: `job 17, Resources`, `expected today 14:05`. */
export function queueLines(
  { job, reason, expected }: Pick<QueuedRecord, 'job' | 'reason' | 'expected'>,
  now: number,
): readonly string[] {
  const known = reason === undefined ? `job ${job}` : `job ${job}, ${reason}`;
  return expected === undefined
    ? [known]
    : [known, `expected ${formatMoment(expected, now)}`];
}

const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const DATE = { day: 'numeric', month: 'short' } as const;

const shownDay = (at: number): string =>
  new Date(at + clockOffset(at)).toISOString().slice(0, 10);

/** A moment for lists: the time if today, otherwise the date. */
export function formatMoment(at: number, now: number): string {
  const [day, today] = [shownDay(at), shownDay(now)];
  const time = clockText(at, TIME);
  if (day === today) return `today ${time}`;
  const date = clockText(at, DATE);
  const year = day.slice(0, 4);
  return year === today.slice(0, 4) ? `${date} ${time}` : `${date} ${year}`;
}
