/**
 * Runs chosen in the list and compared: two that have really trained, and six whose records are
 * known. The page, its files and the command have the same numbers.
 */
import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import type { Comparison } from '../../src/shared/comparison/comparison.ts';
import { AppPage } from '../harness/app-page.ts';
import { succeeded, type GradwireHome } from '../harness/gradwire.ts';
import { recordTrainedRun } from '../harness/trained-run.ts';

const KNOWN = ['dense1', 'dense2', 'dense3', 'topk1', 'topk2', 'topk3'];

let app: AppPage;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open({ prepare });
  ({ page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

async function prepare(home: GradwireHome): Promise<void> {
  for (const method of ['none', 'topk']) {
    const settings = [
      ...['world.ranks=2', 'iterations=20', 'evaluateEvery=5'],
      ...[`name=real ${method}`, `exchange.method=${method}`],
    ];
    succeeded(
      await home.run([
        ...['run', 'quickstart', ...settings.flatMap((one) => ['--set', one])],
      ]),
    );
  }
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  for (const [index, id] of KNOWN.entries()) {
    const method = id.startsWith('dense') ? 'none' : 'topk';
    const wall = (method === 'none' ? 9 : 3) + 0.1 * index;
    recordTrainedRun(store, id, { method, name: id, seed: (index % 3) + 1, wall });
  }
  store.close();
}

const part = (testId: string) => app.part(testId);

async function go(place: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
}

async function command(...args: readonly string[]): Promise<string> {
  return succeeded(await app.home.run(['compare', ...args])).stdout;
}

async function exported(id: string, menu = 'comparison-export'): Promise<string> {
  await part(menu).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    part(`${menu}-${id}`).click(),
  ]);
  return readFileSync(await (download satisfies Download).path(), 'utf8');
}

/** Ids of the compared runs, as the address has them. */
const compared = (): readonly string[] =>
  /#\/compare\/([^?]*)/.exec(page.url())![1]!.split(',').map(decodeURIComponent);

test('runs that are chosen in the list are compared, and stay chosen', async () => {
  await go('runs');
  await part('runs-search').fill('real');
  const rows = part('runs-table').locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  // By keyboard alone.
  await rows.nth(1).getByTestId('choose-run').focus();
  await page.keyboard.press('Space');
  await rows.nth(0).getByTestId('choose-run').focus();
  await page.keyboard.press('Space');
  expect(await part('chosen-runs').innerText()).toContain('2 runs chosen');
  await part('compare-chosen').focus();
  await page.keyboard.press('Enter');
  await part('comparison-results').waitFor();
  expect(compared()).toHaveLength(2);
  await page.goBack();
  await expect.poll(() => part('runs-search').inputValue()).toBe('real');
  expect(await part('chosen-runs').innerText()).toContain('2 runs chosen');
  await page.goForward();
  await part('comparison-results').waitFor();
});

test('real runs have the same numbers on the page, in its files and by the command', async () => {
  const runs = compared();
  const json = await command(...runs, '--json');
  const comparison = JSON.parse(json) as Comparison;
  expect(comparison.groups.map(({ label }) => label)).toEqual(['none', 'topk 1 %']);
  expect(comparison.runs.every(({ points }) => points.length === 4)).toBe(true);
  expect(await part('comparison-verdict').innerText()).toBe(comparison.verdict.text);
  expect(await exported('json')).toBe(json);
  expect(await exported('results')).toBe(await command(...runs, '--csv', 'results'));
  expect(await exported('curves')).toBe(await command(...runs, '--csv', 'curves'));
  // What is drawn, as its table says.
  await part('comparison-table-toggle').click();
  const cells = await part('comparison-table').locator('tbody tr').allInnerTexts();
  expect(cells.map((row) => row.split('\t').at(-1))).toEqual(
    comparison.runs.flatMap(({ points }) => points.map(({ value }) => String(value))),
  );
  // And as it is saved, under the page's own policy.
  const saved = (await exported('csv', 'comparison-save')).trimEnd().split('\n');
  expect(saved.slice(1).map((row) => row.split(','))).toEqual(
    cells.map((row) => row.split('\t')),
  );
  const svg = await exported('svg', 'comparison-save');
  const curves = [
    ...svg.matchAll(/d="([^"]+)" fill="none"[^>]*stroke-width="1.75"\/>/g),
  ];
  const heights = curves.map(([, path]) =>
    [...path!.matchAll(/[ML]\S+ ([\d.]+)/g)].map(([, y]) => Number(y)),
  );
  expect(heights.slice(0, 2).map(({ length }) => length)).toEqual([4, 4]);
  const [from, to] = [0, 3];
  const fell = comparison.runs.map(({ points }, run) => {
    const rise = points[to]!.value - points[from]!.value;
    return (heights[run]![from]! - heights[run]![to]!) / rise;
  });
  expect(fell[0]).toBeGreaterThan(0);
  expect(fell[1]! / fell[0]!).toBeCloseTo(1, 1);
  expect((await exported('png', 'comparison-save')).slice(1, 4)).toBe('PNG');
  await part('comparison-table-toggle').click();
});

