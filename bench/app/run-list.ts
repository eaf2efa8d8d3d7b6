/**
 * The cost of a long list of runs for the page, which draws the rows in sight: a real `gradwire
 * serve`, and Chromium, which scrolls through all of them and back.
 */
import type { Page } from 'playwright-core';
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
/** Turns of the wheel, one for each frame of three seconds: down, and up again. */
const TURNS = 180;
const FRAME_MS = 1000 / 60;
/** Pixels of each turn: a flick on a touchpad, and through all runs in two seconds. */
const SPEEDS = [100, 400] as const;

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
    await page.getByTestId('runs-table').locator('tr[data-run]').first().waitFor();
    const opened = performance.now() - start;
    await page.mouse.move(700, 500);
    const name = `list of ${RUNS} runs`;
    const figures: Measurement[] = [
      {
        name: `${name}: to open`,
        value: opened,
        unit: 'ms',
        note: 'until its first row',
      },
    ];
    for (const pixels of SPEEDS) {
      const tasks = await scroll(page, pixels);
      const what = `${name}: a task at ${pixels} pixels a frame`;
      const note = `${TURNS} turns of the wheel, ${tasks.length} tasks of 1 ms and more`;
      figures.push(
        { name: `${what}, median`, value: median(tasks) ?? 0, unit: 'ms', note },
        {
          name: `${what}, 95 %`,
          value: quantile(tasks, 0.95) ?? 0,
          unit: 'ms',
          ...(pixels === SPEEDS[0] ? { goal: FRAME_MS } : {}),
          note,
        },
      );
    }
    return figures;
  } finally {
    await browser.close();
  }
}

/** Milliseconds of processor time of the page's tasks, of those of 1 ms and more. */
async function scroll(page: Page, pixels: number): Promise<readonly number[]> {
  const session = await page.context().newCDPSession(page);
  await beginTasks(session);
  const begun = performance.now();
  for (let turn = 0; turn < TURNS; turn++) {
    await page.mouse.wheel(0, turn < TURNS / 2 ? pixels : -pixels);
    await page.waitForTimeout(Math.max(0, begun + turn * FRAME_MS - performance.now()));
  }
  const tasks = await tasksOf(session);
  await session.detach();
  return tasks.filter((task) => task >= 1);
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
    store.records.append(
      id,
      entries([started, iterationRecord(0, 0), iterationRecord(0, 1), done]),
    );
  }
  store.close();
}
