/** Runs that other processes store while the page is open: their alerts, and their last records. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownName } from '../../src/main/home/process-name.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { AppPage } from '../harness/app-page.ts';
import { succeeded } from '../harness/gradwire.ts';
import { sampleSpec, wholeRun } from '../unit/main/sample-records.ts';

let app: AppPage;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open();
  ({ page } = app);
});
afterAll(() => app?.[Symbol.asyncDispose]());

test('a run that learns nothing is told, found and not simply green', async () => {
  const settings = [
    'optimizer.lr=1e-9',
    'iterations=60',
    'world.ranks=1',
    'name=guess',
  ];
  // The command stores the alert; the app finds a run that has ended.
  await app.whileServerSleeps(async () => {
    succeeded(
      await app.home.run([
        ...['run', 'quickstart', ...settings.flatMap((one) => ['--set', one])],
      ]),
    );
  });
  const toast = app
    .part('toast')
    .filter({ hasText: /At chance: accuracy .*\(guess\)/ });
  await toast.waitFor();
  await toast.getByRole('button', { name: 'Show' }).click();
  await app.part('events').getByText('At chance').waitFor();
  await app.go('Runs');
  const row = app.part('runs-table').locator('tbody tr').filter({ hasText: 'guess' });
  await row.waitFor();
  expect(await row.innerText()).toMatch(/Completed, with\s+alerts/);
  const search = app.part('runs-search');
  for (const [filter, rows] of [
    ['alert:loss-not-finite', 0],
    ['alert:at-chance', 1],
  ] as const) {
    await search.fill(filter);
    await search.press('Enter');
    await expect.poll(() => row.count(), { timeout: 60_000 }).toBe(rows);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  expect([await app.obstacles(), app.errors]).toEqual([[], []]);
});

test('a run that the app does not follow is read once it has ended', async () => {
  const store = RunStore.open(path.join(app.home.directory, 'gradwire.db'));
  const run = { id: 'unfollowed', spec: sampleSpec(), switches: [], createdAt: 1 };
  // As of a command that launches it on machines where only the command has logged in.
  store.create({ ...run, launcher: ownName() });
  await page.evaluate(`location.hash = '#/run/${run.id}'`);
  await app.part('run-state').filter({ hasText: 'Starting' }).waitFor();
  store.records.append(run.id, wholeRun(30));
  store.close();
  await app.part('run-state').filter({ hasText: 'Completed' }).waitFor();
  await app.part('events').getByText('Completed').waitFor();
  // A command deletes it; its page says so, and restores it.
  succeeded(await app.home.run(['runs', 'delete', run.id]));
  await app.part('run-deleted').getByRole('button', { name: 'Restore' }).click();
  await app.part('run-deleted').waitFor({ state: 'detached' });
  await page.evaluate("location.hash = '#/settings'");
  await page.getByText('0 runs, 0 B').waitFor();
  succeeded(await app.home.run(['runs', 'delete', run.id]));
  await page.getByText('1 run, ').waitFor();
  // The browser refuses: the box says so, whatever was clicked.
  const box = app.part('setting-notify.desktop');
  await box.click();
  await page.getByText('does not allow notifications').waitFor();
  await expect.poll(() => box.isChecked()).toBe(false);
  expect([await app.obstacles(), app.errors]).toEqual([[], []]);
});
