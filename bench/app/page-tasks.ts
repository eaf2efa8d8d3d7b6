/** The tasks of a page's main thread, as the browser's trace has them. */
import type { CDPSession } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time: the machine may be busy with other things. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Begins to record the tasks of a page. */
export async function beginTasks(session: CDPSession): Promise<void> {
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline'] },
  });
}

/** Milliseconds of processor time of each task on the page's main thread since they are recorded. */
export async function tasksOf(session: CDPSession): Promise<readonly number[]> {
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) =>
    events.push(...(value as unknown as TraceEvent[])),
  );
  const complete = new Promise<void>((resolve) =>
    session.once('Tracing.tracingComplete', () => resolve()),
  );
  await session.send('Tracing.end');
  await complete;
  // The browser has other pages of its own, which have little to do.
  const mains = events.filter(
    ({ args, name }) => name === 'thread_name' && args?.name === 'CrRendererMain',
  );
  const byThread = mains.map(({ pid, tid }) =>
    events
      .filter((event) => event.name === 'RunTask' || event.name.endsWith('::RunTask'))
      .filter((event) => event.pid === pid && event.tid === tid)
      .map(({ tdur = 0 }) => tdur / 1000),
  );
  const sum = (tasks: readonly number[]): number =>
    tasks.reduce((all, task) => all + task, 0);
  return byThread.toSorted((a, b) => sum(b) - sum(a))[0] ?? [];
}
