/** A run that ends at chance: told on the page that is open, in the list, and in the run's events. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';
import { succeeded } from '../harness/gradwire.ts';

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
  succeeded(
    await app.home.run([
      ...['run', 'quickstart', ...settings.flatMap((one) => ['--set', one])],
    ]),
  );
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
