/**
 * The cost of a long list of runs for the page, which shows 100 of them at a time: a real `gradwire
 * serve`, and Chromium, which scrolls.
 */
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { launchChromium } from '../../tests/harness/browser.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { openServer } from '../../tests/harness/server.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../../tests/unit/main/sample-records.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';
import { beginTasks, tasksOf } from './page-tasks.ts';

const RUNS = 1000;
/** Turns of the wheel, one for each frame of three seconds. */
const TURNS = 180;
const FRAME_MS = 1000 / 60;

export async function measureRunList(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  await fill(home);
  await using server = await openServer(home);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.url);
    const start = performance.now();
    await page.goto(`${new URL(server.url).origin}/#/runs`);
    await page.getByTestId('runs-table').locator('tbody tr').first().waitFor();
    const opened = performance.now() - start;
    await page.mouse.move(700, 500);
    const session = await page.context().newCDPSession(page);
    await beginTasks(session);
    const begun = performance.now();
    for (let turn = 0; turn < TURNS; turn++) {
      await page.mouse.wheel(0, turn < TURNS / 2 ? 400 : -400);
      await page.waitForTimeout(
        Math.max(0, begun + turn * FRAME_MS - performance.now()),
      );
    }
    const tasks = (await tasksOf(session)).filter((task) => task >= 1);
    const name = `list of ${RUNS} runs`;
    const note = `${TURNS} turns of the wheel, ${tasks.length} tasks of 1 ms and more`;
    return [
      {
        name: `${name}: to open`,
        value: opened,
        unit: 'ms',
        note: 'until its first row',
      },
      {
        name: `${name}: a task while it scrolls, median`,
        value: median(tasks) ?? 0,
        unit: 'ms',
        note,
      },
      {
        name: `${name}: a task while it scrolls, 95 %`,
        value: quantile(tasks, 0.95) ?? 0,
        unit: 'ms',
        goal: FRAME_MS,
        note,
      },
    ];
  } finally {
    await browser.close();
  }
}

async function fill(home: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  for (let run = 0; run < RUNS; run++) {
    const id = `run${run}`;
    store.create({
      id,
      spec: sampleSpec({ name: `run ${run}` }),
      switches: [],
      createdAt: run,
    });
    store.append(
      id,
      entries([started, iterationRecord(0, 0), iterationRecord(0, 1), done]),
    );
  }
  store.close();
}
