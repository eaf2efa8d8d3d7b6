/** The timeline of two ranks, from the button to the file: what the page says is read from it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BucketTable } from '../../src/shared/buckets/bucket-table.ts';
import { formatPercent } from '../../src/shared/words/units.ts';
import { AppPage } from '../harness/app-page.ts';
import { crossings, readChromeTrace } from '../harness/chrome-trace-reader.ts';
import { LASTING } from '../harness/lasting-runs.ts';

let app: AppPage;
beforeAll(async () => {
  app = await AppPage.open();
});
afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

const words = async (part: string): Promise<string> =>
  (await app.part(part).innerText()).trim();

const shown = async (): Promise<readonly [number, number]> => {
  const timeline = app.part('timeline');
  const [from, to] = await Promise.all(
    ['data-from', 'data-to'].map((name) => timeline.getAttribute(name)),
  );
  return [Number(from), Number(to)];
};

/** Drawings in thirty frames, in each of which the wheel turns, as often there as back. */
const DRAWN = `(async () => {
  const timeline = document.querySelector('[data-testid=timeline]');
  const context = timeline.querySelector('canvas').getContext('2d');
  let drawn = 0;
  context.clearRect = (...box) => {
    drawn++;
    CanvasRenderingContext2D.prototype.clearRect.apply(context, box);
  };
  for (let frame = 0; frame < 30; frame++) {
    timeline.dispatchEvent(new WheelEvent('wheel', {
      deltaY: frame % 2 === 0 ? -40 : 40, bubbles: true, cancelable: true,
    }));
    await new Promise(requestAnimationFrame);
  }
  delete context.clearRect;
  return drawn;
})()`;

