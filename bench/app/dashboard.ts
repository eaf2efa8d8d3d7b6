/**
 * The load of the dashboard's page while it shows a real run of four ranks: share of
 * time in which its main thread runs tasks (Chromium's TaskDuration) and its longest
 * task. The workers run at the lowest priority, or on a small machine they would take
 * the processor from the page and the page's tasks would be measured waiting.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { launchChromium } from '../../tests/harness/browser.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { openServer } from '../../tests/harness/server.ts';
import { until, untilAsync } from '../../tests/harness/processes.ts';
import type { Measurement } from '../report.ts';

const SECONDS = 20;

/** Runs in the page: text, for its `PerformanceObserver` is the browser's, not Node's. */
const COLLECT_LONG_TASKS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.longTasks.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
`;

export async function measureDashboard(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  const supervisor = spawn(
    'nice',
    [
      ...['-n', '19', process.execPath],
      path.join(import.meta.dirname, '../../dist/agent/supervisor.js'),
      ...['--home', home.directory, '--socket', home.socket],
    ],
    { stdio: 'ignore', env: { ...process.env, GRADWIRE_HOME: home.directory } },
  );
  await until(
    () => home.supervisors(),
    (seen) => seen.length > 0,
    'a supervisor',
  );
  await using server = await openServer(home);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript({ content: COLLECT_LONG_TASKS });
    await page.goto(server.url);
    await page.getByTestId('try-button').waitFor();
    const launched = await home.run([
      ...['run', 'quickstart', '--detach', '--json', '--set', 'iterations=1000000'],
      // Little work: four ranks on a small machine are to pass 100 iterations/s.
      ...[
        'workload.batchPerRank=1',
        'exchange.method=a2sgd',
        'optimizer.lr=0.001',
      ].flatMap((setting) => ['--set', setting]),
    ]);
    const { run } = JSON.parse(launched.stdout) as { run: string };
    await page.goto(`${new URL(server.url).origin}/#/run/${run}`);
    const counter = page.getByTestId('live-iteration');
    await counter.waitFor();
    const iteration = async (): Promise<number> =>
      Number(/[\d,]+/.exec(await counter.innerText())?.[0].replaceAll(',', ''));
    await untilAsync(iteration, (seen) => seen > 100, 'a hundred iterations', 30_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const read = async (): Promise<{ task: number; at: number; iteration: number }> => {
      const { metrics } = await session.send('Performance.getMetrics');
      const value = (name: string): number =>
        metrics.find((metric) => metric.name === name)!.value;
      return {
        task: value('TaskDuration'),
        at: value('Timestamp'),
        iteration: await iteration(),
      };
    };
    await page.evaluate(() => {
      (globalThis as unknown as { longTasks: number[] }).longTasks.length = 0;
    });
    const before = await read();
    await page.waitForTimeout(SECONDS * 1000);
    const after = await read();
    const tasks = await page.evaluate(
      () => (globalThis as unknown as { longTasks: number[] }).longTasks,
    );
    const elapsed = after.at - before.at;
    const rate = (after.iteration - before.iteration) / elapsed;
    const busy = (100 * (after.task - before.task)) / elapsed;
    const note = `4 ranks at ${rate.toFixed(0)} iterations/s over ${SECONDS} s`;
    return [
      { name: 'dashboard, main thread busy', value: busy, unit: '%', goal: 30, note },
      {
        name: 'dashboard, longest task',
        value: Math.max(0, ...tasks),
        unit: 'ms',
        goal: 50,
        note: `${note}; ${tasks.length} tasks over 50 ms (0: none)`,
      },
    ];
  } finally {
    await browser.close();
    supervisor.kill();
  }
}
