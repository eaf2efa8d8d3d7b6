/** The list of a thousand runs: found, sorted, grouped, tagged and noted on, by mouse and keys. */
import Database from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { AppPage } from '../harness/app-page.ts';
import { effort } from '../harness/effort.ts';
import { succeeded, type GradwireHome } from '../harness/gradwire.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

const RUNS = 1000;

let app: AppPage;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open({ prepare });
  ({ page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

/**
 * Runs `r0`, the oldest, to `r999`, each with a loss of its own: rows of three runs that were really
 * stored. Every fourth is sparse, and every eighth the most.
 */
async function prepare(home: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  let store = RunStore.open(database);
  for (const [id, ratio] of [['none'], ['coarse', 0.1], ['fine', 0.01]] as const) {
    const exchange = ratio === undefined ? {} : { method: 'topk', ratio };
    const spec = sampleSpec({ name: 'sweep', exchange });
    store.create({ id, spec, switches: [], createdAt: 1 });
    const records = [iterationRecord(0, 0), iterationRecord(0, 1)];
    store.records.append(id, entries([started, ...records, done]));
  }
  store.close();
  copyRows(database);
  store = RunStore.open(database);
  store.annotations.tag(['r8', 'r16', 'r24'], 'paper', true);
  store.close();
}

function copyRows(file: string): void {
  const database = new Database(file);
  const own = ['number', 'id', 'name', 'created_at', 'ended_at', 'loss'];
  const columns = (database.pragma('table_info(runs)') as readonly { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !own.includes(name))
    .join(', ');
  const copy = database.prepare(`
    INSERT INTO runs (id, name, created_at, ended_at, loss, ${columns})
    SELECT @id, @name, @at, @at + 90000, @loss, ${columns} FROM runs WHERE id = @from`);
  database.transaction(() => {
    for (let index = 0; index < RUNS; index++) {
      const from = index % 8 === 0 ? 'fine' : index % 4 === 0 ? 'coarse' : 'none';
      const at = 1_700_000_000_000 + index;
      const loss = RUNS - index;
      copy.run({ id: `r${index}`, name: `sweep ${index}`, at, loss, from });
    }
    database.exec(`DELETE FROM runs WHERE id IN ('none', 'coarse', 'fine')`);
  })();
  database.close();
}

/** Stores a copy of a run, as the newest. */
function copyRun(home: GradwireHome, from: string, id: string): void {
  const { database: file } = resolveHome({ GRADWIRE_HOME: home.directory });
  const database = new Database(file);
  const columns = (database.pragma('table_info(runs)') as readonly { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !['number', 'id', 'created_at', 'ended_at'].includes(name))
    .join(', ');
  database
    .prepare(
      `INSERT INTO runs (id, created_at, ended_at, ${columns})
      SELECT ?, created_at + 1000, ended_at + 1000, ${columns} FROM runs WHERE id = ?`,
    )
    .run(id, from);
  database.close();
}

const part = (testId: string) => app.part(testId);
const rows = () => part('runs-table').locator('tbody tr[data-run]');
const firstRun = () => rows().first().getAttribute('data-run');
const found = () => part('runs-found').innerText();

/** Rows whose runs have not been read. */
const waiting = () => part('runs-table').getByText('…', { exact: true }).count();

async function scrollTo(top: number): Promise<void> {
  await page.evaluate(
    (to) => document.querySelector('main')!.scrollTo({ top: to }),
    top,
  );
}

async function go(place: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
}

async function command(...args: readonly string[]): Promise<string> {
  return succeeded(await app.home.run([...args])).stdout;
}

test('a filter is completed by keys, says what is wrong at its place, and finds runs', async () => {
  await go('runs');
  await expect.poll(found).toMatch(/^1,000 runs, [\d.]+ MB$/);
  const field = part('runs-search');
  await field.focus();
  await page.keyboard.type('method:topk ta');
  await page.getByRole('option', { name: /^tag/ }).waitFor();
  expect(await app.obstacles()).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await field.inputValue()).toBe('method:topk tag:');
  await page.keyboard.type('pa');
  await page.getByRole('option', { name: 'paper' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  expect(await field.inputValue()).toBe('method:topk tag:paper ');
  await expect.poll(found).toMatch(/^3 runs/);
  await page.keyboard.type('raito<0.1');
  const problem = part('filter-problem');
  await problem.waitFor();
  expect(await problem.locator('mark').innerText()).toBe('raito');
  expect(await problem.innerText()).toContain('Did you mean "ratio"?');
  expect(await app.obstacles()).toEqual([]);
  await field.fill('ratio<0.05 r8');
  await expect.poll(found).toMatch(/^16 runs/);
  const listed = await command('runs', 'list', '--filter', 'ratio<0.05 r8', '--json');
  expect(listed.trim().split('\n')).toHaveLength(16);
});

test(
  'a list is sorted and grouped, and its columns are kept',
  { tags: 'soak' },
  async () => {
    await go('runs?filter=ratio:*');
    await expect.poll(found).toMatch(/^250 runs/);
    await part('sort-loss').click();
    await expect.poll(firstRun).toBe('r996');
    expect(await page.locator('th[aria-sort]').innerText()).toContain('Loss');
    await part('sort-loss').click();
    await expect.poll(firstRun).toBe('r0');
    await part('runs-group').selectOption('exchange.ratio');
    await expect
      .poll(() => part('run-group').allInnerTexts())
      .toEqual(['exchange.ratio 0.01 (125 runs)']);
    // The second group begins below its 125 rows.
    await scrollTo(125 * 50);
    await expect
      .poll(() => part('run-group').allInnerTexts())
      .toEqual(['exchange.ratio 0.1 (125 runs)']);
    await part('runs-columns').click();
    await page.locator('input[data-column="exchange.ratio"]').check();
    await page.keyboard.press('Escape');
    await page.reload();
    const cells = page.locator('td[data-column="exchange.ratio"]');
    await expect.poll(() => cells.last().innerText()).toBe('0.01');
    expect(page.url()).toContain('group=exchange.ratio');
    expect(await app.obstacles()).toEqual([]);
  },
);

test('nothing vanishes where there is less room', async () => {
  for (const width of [1024, 720]) {
    await page.setViewportSize({ width, height: 800 });
    const shown = await rows().first().innerText();
    for (const text of ['Completed', 'topk', '97.0 %', 'min'])
      expect(shown).toContain(text);
    expect(await rows().first().locator('td[data-column="loss"]').isVisible()).toBe(
      true,
    );
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('chosen runs are tagged and deleted together, and both are undone', async () => {
  await go('runs?filter=tag:paper');
  await expect.poll(found).toMatch(/^3 runs/);
  await part('choose-matching').click();
  await part('tag-chosen').click();
  await part('new-tag').fill('best');
  await page.keyboard.press('Enter');
  await page.getByText('Tagged best: 3 runs').waitFor();
  expect(await app.obstacles()).toEqual([]);
  await part('tag-dialog').getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.getByTestId('run-tag').count()).toBe(6);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => page.getByTestId('run-tag').count()).toBe(3);
  await part('delete-chosen').click();
  await page.getByText('Deleted 3 runs').waitFor();
  await page.getByText('No run matches this filter.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(found).toMatch(/^3 runs/);
});

test('a run is renamed and noted on, here and by commands, and Back leads to the same rows', async () => {
  await go('runs?filter=sweep');
  await expect.poll(found).toMatch(/^1,000 runs/);
  await scrollTo(9000);
  const link = page.getByRole('link', { name: 'sweep 839', exact: true });
  await link.scrollIntoViewIfNeeded();
  const place = async () => (await link.boundingBox())?.y;
  await expect.poll(place).toBeGreaterThan(0);
  const before = await place();
  await link.click();
  await part('rename-run').click();
  await part('run-title').fill('The odd one');
  await part('rename-confirm').click();
  await page.getByRole('heading', { name: 'The odd one' }).waitFor();
  await part('add-note').click();
  await part('note-text').fill('it jumps here');
  await part('note-iteration').fill('0');
  await part('save-note').click();
  await expect
    .poll(() => part('notes').innerText())
    .toMatch(/iteration 0\s+it jumps here/);
  await command('runs', 'tag', 'by-command', 'r839');
  await page.getByTestId('run-tag').waitFor();
  expect(await app.obstacles()).toEqual([]);
  const shown = await command('runs', 'show', 'r839');
  expect(shown).toContain('run r839: The odd one\n');
  expect(shown).toContain('name in its spec sweep\ntags by-command\n');
  expect(shown).toMatch(/note 1, iteration 0: it jumps here/);
  await page.goBack();
  const renamed = page.getByRole('link', { name: 'The odd one' });
  await renamed.waitFor();
  expect(await part('runs-search').inputValue()).toBe('sweep');
  // A row that is higher now, by its tag, may be above those that keep their places.
  await expect
    .poll(async () => Math.abs((await renamed.boundingBox())!.y - before!))
    .toBeLessThan(30);
  expect(app.errors).toEqual([]);
});

test('a thousand runs are one list, of which only the rows in sight are drawn', async () => {
  await go('runs?filter=sweep');
  await expect.poll(found).toMatch(/^1,000 runs/);
  await scrollTo(0);
  await expect.poll(firstRun).toBe('r999');
  const table = part('runs-table');
  expect(await table.getAttribute('aria-rowcount')).toBe('1001');
  const seen = new Set<string>();
  const turns = effort({ quick: 20, soak: 200 });
  for (let turn = 0; !seen.has('r0') && turn < turns; turn++) {
    await expect.poll(waiting).toBe(0);
    const drawn = await rows().evaluateAll((all) =>
      all.map((row) => row.getAttribute('data-run')!),
    );
    expect(drawn.length).toBeLessThan(60);
    // Without a gap, each once, in order.
    const numbers = drawn.map((id) => Number(id.slice(1)));
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! - index));
    for (const id of drawn) seen.add(id);
    await page.evaluate(() => document.querySelector('main')!.scrollBy({ top: 700 }));
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => resolve(0))),
    );
  }
  expect(seen.size).toBeGreaterThanOrEqual(effort({ quick: 200, soak: RUNS }));
  await scrollTo(1000 * RUNS);
  await expect.poll(() => rows().last().getAttribute('data-run')).toBe('r0');
  await expect.poll(waiting).toBe(0);
  const last = rows().last();
  expect(await last.getAttribute('aria-rowindex')).toBe('1001');
  // The head and the columns stay where they are.
  const head = part('sort-loss');
  expect((await head.boundingBox())!.y).toBeGreaterThanOrEqual(0);
  const cut = () =>
    page
      .locator('tbody td')
      .evaluateAll(
        (all) =>
          (all as unknown as { scrollWidth: number; clientWidth: number }[]).filter(
            ({ clientWidth, scrollWidth }) => scrollWidth > clientWidth,
          ).length,
      );
  await expect.poll(cut).toBe(0);
  const column = last.locator('td[data-column="loss"]');
  const right = async (of: typeof head) => {
    const box = (await of.boundingBox())!;
    return box.x + box.width;
  };
  expect(Math.abs((await right(head)) - (await right(column)))).toBeLessThan(20);
  expect(await app.obstacles()).toEqual([]);
});

test('the row with the focus stays where the list is scrolled, all runs are chosen at once, and a row has a menu', async () => {
  await go('runs?filter=sweep');
  await scrollTo(0);
  const box = page.getByRole('checkbox', { name: 'Choose sweep 998', exact: true });
  await box.focus();
  await scrollTo(30_000);
  await expect.poll(() => rows().count()).toBeGreaterThan(20);
  await page.keyboard.press('Space');
  await expect.poll(() => part('chosen-runs').innerText()).toMatch(/^1 run chosen/);
  const all = part('choose-all');
  expect(
    await all.evaluate((input) => (input as { indeterminate?: boolean }).indeterminate),
  ).toBe(true);
  await all.check();
  await expect.poll(() => part('chosen-runs').innerText()).toMatch(/^1000 runs chosen/);
  expect(await all.isChecked()).toBe(true);
  await scrollTo(0);
  await box.uncheck();
  await expect.poll(() => all.isChecked()).toBe(false);
  await all.check();
  await all.uncheck();
  await expect.poll(() => part('chosen-runs').count()).toBe(0);
  // The menu of a row is made once it is opened, and goes on by keys.
  const menu = rows().nth(1).getByTestId('run-actions');
  await menu.focus();
  await page.keyboard.press('ArrowDown');
  const inFocus = () => page.locator(':focus').innerText();
  await expect.poll(inFocus).toBe('Open');
  expect(await app.obstacles()).toEqual([]);
  await page.keyboard.press('Escape');
  await expect
    .poll(() => menu.evaluate((button) => button.matches(':focus')))
    .toBe(true);
  expect(app.errors).toEqual([]);
});

test('a menu and its dialogs are about the run for which they were opened, whatever the list becomes', async () => {
  await go('runs?filter=sweep');
  await scrollTo(0);
  await expect.poll(firstRun).toBe('r999');
  await rows().nth(3).getByTestId('run-actions').click();
  await part('rename-run').click();
  await part('run-title').fill('Meant by me');
  // As another process stores it: every row moves down by one.
  copyRun(app.home, 'r999', 'newest');
  await expect.poll(firstRun).toBe('newest');
  await part('rename-confirm').click();
  await page.getByRole('link', { name: 'Meant by me' }).waitFor();
  expect(await command('runs', 'show', 'r996')).toContain('run r996: Meant by me\n');
  expect(app.errors).toEqual([]);
});

test('older runs take the places of the newest where those are deleted', async () => {
  await go('');
  const listed = () => page.locator('main a[href^="#/run/"]').allInnerTexts();
  await expect.poll(listed).not.toEqual([]);
  const newest = Array.from({ length: 20 }, (_, index) => `r${RUNS - 1 - index}`);
  await command('runs', 'delete', 'newest', ...newest);
  await expect.poll(async () => (await listed()).join()).toContain('sweep 979');
  await command('runs', 'delete', '--undo', 'newest', ...newest);
  await expect.poll(async () => (await listed()).join()).not.toContain('sweep 979');
});

declare const location: { hash: string };
declare const document: {
  querySelector(selector: string): {
    scrollTo(place: { readonly top: number }): void;
    scrollBy(way: { readonly top: number }): void;
  } | null;
};
declare function requestAnimationFrame(then: () => void): void;
