/** A sweep chosen in a new experiment, run, stopped, resumed and compared on the page. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';

let app: AppPage;
let page: Page;
const part = (testId: string) => app.part(testId);

beforeAll(async () => {
  app = await AppPage.open();
  ({ page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

async function go(place: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
}

const state = () => part('sweep-status').getAttribute('data-state');

test('several methods are swept from the form to the comparison', async () => {
  await go('new?preset=quickstart');
  const yaml = part('spec-yaml');
  await expect.poll(() => yaml.inputValue()).toContain('fnn3');
  await yaml.fill(
    'name: swept\nworkload: { model: fnn3, dataset: digits }\nworld: { ranks: 1 }\n' +
      'iterations: 4\nevaluateEvery: 2\n',
  );
  await part('sweep-add').click();
  await part('sweep-key').fill('exchange.method');
  await part('sweep-values').fill('none, nonsense');
  await part('sweep-error').waitFor();
  expect(await part('sweep-error').innerText()).toContain(
    'point 2: exchange.method nonsense',
  );
  expect(await part('start-sweep').isDisabled()).toBe(true);
  await part('sweep-values').fill('none, topk');
  await part('sweep-seeds').fill('2');
  await expect
    .poll(() => part('sweep-count').innerText())
    .toBe('2 points × 2 seeds = 4 runs');
  await part('predict').click();
  await expect
    .poll(() => part('prediction-sum').innerText())
    .toMatch(/^4 runs: about .* of training, .* sent by a rank/);
  expect(await part('prediction-table').locator('tbody tr').count()).toBe(2);
  await part('start-sweep').click();
  await expect.poll(state).toBe('finished');
  const rows = part('sweep-results').locator('tbody tr');
  await expect
    .poll(() => rows.allInnerTexts())
    .toSatisfy(
      (texts: readonly string[]) =>
        texts.length === 2 && texts.every((text) => text.includes('2 of 2')),
    );
  await part('sweep-compare').click();
  await part('comparison-results').waitFor();
  const compared = part('comparison-results').locator('tbody tr');
  await expect.poll(() => compared.count()).toBe(2);
});

test('it is stopped, its queue is changed, and it goes on', async () => {
  await go('new?preset=quickstart');
  await expect.poll(() => part('spec-yaml').inputValue()).toContain('fnn3');
  await part('sweep-add').click();
  await part('sweep-key').fill('world.ranks');
  await part('sweep-values').fill('1, 2');
  await part('sweep-seeds').fill('1');
  await part('start-sweep').click();
  const run = part('sweep-queue').locator('tr[data-state=running]');
  await run.waitFor();
  await part('sweep-drop').click();
  await part('sweep-stop').click();
  await expect.poll(state).toBe('stopped');
  await part('sweep-retry').first().waitFor();
  await part('sweep-resume').click();
  await run.waitFor();
  await part('sweep-stop').click();
  await expect.poll(state).toBe('stopped');
  await go('sweeps');
  await expect
    .poll(() => part('sweeps-table').locator('tbody tr').allInnerTexts())
    .toHaveLength(2);
});

declare const location: { hash: string };
