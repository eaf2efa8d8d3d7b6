/** A live run's page stands still below its header and its verdict, while their numbers and sentences change. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';

let app: AppPage;
beforeAll(async () => {
  app = await AppPage.open();
});
afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

/** Notes in each frame, from the first verdict on, the height of the facts and where the charts begin. */
const WATCH = `(() => {
  window.places = { facts: [], charts: [] };
  const note = (list, value) => {
    if (value !== list.at(-1)) list.push(value);
  };
  const look = () => {
    if (document.querySelector('[data-testid=verdict] button') !== null) {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      note(window.places.facts, box('.facts').height);
      note(window.places.charts, box('.columns').top);
    }
    requestAnimationFrame(look);
  };
  look();
})()`;

test(
  'its header keeps its lines, and its verdict its room',
  { tags: 'soak' },
  async () => {
    const { home, page } = app;
    await page.setViewportSize({ width: 390, height: 900 });
    const settings = ['world.ranks=2', 'iterations=1000000', 'evaluateEvery=0'];
    const { stdout } = await home.run([
      ...['run', 'quickstart', '--detach'],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]);
    const run = stdout.trim();
    await page.evaluate(`location.hash = '#/run/${run}'`);
    await page.evaluate(WATCH);
    const room = page.getByTestId('verdict').locator('..');
    const lines = await room.evaluate((element: { clientHeight: number }) => {
      return element.clientHeight;
    });
    // What it says now is a line or two.
    expect(lines).toBeGreaterThan(200);
    await app
      .part('live-iteration')
      .filter({ hasText: /^1,\d{3}$/ })
      .waitFor();
    const { charts, facts } = (await page.evaluate('window.places')) as {
      readonly charts: readonly number[];
      readonly facts: readonly number[];
    };
    expect(facts).toHaveLength(1);
    // A longer verdict than all before may take room; a shorter one gives none back.
    expect(charts).toEqual(charts.toSorted((a, b) => a - b));
    await home.run(['runs', 'stop', run]);
    expect(app.errors).toEqual([]);
  },
);
