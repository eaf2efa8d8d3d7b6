/** Values of a chart with their place on its axis, whatever the axis counts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { AppPage } from '../harness/app-page.ts';
import type { GradwireHome } from '../harness/gradwire.ts';
import { MEASURED, storeMeasuredRun } from './measured-run.ts';

let app: AppPage;

beforeAll(async () => {
  app = await AppPage.open({ prepare });
});
afterAll(() => app?.[Symbol.asyncDispose]());

async function prepare(home: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  storeMeasuredRun(store);
  store.close();
}

test('values are told with their place on the axis, and gestures beside keys', async () => {
  const { page } = app;
  await page.evaluate(`location.hash = '#/run/${MEASURED}'`);
  await app.part('loss-summary').getByText('Training batches').waitFor();
  const chart = app.part('loss-chart');
  for (const [kind, place] of [
    ['time', /^0\.0+ s since start, iteration 0: /],
    ['clock', /^\d\d:\d\d:\d\d.*, iteration 0: /],
    ['bytes', /^[\d.]+ .?B sent, iteration 0: /],
    ['iteration', /^iteration 0: /],
  ] as const) {
    await app.part('axis-kind').selectOption(kind);
    await chart.press('Home');
    await page.locator('#chart-loss .words').getByText(place).waitFor();
    expect(await chart.getAttribute('aria-valuetext')).toMatch(place);
  }
  await page.keyboard.press('?');
  await app.part('shortcut-list').getByText('Zoom at the pointer').waitFor();
  await page.keyboard.press('Escape');
});
