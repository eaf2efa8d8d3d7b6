/** The log on a run's page: of 100,000 lines, and live of ranks that really print. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { AppPage } from '../harness/app-page.ts';
import { succeeded, type GradwireHome } from '../harness/gradwire.ts';
import { LASTING } from '../harness/lasting-runs.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

const LINES = 100_000 - 2;
const HOOK = path.join(import.meta.dirname, '../integration/runs/noisy-ranks.mjs');

let app: AppPage;
let home: GradwireHome;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open({
    prepare: storeLongRun,
    environment: {
      NODE_OPTIONS: `--import=${pathToFileURL(HOOK).href}`,
      NOISE: JSON.stringify({ 0: 'warning', 1: 'flood' }),
    },
  });
  ({ home, page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

/** Leaves the page, and then its list is told that it was scrolled, as a browser may. */
const LEAVE = `(async () => {
  const list = document.querySelector('[data-testid=log-lines]');
  location.hash = '#/runs';
  while (list.isConnected) await new Promise(requestAnimationFrame);
  list.dispatchEvent(new Event('scroll'));
})()`;

/** Ten iterations in which ranks printed 100,000 lines but the start and the end. */
async function storeLongRun({ directory }: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
  const store = RunStore.open(database);
  const records: RunRecord[] = [started];
  for (let line = 0; line < LINES; line++) {
    const iteration = Math.floor((10 * line) / LINES);
    records.push({
      type: 'log',
      at: 1_700_000_000_001 + line / 200,
      rank: line % 2,
      ...{ stream: 'stderr', iteration, text: `line ${line}` },
    });
  }
  for (let iteration = 0; iteration < 10; iteration++) {
    records.push(iterationRecord(iteration, 0), iterationRecord(iteration, 1));
  }
  store.create({ id: 'long', spec: sampleSpec(), switches: [], createdAt: 1 });
  store.records.append('long', entries([...records, done]));
  store.close();
}

const part = (testId: string) => app.part(testId);
const line = (text: string) => part('log-line').filter({ hasText: text });
const follows = () => part('log-follow').getAttribute('aria-pressed');

async function show(run: string): Promise<void> {
  await page.evaluate((id) => (location.hash = `#/run/${id}`), run);
  await part('log').scrollIntoViewIfNeeded();
}

test('100,000 lines are there, and only those in sight are drawn', async () => {
  await show('long');
  await part('log-count').filter({ hasText: '100000 lines' }).waitFor();
  // The newest is in sight; the end of the run is the last line.
  await line('Completed').waitFor();
  expect(await follows()).toBe('true');
  expect(await part('log-line').count()).toBeLessThan(60);

  // The page may move under the mouse while charts are drawn.
  const scrolledUp = async () => {
    await part('log-lines').hover();
    await page.mouse.wheel(0, -500);
    return follows();
  };
  await expect.poll(scrolledUp).toBe('false');
});

test('is filtered by rank and text; a line leads the charts to its iteration', async () => {
  await part('log-text').fill('LINE 77777');
  await part('log-count').filter({ hasText: '1 of 100000 lines' }).waitFor();
  await line('line 77777').click();
  expect(await part('log-whole').innerText()).toBe('line 77777');
  await part('log-text').fill('');
  await part('log-rank').selectOption('1');
  await part('log-count')
    .filter({ hasText: `${LINES / 2} of 100000 lines` })
    .waitFor();
  await part('log-rank').selectOption('all');

  // Nothing moves, not even back to where it was.
  await part('log-goal').fill('99999999');
  await part('log-goal').press('Enter');
  expect(await part('log-absent').innerText()).toBe('The run’s last iteration is 9.');
  expect(await part('log-whole').innerText()).toBe('line 77777');
  expect(await follows()).toBe('true');
  await part('log-goal').fill('3');
  await part('log-goal').press('Enter');
  await line(`line ${Math.ceil((3 * LINES) / 10)}`)
    .first()
    .waitFor();
  await part('log-lines').press('ArrowDown');
  expect(await part('log-whole').innerText()).toBe(
    `line ${Math.ceil((3 * LINES) / 10) + 1}`,
  );
  expect(await part('log-absent').count()).toBe(0);
  expect(await app.obstacles()).toEqual([]);
});

test('what ranks print comes in while they train, and the newest stays in sight', async () => {
  const command = home.startQuickstart(['world.ranks=2', ...LASTING]);
  await part('live-runs').getByRole('link').click();
  // The log of the run before may still be there.
  await line('lines left out').first().waitFor();
  await part('log').scrollIntoViewIfNeeded();
  expect(await follows()).toBe('true');
  const newest = async (): Promise<number> => {
    const text = await line('flood').last().innerText();
    return Number(/flood (\d+)/.exec(text)?.[1]);
  };
  const before = await newest();
  await expect.poll(newest).toBeGreaterThan(before);
  await part('log-rank').selectOption('0');
  await line('the driver is old').waitFor();
  // Ranks print before they train; a run that is stopped before it begins has failed.
  await command.record('iteration');
  await part('stop').click();
  await part('stop-now').check();
  await part('stop-confirm').click();
  succeeded(await command.finished);
  expect(await command.record('failed')).toMatchObject({
    error: { code: 'RUN_STOPPED', message: expect.stringContaining('at once') },
  });
  await part('run-state')
    .filter({ hasText: /stopped/i })
    .waitFor();
  await part('log-lines').waitFor();
  await page.evaluate(LEAVE);
  expect(app.errors).toEqual([]);
});

test(
  'a page of a run that a command deletes for good says so',
  { tags: 'soak' },
  async () => {
    await page.goto(`${new URL(page.url()).origin}/#/runs`);
    const row = part('runs-table').getByRole('link', { name: 'sample' });
    await row.waitFor();
    // A command deletes it: it leaves the list that is open.
    succeeded(await home.run(['runs', 'delete', 'long']));
    await expect.poll(() => row.count()).toBe(0);
    succeeded(await home.run(['runs', 'delete', 'long', '--undo']));
    await row.click();
    await part('log').waitFor();
    succeeded(await home.run(['runs', 'delete', 'long']));
    succeeded(await home.run(['runs', 'purge', 'long']));
    await part('run-purged')
      .getByText('The records of “sample” are no longer')
      .waitFor();
    expect(await part('log').count()).toBe(0);
    expect(await app.obstacles()).toEqual([]);
    await part('run-purged').getByRole('link', { name: 'All runs' }).click();
    await part('runs-table').waitFor();
    expect(await row.count()).toBe(0);
    expect(app.errors).toEqual([]);
  },
);

/** Of the page, where functions of `evaluate` run. */
declare const location: { hash: string };
