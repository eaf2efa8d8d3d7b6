/**
 * The cost of a run's charts for the page while it goes on: a scripted supervisor, which speaks the
 * protocol of the real one, sends the records of many ranks to a real `gradwire serve`, and a
 * real Chromium shows them. Measured are the page's tasks, as the browser's trace has them.
 */
import type { CDPSession, Page } from 'playwright-core';
import type { JournalEntry } from '../../src/shared/records/journal-entry.ts';
import { launchChromium } from '../../tests/harness/browser.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { until } from '../../tests/harness/processes.ts';
import { openServer } from '../../tests/harness/server.ts';
import {
  ScriptedSupervisor,
  type ScriptedClient,
} from '../../tests/integration/main/scripted-supervisor.ts';
import { sampleSpec, started } from '../../tests/unit/main/sample-records.ts';
import { recordOf, xorshift } from '../history/generated-run.ts';
import { median, quantile } from '../quantiles.ts';
import { beginTasks, tasksOf } from './page-tasks.ts';
import type { Measurement } from '../report.ts';

const SECONDS = 12;
/** Seconds until the tail is full. */
const WARM_UP_SECONDS = 6;
/** Milliseconds between two messages of the supervisor. */
const BATCH_MS = 50;
const RUN = 'drawn';
/** The least task that is counted. */
const LEAST_MS = 2;

export interface Rate {
  readonly ranks: number;
  readonly perSecond: number;
}

const RATES: readonly Rate[] = [
  { ranks: 4, perSecond: 107 },
  { ranks: 64, perSecond: 50 },
];

export async function measureCharts(): Promise<readonly Measurement[]> {
  const measured: Measurement[] = [];
  for (const rate of RATES) {
    const measurements = await withDrawnRun(rate, ({ page }) =>
      measurePage(page, rate),
    );
    measured.push(...measurements);
  }
  return measured;
}

/** A page that draws a run while its records arrive, and the process that serves it. */
export interface DrawnRun {
  readonly page: Page;
  readonly server: number;
}

/** Draws a run with this rate of records, and measures it once the charts are full. */
export async function withDrawnRun<T>(
  rate: Rate,
  measure: (drawn: DrawnRun) => Promise<T>,
): Promise<T> {
  const { perSecond, ranks } = rate;
  await using home = new GradwireHome();
  const spec = sampleSpec({ world: { ranks }, iterations: 1_000_000 });
  const state = {
    run: RUN,
    phase: 'running' as const,
    spec,
    lastSequence: 0,
    createdAt: 1,
  };
  let follower: ScriptedClient | undefined;
  const supervisor = await ScriptedSupervisor.listen(home.socket, {
    runs: [state],
    answer: ({ method }, client) => {
      if (method !== 'subscribe') return undefined;
      follower = client;
      return { lastSequence: 0 };
    },
  });
  await using server = await openServer(home);
  const browser = await launchChromium();
  const random = xorshift(1);
  let [iteration, sequence] = [0, 0];
  const begun = performance.now();
  const send = (): void => {
    const due = (perSecond * (performance.now() - begun)) / 1000;
    const entries: JournalEntry[] = [];
    if (iteration === 0)
      entries.push({ sequence: ++sequence, record: { ...started, ranks } as never });
    for (; iteration < due; iteration++) {
      for (let rank = 0; rank < ranks; rank++) {
        const record = recordOf(iteration, rank, ranks, random);
        entries.push({ sequence: ++sequence, record });
      }
    }
    if (entries.length > 0) follower!.records(RUN, entries);
  };
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    await until(
      () => follower,
      (found) => found !== undefined,
      'main to follow the run',
    );
    timer = setInterval(send, BATCH_MS);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.url);
    await page.goto(`${new URL(server.url).origin}/#/run/${RUN}`);
    await page.getByTestId('phase-chart').waitFor();
    await page.waitForTimeout(WARM_UP_SECONDS * 1000);
    return await measure({ page, server: server.pid });
  } finally {
    clearInterval(timer);
    await browser.close();
    await supervisor.close();
  }
}

async function measurePage(page: Page, rate: Rate): Promise<readonly Measurement[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const before = await busyTime(session);
  const first = await iterationShown(page);
  await beginTasks(session);
  await page.waitForTimeout(SECONDS * 1000);
  const after = await busyTime(session);
  const shown = ((await iterationShown(page)) - first) / (after.at - before.at);
  const tasks = (await tasksOf(session)).filter((task) => task >= LEAST_MS);
  const busy = (100 * (after.task - before.task)) / (after.at - before.at);
  const name = `charts, ${rate.ranks} ranks at ${rate.perSecond} iterations/s`;
  const note = `over ${SECONDS} s, ${tasks.length} tasks of ${LEAST_MS} ms and more; ${shown.toFixed(0)} iterations/s arrived`;
  return [
    { name: `${name}: main thread busy`, value: busy, unit: '%', goal: 30, note },
    { name: `${name}: a task, median`, value: median(tasks) ?? 0, unit: 'ms', note },
    {
      name: `${name}: a task, 95 %`,
      value: quantile(tasks, 0.95) ?? 0,
      unit: 'ms',
      goal: 16,
      note,
    },
    {
      name: `${name}: longest task`,
      value: Math.max(0, ...tasks),
      unit: 'ms',
      goal: 50,
      note,
    },
  ];
}

export async function iterationShown(page: Page): Promise<number> {
  const text = await page.getByTestId('live-iteration').innerText();
  return Number(text.replaceAll(/\D/g, ''));
}

async function busyTime(session: CDPSession): Promise<{ task: number; at: number }> {
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (of: string): number =>
    metrics.find(({ name }) => name === of)?.value ?? 0;
  return { task: value('TaskDuration'), at: value('Timestamp') };
}
