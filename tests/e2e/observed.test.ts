/** The page of a run whose program was only observed: what is not seen of it is not shown. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { parseExperimentSpec } from '../../src/shared/spec/experiment-spec.ts';
import { AppPage } from '../harness/app-page.ts';
import type { GradwireHome } from '../harness/gradwire.ts';
import {
  done,
  entries,
  iterationRecord,
  started,
} from '../unit/main/sample-records.ts';

let app: AppPage;

beforeAll(async () => {
  app = await AppPage.open({ prepare: storeObservedRun });
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

/** Ten iterations, of which the program has told the loss of two. */
async function storeObservedRun({ directory }: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
  const store = RunStore.open(database);
  const spec = parseExperimentSpec({
    name: 'observed',
    world: { ranks: 2 },
    workload: { command: ['python3', 'train.py'], observe: true },
  });
  store.create({ id: 'seen', spec, switches: [], createdAt: 1 });
  const records = Array.from({ length: 20 }, (_, i) => {
    const { loss, ...record } = iterationRecord(Math.floor(i / 2), i % 2);
    return record.iteration % 5 === 0 ? { ...record, loss } : record;
  });
  store.append('seen', entries([started, ...records, done]));
  store.close();
}

test('shows its steps, its loss and the settings that it has', async () => {
  const { page } = app;
  await page.evaluate(() => (location.hash = '#/run/seen'));
  await app.part('run-settings').waitFor();
  const tiles = await page.locator('.tile dt').allTextContents();
  expect(tiles.map((text) => text.trim())).toEqual([
    ...['Step', 'Dense bytes', 'Loss', 'Accuracy'],
  ]);
  const settings = await app.part('run-settings').locator('dt').allTextContents();
  expect(settings).toContain('workload.observe');
  expect(settings.filter((key) => /^(optimizer|exchange)|Every$/.test(key))).toEqual(
    [],
  );
  expect(await page.getByText('Density and fill-in').count()).toBe(0);
  await page.evaluate(() => (location.hash = '#/runs'));
  const row = page.getByRole('row', { name: /observed/ });
  expect(await row.textContent()).toContain('50.5');
});

/** The page's own, where functions of `evaluate` run. */
declare const location: { hash: string };
