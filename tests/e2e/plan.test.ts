/**
 * A plan in the page and on the command line, which have the same numbers; and a run that was
 * switched, replayed under other settings by both.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WhatIf } from '../../src/shared/forecast/what-if.ts';
import { formatDuration } from '../../src/shared/words/units.ts';
import { AppPage } from '../harness/app-page.ts';
import { succeeded } from '../harness/gradwire.ts';

let app: AppPage;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open({
    prepare: async (home) => {
      const settings = [
        'world.ranks=2',
        'iterations=60',
        'evaluateEvery=0',
        'name=switched',
      ];
      succeeded(
        await home.run([
          ...['run', 'quickstart', ...settings.flatMap((one) => ['--set', one])],
          ...['--switch', '30:method=topk,ratio=0.01'],
        ]),
      );
    },
  });
  ({ page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

const part = (testId: string) => app.part(testId);

async function go(place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
}

interface CandidateLine {
  readonly type: string;
  readonly method: string;
  readonly own: boolean;
  readonly step: number;
}

test('a plan is the command’s, can be shared, walked and used', async () => {
  await go('plan?preset=digits-topk&ranks=16&compute=5');
  await part('plan-bandwidth').fill('1 Gbit/s');
  await part('plan-bandwidth').press('Enter');
  await expect.poll(() => page.url()).toContain('bandwidth=1%20Gbit%2Fs');
  await expect.poll(() => part('plan-command').innerText()).toContain('1 Gbit/s');
  await expect
    .poll(() => part('plan-verdict').innerText())
    .toContain('16 ranks, compress');
  const { stdout } = succeeded(
    await app.home.run([
      ...['plan', 'digits-topk', '--set', 'network.bandwidth=1 Gbit/s'],
      ...['--ranks', '16', '--compute', '5', '--json'],
    ]),
  );
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CandidateLine);
  const own = lines.find((line) => line.type === 'candidate' && line.own)!;
  const row = part('plan-steps').locator('tr.own');
  await expect
    .poll(() => row.locator('td').first().innerText())
    .toBe(formatDuration(own.step));

  // The curve, by keyboard, and its twin.
  await part('plan-curve-chart').focus();
  await page.keyboard.press('Home');
  expect(await part('plan-curve-chart').getAttribute('aria-valuetext')).toMatch(
    /^100 Mbit\/s: without compression/,
  );
  await part('plan-curve-table-toggle').click();
  expect(await part('plan-curve-table').locator('tbody tr').count()).toBe(25);
  expect(await app.obstacles()).toEqual([]);

  await part('plan-ranks').fill('2.5');
  await part('plan-ranks').press('Enter');
  expect(await part('plan-error').innerText()).toContain('"2.5" is not a whole number');
  await part('plan-ranks').fill('8');
  await part('plan-ranks').press('Enter');
  await part('plan-error').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 390, height: 900 });
  expect(await app.obstacles()).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
  await part('plan-use').click();
  await expect.poll(() => part('spec-yaml').inputValue()).toContain('ranks: 8');
});

test('a run is replayed, and its switch says how wrong that would have been', async () => {
  const { stdout } = succeeded(
    await app.home.run(['runs', 'what-if', 'last', 'method=none', '--json']),
  );
  const found = JSON.parse(stdout) as WhatIf;
  expect(found.switches).toHaveLength(1);
  expect(found.steps.replayed).toHaveLength(found.steps.recorded.length);
  await go(`run/${found.run}`);
  await part('what-if-open').focus();
  await page.keyboard.press('Enter');
  await part('what-if-method').selectOption('none');
  await expect.poll(() => part('what-if-summary').innerText()).toBe(found.text);
  expect(await part('what-if-switches').innerText()).toContain('none → topk 1 %');
  await part('what-if-table-toggle').click();
  expect(await part('what-if-table').locator('tbody tr').count()).toBeGreaterThan(10);
  expect(await app.obstacles()).toEqual([]);
  expect(app.errors).toEqual([]);
});