test('a verdict comes with the seeds, and goes with the target, cost and baseline', async () => {
  await go(`compare/${KNOWN.join(',')}?target=80%25`);
  const verdict = part('comparison-verdict');
  await expect.poll(() => verdict.innerText()).toMatch(/^topk reaches accuracy 80 %/);
  expect(await verdict.innerText()).toBe(
    (await command(...KNOWN, '--target', '80%')).split('\n')[0],
  );
  expect(await part('comparison-differences').innerText()).toMatch(
    /plan\s+none\s+topk/,
  );
  await part('comparison-by-bytes').click();
  await expect
    .poll(() => verdict.innerText())
    .toMatch(/^No verdict: .* cannot be told apart/);
  await part('comparison-by-time').click();
  await part('comparison-target').fill('99 %');
  await part('comparison-target').press('Enter');
  await expect.poll(() => verdict.innerText()).toMatch(/no run reached accuracy 99 %/);
  await part('comparison-target').fill('fast');
  await part('comparison-target').press('Enter');
  expect(await page.locator('#target-error').innerText()).toContain('is not a number');
  await part('comparison-target').fill('');
  await part('comparison-target').press('Enter');
  await expect.poll(() => part('comparison-target').inputValue()).toBe('88 %');
  await part('comparison-baseline').selectOption({ label: 'topk' });
  await expect
    .poll(() => part('comparison-ratio').allInnerTexts())
    .toEqual([expect.stringMatching(/^0\.37\d×$/), '1 (baseline)']);
  await part('comparison-quantity').selectOption('training-loss');
  await expect.poll(() => verdict.innerText()).toMatch(/reaches training loss 0\.\d+ /);
});

test('colours stay with their runs when others leave', async () => {
  await go(`compare/dense1,topk1`);
  const colour = async (group: string): Promise<string | null> =>
    part('comparison-results')
      .locator('tr', { hasText: group })
      .locator('line')
      .first()
      .getAttribute('stroke');
  await expect.poll(() => part('comparison-ratio').count()).toBe(2);
  const topk = await colour('topk');
  expect(topk).not.toBe(await colour('none'));
  await page.getByRole('button', { name: 'Another colour for topk' }).click();
  await expect.poll(() => colour('topk')).not.toBe(topk);
  const other = await colour('topk');
  await page.getByRole('button', { name: 'Remove none from the comparison' }).click();
  await expect.poll(() => part('comparison-ratio').count()).toBe(1);
  // Alone it is named as its run is.
  expect(await colour('topk1')).toBe(other);
  await page.reload();
  await part('comparison-results').waitFor();
  expect(await colour('topk1')).toBe(other);
  expect(compared()).toEqual(['topk1']);
  await part('comparison-add').selectOption('dense2');
  await expect.poll(() => part('comparison-ratio').count()).toBe(2);
});

test('a run that is not there has one clear error, and the others are compared', async () => {
  await go('compare/dense1,nowhere,topk1');
  await part('error').waitFor();
  expect(await part('error').getAttribute('data-code')).toBe('RUN_UNKNOWN');
  await part('error').getByRole('button', { name: 'Compare the others' }).click();
  await expect.poll(() => part('error').count()).toBe(0);
  expect(await part('comparison-ratio').count()).toBe(2);
});

test(
  'nothing is cut off or an obstacle, at any width, in both themes',
  { tags: 'soak' },
  async () => {
    const sideways = (): Promise<number> =>
      page
        .locator('main')
        .evaluate(
          (box: { scrollWidth: number; clientWidth: number }) =>
            box.scrollWidth - box.clientWidth,
        );
    await go('compare/');
    await part('comparison-empty').waitFor();
    expect(await app.obstacles()).toEqual([]);
    await go(`compare/${KNOWN.join(',')}`);
    await part('comparison-steps').waitFor();
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [1024, 'dark'],
      [600, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      // Charts follow a moment later.
      await expect.poll(sideways).toBe(0);
      expect([width, await app.obstacles()]).toEqual([width, []]);
    }
    expect(app.errors).toEqual([]);
  },
);

/** Of the page, where functions of `evaluate` run. */
declare const location: { hash: string };
