/** The page of a run whose program was only observed: what is not seen of it is not shown. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { observedTrace } from '../../src/agent/worker/observed-trace.ts';
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

const bucket = {
  place: 0,
  name: 'fc.weight',
  tensors: 1,
  length: 1000,
  bytes: 4000,
  dtype: 'float32',
  encoded: false,
};

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
    const { loss, ...seen } = iterationRecord(Math.floor(i / 2), i % 2);
    // Nobody counts the bytes of a program that communicates by itself.
    const record = { ...seen, bytes: { dense: 4000, payload: 4000 } };
    return record.iteration % 5 === 0 ? { ...record, loss } : record;
  });
  const own = {
    collective: 'ring',
    latency: 0.1,
    bandwidth: 0.9,
    reduction: 0,
    compress: 0,
    decompress: 0,
    payloadBytes: 4000,
    wireBytes: 4000,
  };
  const offer = (label: string, bandwidth: number) => ({
    method: label,
    label,
    chosen: true,
    ...own,
    bandwidth,
  });
  const model = {
    type: 'tensors',
    at: 1,
    tensors: [{ name: 'fc.weight', shape: [10, 100] }],
  } as const;
  const forecast = {
    type: 'forecast',
    at: 1,
    ranks: 2,
    isMeasured: false,
    own,
    copies: 0.01,
    offered: [offer('none', 0.9), offer('topk 1 %', 0.02)],
  } as const;
  const traces = [0, 1].map((rank) =>
    observedTrace({
      rank,
      ranks: 2,
      iteration: 4,
      clock: 'boot',
      at: 1000,
      trace: {
        wall: 12e6,
        spans: [
          ['forward', 0, 3e6],
          ['backward', 3e6, rank === 0 ? 2e6 : 6e6],
          ['apply', 11e6, 1e6],
        ],
        dropped: 0,
        met: [],
        sums: [[0, rank === 0 ? 5e6 : 9e6, 11e6, rank === 0 ? 5e6 : 9e6, 5e6]],
      },
      layout: new Map([[0, bucket]]),
    }),
  );
  store.records.append(
    'seen',
    entries([model, started, ...records, ...traces, forecast, done]),
  );
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

test('shows what each method would make of its step, and replays it', async () => {
  const { page } = app;
  await page.evaluate(() => (location.hash = '#/run/seen'));
  const offers = app.part('offers');
  await offers.waitFor();
  const rows = await offers.locator('tbody tr').allTextContents();
  expect(rows.map((row) => row.replace(/\s+/g, ' ').trim())).toEqual([
    expect.stringMatching(/^topk 1 %2\.55 ms/) as string,
    expect.stringMatching(/^uncompressed3\.51 ms/) as string,
  ]);
  expect(await app.part('verdict').textContent()).toMatch(/Joined with topk 1\s%/);
  expect(await app.part('what-if-open').count()).toBe(1);
  const { width, height } = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height });
  const card = (await offers.boundingBox())!;
  expect(card.x + card.width).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width, height });
});

test('says that no accuracy was logged', async () => {
  const { page } = app;
  await page.evaluate(() => (location.hash = '#/run/seen'));
  await page.getByText('No accuracy in these iterations.').waitFor();
});

test('shows what was traced of it: its passes, its averages and who was awaited', async () => {
  const { page } = app;
  await page.evaluate(() => (location.hash = '#/run/seen'));
  const summary = app.part('trace-summary');
  await expect
    .poll(() => summary.textContent())
    .toMatch(/Iteration 4, 12\.0\sms: 8 spans, 2 arrows; all by one clock/);
  const path = app.part('trace-path');
  await path.waitFor();
  expect(await path.textContent()).toMatch(/50\s% backward on rank 1/);
});

/** The page's own, where functions of `evaluate` run. */
declare const location: { hash: string };