it('traces the next iterations, and shows, sums and saves what the threads did', async () => {
  const { home, page } = app;
  const settings = [
    'world.ranks=2',
    'exchange.method=topk',
    'exchange.bucketBytes=2000',
    'engine=thread',
    ...['onFailure=restart', 'checkpointEvery=0', ...LASTING],
  ];
  const { stdout } = await home.run([
    ...['run', 'quickstart', '--detach'],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  const run = stdout.trim();
  await page.evaluate(`location.hash = '#/run/${run}'`);
  await app.part('trace').click();
  await app.part('timeline').waitFor();
  const sentence = await words('trace-summary');
  const [, first, last] = /^Iterations (\d+) to (\d+), /.exec(sentence)!;
  expect(Number(last) - Number(first)).toBe(19);
  expect(sentence).toMatch(/ spans, \d+ messages; clocks are equal within ± /);
  const timeline = app.part('timeline');
  const whole = await shown();
  await timeline.focus();
  expect(await page.evaluate(DRAWN)).toBeGreaterThan(0);
  await page.keyboard.press('f');
  for (const key of ['w', 'w', 'd']) await page.keyboard.press(key);
  const closer = await shown();
  expect(closer[1] - closer[0]).toBeCloseTo(0.75 ** 2 * (whole[1] - whole[0]), 0);
  expect(closer[0]).toBeGreaterThan(whole[0]);
  const box = (await timeline.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.mouse.wheel(0, -300);
  await expect
    .poll(async () => (await shown())[1] - (await shown())[0])
    .toBeLessThan(closer[1] - closer[0]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect(await shown()).toEqual(whole);
  await page.keyboard.press('ArrowRight');
  expect(await words('timeline-words')).toMatch(/^rank 0, trainer, iteration \d+: /);

  await page.mouse.move(box.x + 0.3 * box.width, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.7 * box.width, box.y + 60, { steps: 3 });
  await page.mouse.up();
  const selected = await words('timeline-words');
  expect(selected).toMatch(/^Selected .*rank 0, trainer .*rank 1, engine /s);
  await app.part('trace-table-toggle').click();
  const rows = await app.part('trace-table').locator('tbody tr').allInnerTexts();
  expect(rows).toHaveLength(4);
  for (const row of rows) {
    const cells = row.split('\t').slice(1).map(Number);
    const sum = cells.slice(0, -1).reduce((total, cell) => total + cell, 0);
    expect(sum).toBeCloseTo(cells.at(-1)!, 1);
  }
  await app.part('trace-table-toggle').click();

  const download = page.waitForEvent('download');
  await app.part('trace-export').click();
  const file = await (await download).path();
  const { flows, processes, slices } = readChromeTrace(readFileSync(file, 'utf8'));
  expect([...processes.values()]).toEqual(['rank 0', 'rank 1']);
  expect(crossings(slices, 0.002)).toEqual([]);
  expect(slices.filter(({ category }) => category === 'iteration')).toHaveLength(40);
  expect(sentence).toContain(` ${flows.length} messages`);

  // What the buckets cost, most costly first; any other order; and one measure over time.
  const buckets = app.part('buckets-table').locator('tbody tr');
  await expect.poll(() => buckets.count()).toBe(3);
  expect(await app.obstacles()).toEqual([]);
  expect(await words('buckets-summary')).toMatch(/ costs most of 3 buckets: \d+\s% /);
  await app.part('buckets-sort-length').click();
  const sizes = await buckets.locator('td:last-child').allInnerTexts();
  expect(sizes).toEqual(['157,000', '40,200', '2,010']);
  const saved = page.waitForEvent('download');
  await app.part('buckets-save').click();
  await app.part('buckets-save-csv').click();
  const [titles = '', ...lines] = readFileSync(await (await saved).path(), 'utf8')
    .trimEnd()
    .split('\n');
  expect(titles).toMatch(/^place,bucket,tensors,elements,/);
  expect(lines.map((line) => line.split(',')[3])).toEqual(['157000', '40200', '2010']);
  await app.part('bucket-map-chart').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'Home']) await page.keyboard.press(key);
  const chosen = app.part('buckets-table').locator('[aria-pressed=true]');
  expect(await chosen.innerText()).toBe('layer2.weight … layer2.bias');
  const spoken = await app.part('bucket-map-chart').getAttribute('aria-valuetext');
  expect(spoken).toMatch(/^iteration .*: layer2\.weight … layer2\.bias [\d.]+ [µm]s$/);
  await app.part('bucket-measure').selectOption('density');
  await app.part('bucket-map-table-toggle').click();
  const twin = app.part('bucket-map-table').locator('tbody tr:last-child td');
  await expect.poll(() => twin.allInnerTexts()).toEqual(['0.00995025', '0.01', '0.01']);

  // What the machine did meanwhile, and which part of it the ranks had.
  expect(await words('machines-summary')).toMatch(
    /The run keeps [\d.]+ of \d+ processors busy, \d+\s% of [\d.]+\s.B of memory is in use\.$/,
  );
  const parts = await app.part('machines-table').locator('tbody th').allInnerTexts();
  expect(parts.map((part) => part.trim())).toEqual([
    'this computer',
    'rank 0',
    'rank 1',
  ]);
  await app.part('machines-processors-chart').focus();
  await page.keyboard.press('Home');
  expect(
    await app.part('machines-processors-chart').getAttribute('aria-valuetext'),
  ).toMatch(/^iteration \d+.*: this run [\d.]+ %, other programs [\d.]+ %/);

  // A checkpoint of the live run, which otherwise writes none.
  await app.part('checkpoint').click();
  await expect.poll(() => words('events')).toMatch(/^Checkpoint$/m);
  await expect.poll(() => app.part('checkpoint').isEnabled()).toBe(true);

  // It is kept with the run, whoever opens it later.
  await home.run(['runs', 'stop', run]);
  await page.reload();
  await app.part('timeline').waitFor();
  expect(await app.part('checkpoint').count()).toBe(0);
  expect(await words('trace-summary')).toBe(sentence);
  expect(await app.part('trace').count()).toBe(0);
  const told = await home.run(['runs', 'buckets', run, '--json']);
  const { buckets: known } = JSON.parse(told.stdout) as BucketTable;
  for (const { name, share } of known) {
    const row = buckets.filter({ hasText: name });
    await expect.poll(() => row.innerText()).toContain(formatPercent(share));
  }
  expect(known).toHaveLength(3);
  expect(app.errors).toEqual([]);
});
