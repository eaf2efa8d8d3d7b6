/** The stragglers of a run that has ended, opened as a whole: all of the page is about the same iterations. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { sumPhases, zeroPhases } from '../../src/shared/records/phases.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { AppPage } from '../harness/app-page.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

const NODES = ['lab-1', 'lab-2'] as const;
const RANKS = 6;
/** More than the page holds one by one, and more than are read for a sentence. */
const ITERATIONS = 3000;
/** A rank is late in this part. Later, each is late in turn, and all say that they wait for rank 3. */
const [CULPRIT, FROM, TO] = [4, 512, 896];

let app: AppPage;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open({
    prepare: async ({ directory }) => {
      const { database } = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
      const store = RunStore.open(database);
      const spec = sampleSpec({
        name: 'in turn',
        world: { ranks: RANKS, nodes: NODES },
        iterations: ITERATIONS,
      });
      store.create({ id: 'turns', spec, switches: [], createdAt: started.at });
      for (const [index, node] of NODES.entries())
        store.records.append('turns', entries(recordsOf(index)), { node });
      store.close();
    },
  });
  ({ page } = app);
  await page.goto(`${new URL(page.url()).origin}/#/run/turns`);
  await app.part('stragglers-chart').waitFor();
});
afterAll(() => app?.[Symbol.asyncDispose]());

function recordsOf(node: number): readonly RunRecord[] {
  const ranks = [0, 1, 2].map((rank) => rank + 3 * node);
  const processes = ranks.map((rank) => ({ rank, pid: rank + 1, node: NODES[node]! }));
  const records: RunRecord[] = [{ ...started, ranks: RANKS, processes }];
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const late =
      iteration >= FROM && iteration < TO ? CULPRIT : (iteration * 7 + 3) % RANKS;
    for (const rank of ranks) {
      const isLate = rank === late;
      // Steps of the last part are shorter.
      const compute = iteration < ITERATIONS / 2 ? 60 : 30;
      const times = isLate
        ? { compute: compute + 20, receive: 2 }
        : { compute, receive: 2, wait: 20 };
      const phases = { ...zeroPhases(), ...times };
      records.push({
        ...iterationRecord(iteration, rank),
        phases,
        wall: sumPhases(phases),
        waitedFor: isLate || rank === 3 ? {} : { '3': 20 },
      });
    }
  }
  const at = started.at + 1e6;
  records.push(
    node === 0
      ? { ...done, at, iterations: ITERATIONS }
      : { type: 'finished', at, node: NODES[node]! },
  );
  return records;
}

/** Milliseconds at the beginning of a text such as `67.0 ms, waits 25 %`. */
const timesIn = (texts: readonly string[]): readonly number[] =>
  texts.map((text) => Number(/([\d.]+)\sms/.exec(text)?.[1]));

test('the panel is about what is shown, and accuses nobody whom the verdict does not', async () => {
  await app.part('straggler').getByText('No straggler').waitFor();
  expect(await app.part('straggler').textContent()).toContain(
    'No straggler in iterations 0–2,999',
  );
  const verdict = app.part('verdict');
  await verdict.getByText('the longest wait is for rank 3 on lab-2').first().waitFor();
  expect(await verdict.textContent()).not.toMatch(/kept pace|because the others wait/);
  expect(await page.locator('#chart-ranks .tag').count()).toBe(0);
  const group = app.part('rank-group').first();
  const [mean] = timesIn([(await group.locator('h3').textContent())!]);
  const strips = timesIn(await group.locator('.foot').allTextContents());
  expect(strips).toHaveLength(3);
  for (const strip of strips) expect(Math.abs(strip / mean! - 1)).toBeLessThan(0.01);
});

test('the straggler of an hour ago is found without guessing the part', async () => {
  const said = app.part('stragglers-summary');
  await said.getByText('rank 4 on lab-2').waitFor();
  expect(await said.textContent()).toContain(
    'iterations 512–895: rank 4 on lab-2, for which the others wait 24 % of the step.',
  );
  await app.part('stragglers-chart').focus();
  await page.keyboard.press('Home');
  const slider = app.part('stragglers-chart');
  expect(await slider.getAttribute('aria-valuetext')).toBe(
    'iterations 0–511: no straggler',
  );
  for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowRight');
  expect(await slider.getAttribute('aria-valuetext')).toContain('rank 4 on lab-2');
  await page.keyboard.press('Escape');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await app.obstacles()]).toEqual([colorScheme, []]);
  }
  await app.part('stragglers-table-toggle').click();
  const rows = await app.part('stragglers-table').locator('tbody tr').allInnerTexts();
  expect(rows.map((row) => row.trim().replaceAll(/\s+/g, ' '))).toEqual([
    '0–511 none',
    '512–895 rank 4 on lab-2 24 %',
    '896–2999 none',
  ]);
  await app.part('stragglers-table-toggle').click();
  expect(app.errors).toEqual([]);
});
